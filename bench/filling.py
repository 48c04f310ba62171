"""People with memories, many of them: in this process, or in several beside each other, and again where the last run stopped.

Reading a text costs a processor as much as storing it does, so on a server one process fills half as fast as the machine could.
Each lane is a process of its own. A person is there completely or is begun anew, so a run that was ended at any point is gone on
with by the next.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from time import monotonic

from bench.copies import copy
from bench.ground import BULK, engine_over, put_memories
from bench.report import bar
from bench.texts import notes
from recollect.bootstrap import open_store
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.model import Listing, Scope
from recollect.ports import Store, Tx
from recollect.settings import Settings

PATIENT_MS = 600_000
"""Filling takes statements far longer than a server would put up with."""
Noted = Callable[[int, int], None]
"""Told whose memories are there now, and how many of them are new."""


def person(number: int) -> Scope:
    return Scope("bench", f"person-{number:06}")


@dataclass(frozen=True, slots=True)
class Size:
    """How far it grows, and by what means."""

    total: int
    users: int
    lanes: int = 1
    """Processes that fill a server side by side."""
    seconds: float = inf
    """After so many nobody is begun."""
    written: int | None = None
    """How many people the application writes; the others are copies of them, made within the server. None: everybody."""

    @property
    def each(self) -> int:
        return max(1, self.total // self.users)


async def grow(
    store: Store, url: str | None, numbers: Sequence[int], size: Size, until: float
) -> tuple[list[int], int]:
    """Give these people their memories: who has them now, and how many are new. After the moment `until` nobody is begun."""
    each, lanes = size.each, size.lanes
    engine = engine_over(store, config=BULK)
    await engine.generations.to_fill()  # now, so that lanes need not meet over making one
    there: list[int] = []
    new = 0
    with bar() as progress:
        task = progress.add_task(f"{len(numbers):,} more people", total=len(numbers) * each)

        def noted(number: int, stored: int) -> None:
            nonlocal new
            there.append(number)
            new += stored
            progress.update(task, advance=each)

        if url is None:
            await _fill(engine, numbers, each, until, noted)
        else:
            written = size.written or size.users
            own = [number for number in numbers if number < written]
            shares = [own[lane::lanes] for lane in range(min(lanes, len(own)))]
            await asyncio.gather(*(_lane(url, share, each, until, noted) for share in shares))
            pairs = [(number, person(number), person(number % written)) for number in numbers[len(own) :]]
            await copy(url, pairs, each, lanes, until, noted)
    return sorted(there), new


async def _fill(engine: Engine, numbers: Iterable[int], each: int, until: float, noted: Noted) -> None:
    for number in numbers:
        if monotonic() > until:
            return
        noted(number, await _one(engine, number, each))


async def _one(engine: Engine, number: int, each: int) -> int:
    scope = person(number)
    (generation,) = await engine.generations.to_fill()
    present, waiting = await engine.store.read(scope, lambda tx: _state(tx, generation))
    if present >= each and not waiting:
        return 0
    if present:
        await engine.store.write(scope, lambda tx: tx.erase())
    async for _ in put_memories(engine, scope, notes(each, seed=number)):
        pass
    while (await embed.run_once(engine, scope)).worked:
        pass
    return each


def _state(tx: Tx, generation: str) -> tuple[int, int]:
    return tx.memories.list(Listing(limit=1)).total, tx.embeddings.backlog(generation).pending


async def _lane(url: str, numbers: Sequence[int], each: int, until: float, noted: Noted) -> None:
    """A process that fills these people. Its address comes in the environment, where no list of processes shows it."""
    lane = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.filling", str(each), str(until - monotonic())),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "RECOLLECT_STORE": url},
    )
    assert lane.stdin is not None
    assert lane.stdout is not None
    try:
        lane.stdin.write(" ".join(map(str, numbers)).encode())
        lane.stdin.close()
        async for line in lane.stdout:
            number, stored = map(int, line.split())
            noted(number, stored)
        if await lane.wait():
            raise RuntimeError("a process that fills the database ended before its time")
    finally:
        if lane.returncode is None:
            lane.kill()
            await lane.wait()


async def _main(each: int, seconds: float, numbers: Sequence[int]) -> None:
    store = await open_store(Settings.load(statement_timeout_ms=PATIENT_MS))
    try:
        until = monotonic() + seconds
        await _fill(engine_over(store, config=BULK), numbers, each, until, lambda *done: print(*done, flush=True))
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), float(sys.argv[2]), [int(number) for number in sys.stdin.read().split()]))
