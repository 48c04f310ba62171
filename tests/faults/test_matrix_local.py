"""The rest of the matrix: a disk and a clock in trouble, which have no network between us and them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.errors import RecollectError, Unavailable
from recollect.model import Listing, Scope
from recollect.stores.sqlite import SqliteStore
from tests.api.homes import Home, engine_over, open_store, sqlite_home
from tests.faults.soundness import assert_sound
from tests.faults.test_clock import WildClock

ANA = Scope("default", "ana")
PATIENCE_SECONDS = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return sqlite_home(tmp_path)


async def _no_folder(home: Home) -> None:
    """Down at start: what should be a folder is a file."""
    blocked = home.folder / "blocked"
    blocked.write_text("in the way")
    with pytest.raises(Unavailable):
        await SqliteStore.open(blocked / "memory.db")


async def _held(home: Home) -> None:
    """Slow: somebody else writes, and takes their time. Reads go on; the write waits for its turn."""
    engine = engine_over(await open_store(home))
    await engine.remember(ANA, {"content": "kept before"})
    with closing(sqlite3.connect(home.url, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(engine.remember(ANA, {"content": "kept meanwhile"}))
        assert (await engine.list(ANA, Listing())).total == 1
        assert not writing.done()
        other.execute("ROLLBACK")
    assert (await writing).outcome == "stored"
    await engine.close()


async def _torn(home: Home) -> None:
    """Errors: the file's first page is spoiled. It is refused, not read as if nothing were the matter."""
    engine = engine_over(await open_store(home))
    await engine.remember(ANA, {"content": "kept before"})
    await engine.close()
    mend = _spoil(Path(home.url))
    with pytest.raises(RecollectError):
        await open_store(home)
    mend()


def _spoil(file: Path) -> Callable[[], object]:
    """Overwrite the first bytes; what puts them back."""
    whole = file.read_bytes()
    file.write_bytes(b"spoiled" * 16 + whole[112:])
    return lambda: file.write_bytes(whole)


DISK: dict[str, Callable[[Home], Awaitable[None]]] = {"down at start": _no_folder, "slow": _held, "errors": _torn}
"""That it is full in the middle of a request, and has room again, is in `test_disk_full`."""


@pytest.mark.parametrize("trouble", DISK)
async def test_a_disk_in_trouble_keeps_what_it_has(trouble: str, home: Home) -> None:
    await DISK[trouble](home)
    engine = engine_over(await open_store(home))
    before = (await engine.list(ANA, Listing())).total
    assert before == home.count("SELECT count(*) FROM memories")
    assert (await engine.remember(ANA, {"content": "life goes on"})).outcome == "stored"
    assert (await engine.list(ANA, Listing())).total == before + 1
    await engine.close()
    assert_sound(home)


YEARS = timedelta(days=3650)
CLOCK: dict[str, tuple[timedelta, ...]] = {
    "down at start": (-YEARS,),
    "dies mid-request": (timedelta(), YEARS),
    "slow": (timedelta(), timedelta()),
    "errors": (timedelta(hours=-3), timedelta(hours=3), timedelta(hours=-3)),
    "comes back": (YEARS, -YEARS),
}
"""By how much it jumps before each of the writes; a clock that is slow stands still."""


@pytest.mark.parametrize("trouble", CLOCK)
async def test_a_clock_in_trouble_costs_nothing(trouble: str, home: Home) -> None:
    clock = WildClock()
    engine = engine_over(await open_store(home), clock)
    texts = set()
    for number, jump in enumerate(CLOCK[trouble]):
        clock.time += jump
        texts.add(f"note{number} is written")
        assert (await engine.remember(ANA, {"content": f"note{number} is written"})).outcome == "stored"
        clock.time += abs(jump) / 2
        await engine.flush(ANA, PATIENCE_SECONDS)
    assert {memory.content for memory in await engine.list(ANA, Listing())} == texts
    assert home.rows("SELECT DISTINCT state FROM embeddings") == [("ready",)]
    await engine.close()
    assert_sound(home)
