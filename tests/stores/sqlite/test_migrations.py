"""The schema's history: one head, safe for two processes at once, rows kept, and no Alembic where none is needed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from recollect.errors import Unavailable
from recollect.model import Listing
from recollect.stores import migrations
from recollect.stores.migrations import run, sqlite_ddl
from recollect.stores.sqlite import SqliteStore
from tests.contract.samples import ANA, digest, memory

REVISIONS = [script.revision for script in run.scripts().walk_revisions()]

OPEN = """
import asyncio, sys
from recollect.stores.sqlite import SqliteStore
async def main():
    store = await SqliteStore.open(sys.argv[1])
    await store.close()
asyncio.run(main())
print("alembic" in sys.modules)
"""


def start(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", OPEN, str(path)], stdout=subprocess.PIPE, text=True)


def test_the_head_that_code_expects_is_the_last_revision() -> None:
    assert isinstance(run.scripts(), ScriptDirectory)
    assert run.scripts().get_current_head() == migrations.head()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_upgrading_keeps_every_row(tmp_path: Path, revision: str) -> None:
    path = tmp_path / "memory.db"
    migrations.upgrade(path, revision)
    assert migrations.current(path) == revision
    with closing(sqlite3.connect(path)) as raw:  # as that revision's own code would have written it
        raw.execute(
            "INSERT INTO tombstones(tenant_id, user_id, space, digest, created_at, expires_at)"
            " VALUES ('acme', 'ana', 'default', 'd', 1, 9000000000000000)"
        )
        raw.commit()
    migrations.upgrade(f"sqlite:///{path}")
    assert migrations.current(path) == migrations.head()
    assert migrations.check(path) == []
    store = await SqliteStore.open(path, migrate=False)
    assert await store.read(ANA, lambda tx: tx.space.buried("d", memory().created_at)) is not None
    await store.close()


async def test_an_open_database_passes_the_check_and_a_changed_one_is_described(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert migrations.check(path) == ["the database has no Recollect schema"]
    assert not path.exists()
    store = await SqliteStore.open(path)
    await store.close()
    assert migrations.check(path) == []
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("ALTER TABLE themes DROP COLUMN description")
        raw.execute("DROP TABLE tombstones")
        raw.execute("UPDATE alembic_version SET version_num = '0000'")
        raw.commit()
    assert migrations.check(path) == [
        f"the schema is at revision 0000; this version expects {migrations.head()}",
        "column themes.description is missing",
        "table tombstones is missing",
    ]


def test_the_planner_is_told_about_every_index(tmp_path: Path) -> None:
    migrations.upgrade(tmp_path / "memory.db")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
        indexes = set(raw.execute("SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'"))
    unimportant = {"alembic_version", "generations", "api_keys", "embedding_provider", "operations", "scrubs"}
    within_table = {
        ("spaces", "spaces"),
        ("themes", "themes"),
        ("tombstones", "tombstones"),
        ("sessions", "sessions"),
        ("flags", "flags"),
        ("slots", "slots"),
        ("uses", "uses"),
        ("audit_events", "audit_events"),
    }
    assert {pair for pair in indexes if pair[0] not in unimportant} | within_table == set(sqlite_ddl.SHAPES)


async def test_four_processes_start_on_the_same_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.db"
    processes = [start(path) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    for process in processes:
        process.communicate()
    assert migrations.check(path) == []


async def test_opening_a_current_file_does_without_alembic(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    migrations.upgrade(path)
    assert start(path).communicate(timeout=60)[0].strip() == "False"


async def test_a_file_that_needs_an_upgrade_is_left_alone_when_asked_to(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="db upgrade"):
        await SqliteStore.open(tmp_path / "memory.db", migrate=False)
    assert migrations.current(tmp_path / "memory.db") is None


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await SqliteStore.open(path)
    await store.write(ANA, lambda tx: tx.memories.insert(memory(), digest("x")))
    await store.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    with pytest.raises(Unavailable, match="newer version"):
        await SqliteStore.open(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = ?", (migrations.head(),))
        raw.commit()
    store = await SqliteStore.open(path)
    assert (await store.read(ANA, lambda tx: tx.memories.list(Listing()))).total == 1
    await store.close()
