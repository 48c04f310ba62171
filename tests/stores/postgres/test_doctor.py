"""The check-up names what is wrong, and a server of one's own passes it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database

ON_A_LAPTOP = """
import asyncio, sys
from pathlib import Path
from recollect.model import Scope
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.embedded import provision

async def main():
    folder = Path(sys.argv[1])
    assert await provision(folder) == await provision(folder)
    store = await PostgresStore.open(await provision(folder))
    assert [finding for finding in await store.checkup() if not finding.ok] == []
    assert "used" in {finding.name: finding.detail for finding in await store.checkup()}["full-text index"]
    await store.write(Scope("acme", "ana"), lambda tx: tx.space.settings())
    await store.close()

asyncio.run(main())
"""


async def test_a_sound_server_passes(store: PostgresStore) -> None:
    findings = await store.checkup()
    assert [finding for finding in findings if not finding.ok] == []
    assert {"server", "pgvector", "migrations", "role", "rights", "connections"} <= {f.name for f in findings}


async def test_what_is_wrong_is_named(store: PostgresStore, database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE memories NO FORCE ROW LEVEL SECURITY")
        connection.execute("ALTER TABLE entries DISABLE ROW LEVEL SECURITY")
        connection.execute("UPDATE alembic_version SET version_num = 'older'")
        connection.execute("REVOKE DELETE ON themes FROM app")
    wrong = {finding.name: finding.detail for finding in await store.checkup() if not finding.ok}
    assert wrong.keys() == {
        "row-level security on memories",
        "row-level security on entries",
        "migrations",
        "rights",
    }
    assert "themes: DELETE" in wrong["rights"]


def test_a_server_of_ones_own_needs_no_setting_up() -> None:
    # Not in pytest's folder: sockets need a short path, and running as root opens the folders above it.
    folder = Path(tempfile.mkdtemp(prefix="recollect-laptop-"))
    try:
        outcome = subprocess.run(
            [sys.executable, "-c", ON_A_LAPTOP, str(folder / "postgres")], capture_output=True, text=True
        )
        assert outcome.returncode == 0, outcome.stderr
    finally:
        shutil.rmtree(folder, ignore_errors=True)
