"""Other processes, kill -9 and a full disk: what was acknowledged is there, and no index disagrees with its rows."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from recollect.errors import Unavailable
from recollect.model import Listing
from recollect.stores.sqlite import SqliteStore
from tests.contract.samples import ANA, digest, memory

WRITER = """
import asyncio, sys
from recollect.errors import Unavailable
from recollect.model import Entry, Memory, Scope, Target
from recollect.stores.sqlite import SqliteStore
from tests.contract.samples import ANA, T0, digest, entry, memory

path, name, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def main():
    store = await SqliteStore.open(path)
    for number in range(count):
        id = f"{name}-{number}"
        def work(tx):
            tx.memories.insert(memory(id, "tea " * size), digest(id))
            tx.index.put([entry(id, "green tea " + id.replace("-", "_"))])
            tx.embeddings.queue({Target("memory", id): "h"}, "g1", T0)
        try:
            await store.write(ANA, work)
        except Unavailable:
            print("unavailable", flush=True)
            break
        print(id, flush=True)
    await store.close()

asyncio.run(main())
"""


def start(path: Path, name: str, count: int, size: int = 3, most_bytes: int | None = None) -> subprocess.Popen[str]:
    def limit() -> None:
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write beyond fails as it does on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    arguments = [sys.executable, "-c", WRITER, str(path), name, str(count), str(size)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, preexec_fn=limit)


async def everything(path: Path) -> set[str]:
    store = await SqliteStore.open(path)
    assert [finding for finding in await store.checkup() if not finding.ok] == []
    page = await store.read(ANA, lambda tx: tx.memories.list(Listing(limit=10_000)))
    changes = await store.read(ANA, lambda tx: tx.index.changes(0, None, 10_000))
    assert {change.entry.target.id for change in changes.items} == {memory.id for memory in page}
    await store.close()
    return {memory.id for memory in page}


def finish(process: subprocess.Popen[str]) -> list[str]:
    return process.communicate(timeout=90)[0].split()


async def test_processes_write_one_file_together(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    processes = [start(path, name, 60) for name in ("a", "b", "c")]
    acknowledged = {id for process in processes for id in finish(process)}
    assert acknowledged == {f"{name}-{number}" for name in "abc" for number in range(60)}
    assert await everything(path) == acknowledged


COUNTER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
connection.close()
"""


def counted(path: Path) -> int:
    return int(subprocess.run([sys.executable, "-c", COUNTER, str(path)], capture_output=True, check=True).stdout)


async def test_who_comes_and_goes_leaves_the_others_their_log(tmp_path: Path) -> None:
    """The last to leave a file removes its log. Whoever is still in it holds a lock, which must not get lost on the way."""
    path = tmp_path / "memory.db"
    store = await SqliteStore.open(path)
    await store.write(ANA, lambda tx: tx.memories.insert(memory("m1"), digest("m1")))
    assert await store.read(ANA, lambda tx: tx.memories.list(Listing())), "a reader has been opened beside the writer"
    assert counted(path) == 1
    await store.write(ANA, lambda tx: tx.memories.insert(memory("m2"), digest("m2")))
    assert counted(path) == 2
    await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_what_was_acknowledged_survives_kill_nine(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    process = start(path, "k", 100_000)
    assert process.stdout is not None
    lines = [process.stdout.readline().strip() for _ in range(random.Random(seed).randrange(5, 60))]
    process.kill()
    lines += finish(process)
    assert set(lines) <= await everything(path)


async def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await (await SqliteStore.open(path)).close()
    *acknowledged, last = finish(start(path, "f", 100_000, size=1000, most_bytes=2_000_000))
    assert last == "unavailable"
    assert acknowledged
    assert await everything(path) == set(acknowledged)
    store = await SqliteStore.open(path)  # with room again, it goes on
    await store.system(lambda system: system.generations())
    await store.close()


async def test_a_lock_that_is_never_released_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = await SqliteStore.open(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as selfish:
        selfish.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="in use"):
            await asyncio.wait_for(store.write(ANA, lambda tx: tx.space.themes()), 30)
        assert await store.read(ANA, lambda tx: tx.space.themes()) == []  # readers don't mind
        selfish.execute("ROLLBACK")
    await store.write(ANA, lambda tx: tx.space.themes())
    await store.close()
