"""A whole store moved to another: byte for byte the same, after any interruption, and never silently different."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from recollect import Memory as Client
from recollect.cli.backup import dump_command
from recollect.cli.moving import put_down, take_all
from recollect.cli.storefile import Reader
from recollect.engine import Engine, EngineConfig, documents
from recollect.engine.documents import Address, Document
from recollect.engine.embedding.embed import drain
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import Memory, Query, Scope
from recollect.stores.postgres import PostgresStore
from recollect.stores.sqlite.backup import back_up
from tests.cli.conftest import CommandLine
from tests.cli.worlds import ANA, T0, World, live_a_while, worlds
from tests.contract.stores import shared_database
from tests.engine.conftest import engine_over
from tests.services.postgres import PostgresServer
from tests.services.sqlite import blank_in_memory

EVERY_KIND = {
    *("theme", "conversation", "message", "memory", "repeat", "use"),
    *("working", "declaration", "tombstone", "settings"),
}


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    engine = engine_over(blank_in_memory())
    yield engine
    await engine.store.close()


there = engine
"""A second one, to move to."""


async def written(engine: Engine, scopes: list[Scope]) -> bytes:
    out = BytesIO()
    await put_down(engine, scopes, out)
    return out.getvalue()


async def around(server: PostgresServer, engine: Engine, scopes: list[Scope]) -> tuple[bytes, bytes, bytes]:
    """The file of a SQLite store, of the Postgres it was moved to, and of the SQLite that was moved to from there."""
    first = await written(engine, scopes)
    store = await PostgresStore.open(shared_database(server).app_url, pool_size=2)
    other = blank_in_memory()
    try:
        there = engine_over(store)
        assert not (await take_all(there, BytesIO(first))).differences
        second = await written(there, scopes)
        back = engine_over(other)
        assert not (await take_all(back, BytesIO(second))).differences
        return first, second, await written(back, scopes)
    finally:
        for each in scopes:
            await store.write(each, lambda tx: tx.erase())
        await store.close()
        await other.close()


async def test_everything_people_do_survives_the_way_to_postgres_and_back(
    postgres: PostgresServer, engine: Engine
) -> None:
    scopes = await live_a_while(engine, "moved")
    first, second, third = await around(postgres, engine, scopes)
    assert first == second == third
    kinds = {json.loads(line)["kind"] for line in first.splitlines()}
    assert kinds >= EVERY_KIND


@settings(max_examples=8)
@given(worlds("chance"))
def test_whatever_is_held_is_the_same_on_every_store(postgres: PostgresServer, told: list[World]) -> None:
    async def run() -> None:
        store = blank_in_memory()
        for world in told:
            await store.write(world.scope, world.put)
        scopes = sorted((world.scope for world in told), key=lambda scope: (scope.user, scope.space))
        first, second, third = await around(postgres, engine_over(store), scopes)
        assert first == second == third
        await store.close()

    asyncio.run(run())


async def test_a_file_of_the_version_before_is_taken(engine: Engine, there: Engine) -> None:
    await engine.remember(ANA, {"content": "Prefers green tea"})
    file = (await written(engine, [ANA])).replace(b'"version":2', b'"version":1', 1)
    arrived = await take_all(there, BytesIO(file))
    assert (arrived.new["memories"], arrived.differences) == (1, {})


async def test_what_was_forgotten_or_said_in_private_stays_so_after_the_move(engine: Engine, there: Engine) -> None:
    ana, _, _, off = await live_a_while(engine)
    file = await written(engine, [ana, off])
    await take_all(there, BytesIO(file))
    refused = await there.remember(ana, {"content": "A word nobody may find again"})
    assert refused.reason == "tombstone"
    assert await there.is_incognito(ana, "quiet")
    with pytest.raises(NotAllowed):
        await there.add_turns(off, "s", [{"role": "user", "content": "hello"}])
    again = await take_all(there, BytesIO(file))
    assert not again.new
    assert not again.differences, "a space that is switched off takes its own lines again"
    found = await there.recall(ana, Query(text="green tea"))
    assert found.hits[0].content == "Prefers green tea in the morning"


async def test_vectors_travel_where_the_same_model_serves(engine: Engine, there: Engine) -> None:
    ana = Scope("acme", "ana")
    for n in range(5):
        await engine.remember(ana, {"content": f"The {n}th shelf holds green tea"})
    await engine.add_turns(ana, "s", [{"role": "user", "content": "and a kettle"}])
    await drain(engine)
    generation = await engine.generations.serving()
    assert generation is not None
    out = BytesIO()
    await put_down(engine, [ana], out, generation)
    arrived = await take_all(there, BytesIO(out.getvalue()))
    assert (arrived.vectors, arrived.new["vectors"]) == (6, 6)
    backlog = await there.store.read(ana, lambda tx: tx.embeddings.backlog(generation.id))
    assert backlog.pending == 0
    assert not (await take_all(there, BytesIO(out.getvalue()))).new["vectors"]


async def test_a_document_stays_what_it_is(engine: Engine, there: Engine) -> None:
    """One that is kept out of searches is not found after a move either, and the same words beside it are not merged into it."""
    kept = {
        Address(("a",), "quiet"): Document(value={"n": 1}),
        Address(("a",), "loud"): Document(value={}, text="red kettle"),
    }
    await documents.change(engine, ANA, kept)
    assert not (await take_all(there, BytesIO(await written(engine, [ANA])))).differences
    assert {each.address for each in await documents.below(there, ANA, ("a",))} == {*kept}
    assert not (await there.recall(ANA, Query(text="quiet"))).hits
    assert (await there.recall(ANA, Query(text="red kettle"))).hits
    assert (await there.remember(ANA, {"content": "red kettle"})).outcome == "stored"


async def test_another_pepper_is_refused(engine: Engine, there: Engine) -> None:
    file = await written(engine, await live_a_while(engine))
    other = engine_over(there.store, config=EngineConfig(pepper=b"salt"))
    with pytest.raises(InvalidInput, match="RECOLLECT_PEPPER"):
        await take_all(other, BytesIO(file))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: lines[:4], "cut off"),
        (lambda lines: [*lines, lines[1]], "more follows"),
        (lambda lines: [line.replace(b"noon", b"nine") for line in lines], "was changed"),
        (lambda lines: [line for line in lines if b"noon" not in line], "was changed"),
        (lambda lines: [lines[0], lines[-1]], "scopes are missing"),
        (lambda lines: [lines[0], lines[2]], "can't stand here"),
        (lambda lines: [b'{"kind":"header","format":"recollect-export","version":1}'], "without --all"),
        (lambda lines: [b"{", *lines], "line 1: not JSON"),
    ],
)
async def test_a_damaged_file_is_named(engine: Engine, damage: Any, words: str) -> None:
    lines = (await written(engine, await live_a_while(engine))).splitlines()
    with pytest.raises(InvalidInput, match=words):
        list(Reader(BytesIO(b"\n".join(damage(lines)))))


# -- as commands ---------------------------------------------------------------------------------------------


def fill(cli: CommandLine, count: int = 3) -> None:
    for tenant, user in (("default", "ana"), ("acme", "ana")):
        with Client(str(cli.folder / "recollect.db"), user, tenant=tenant, embedder="off") as memory:
            for n in range(count):
                memory.add(f"{tenant} fact number {n} is about {n * 7919}")


def target(tmp_path: Path) -> tuple[str, str]:
    return "--store", str(tmp_path / "other.db")


def stored(path: Path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_compressed_by_its_name_and_told_in_numbers(cli: CommandLine, tmp_path: Path) -> None:
    fill(cli)
    plain, packed = tmp_path / "all.jsonl", tmp_path / "all.jsonl.gz"
    told = cli.json("export", "--all", str(plain))
    assert (told["scopes"], told["held"]["memory"]) == (2, 6)
    assert "of 1 space" in cli("export", "--all", "--tenant", "acme", str(tmp_path / "one")).stderr
    cli("export", "--all", str(packed))
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    report = cli.json("import", "--all", str(packed), *target(tmp_path))
    assert (report["same"], report["new"], len(report["scopes"])) == (True, {"memories": 6}, 2)
    assert report["scopes"][0]["held"]["memory"]["count"] == 3
    assert "imported  nothing new" in cli("import", "--all", str(packed), *target(tmp_path)).stdout
    packed.write_bytes(packed.read_bytes()[:-200])
    assert "cut off" in cli("import", "--all", str(packed), code=2).stderr


async def test_a_killed_import_is_made_again_and_then_is_whole(
    engine: Engine, cli: CommandLine, tmp_path: Path
) -> None:
    many = World(ANA, [Memory(id=f"{n:04}", content=f"fact {n}", created_at=T0, updated_at=T0) for n in range(500)])
    await engine.store.write(ANA, many.put)
    data, file, other = await written(engine, [ANA]), tmp_path / "all.jsonl", tmp_path / "other.db"
    file.write_bytes(data)
    command = ["-m", "recollect", "import", "--all", "-", *target(tmp_path)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=asyncio.subprocess.PIPE, env=cli.whole_environment
    )
    assert process.stdin is not None
    process.stdin.write(b"".join(data.splitlines(keepends=True)[:300]))
    await process.stdin.drain()  # the rest never comes: it is in the middle of it, however long it takes
    await until(lambda: stored(other) > 0, process)
    process.kill()
    await process.wait()
    before = stored(other)
    assert 0 < before < 500
    report = json.loads(cli.shell("import", "--all", str(file), *target(tmp_path), "--json"))
    assert report["same"]
    assert report["new"]["memories"] == 500 - before
    assert cli.shell("export", "--all", *target(tmp_path)).encode() == data


async def until(done: Callable[[], bool], process: asyncio.subprocess.Process) -> None:
    """Wait for something that must come while `process` runs."""
    async with asyncio.timeout(200):
        while not done():
            assert process.returncode is None
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE memories SET importance = 0.123 WHERE user_id = 'ana'", "as many as in the file, but not the same"),
        ("INSERT INTO themes VALUES ('acme', 'ana', 'default', 't', 'T', NULL, 1, 1)", "theme: 0 in the file, 1 in"),
    ],
)
def test_a_difference_is_said_and_ends_with_1(cli: CommandLine, tmp_path: Path, change: str, words: str) -> None:
    fill(cli)
    file = tmp_path / "all.jsonl"
    cli("export", "--all", str(file))
    cli("import", "--all", str(file), *target(tmp_path))
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute(change)
    told = cli("import", "--all", str(file), *target(tmp_path), code=1)
    assert words in told.stderr
    assert cli.json("import", "--all", str(file), *target(tmp_path), code=1)["same"] is False


# -- backups -------------------------------------------------------------------------------------------------


def test_a_backup_is_one_moment_while_others_write(cli: CommandLine, tmp_path: Path) -> None:
    fill(cli, 20)
    copy, seen = tmp_path / "copy.db", []
    with Client(str(cli.folder / "recollect.db"), "busy", embedder="off") as memory:

        def write(done: int, total: int) -> None:
            seen.append((done, total))
            memory.add(f"Written while page {done} was copied, number {len(seen)}")

        back_up(cli.folder / "recollect.db", copy, write, pages=8)
    assert len(seen) > 3
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted({done for done, _ in seen}), "it never began again"
    assert stored(copy) == 40
    assert {path.name for path in tmp_path.glob("*copy*")} == {"copy.db"}
    assert os.stat(copy).st_mode & 0o077 == 0
    assert cli.json("list", "--store", str(copy), "--user", "ana")["total"] == 20


def test_backup_as_a_command(cli: CommandLine, tmp_path: Path) -> None:
    fill(cli, 1)
    copy = tmp_path / "copy.db"
    assert cli.json("db", "backup", str(copy))["bytes"] == copy.stat().st_size
    assert "copied to" in cli("db", "backup", str(copy)).stdout, "a newer one takes its place"
    assert "in use" in cli("db", "backup", str(cli.folder / "recollect.db"), code=2).stderr
    cli("db", "backup", str(copy), "--store", str(tmp_path / "nowhere.db"), code=4)
    assert not (tmp_path / "nowhere.db").exists()
    cli("db", "backup", str(tmp_path / "no" / "folder.db"), code=2)
    cli("db", "backup", str(copy), "--store", ":memory:", code=2)


def test_for_postgres_the_command_is_said_without_the_password(cli: CommandLine) -> None:
    url = "postgresql://app:hunter2@db.example:5433/memories?sslmode=require&password=hunter3"
    told = cli("db", "backup", "out.dump", "--store", url, code=1)
    where = "'--dbname=postgresql://app@db.example:5433/memories?sslmode=require'"
    assert told.stdout.split("\n")[0] == f"pg_dump --format=custom --file=out.dump {where}"
    assert "hunter" not in told.output
    assert ".pgpass" in told.stderr
    assert dump_command("postgresql:///local", Path("a b"))[0] == (
        "pg_dump --format=custom '--file=a b' --dbname=postgresql:///local"
    )
