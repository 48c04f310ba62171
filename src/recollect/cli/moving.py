"""`export --all` and `import --all`: a whole store out, and into another one, which is then read back and compared."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from recollect.bootstrap import open_engine
from recollect.cli.options import Call
from recollect.cli.progress import bar
from recollect.cli.reading import STDIN, source
from recollect.cli.scopes import PAGE as SCOPES
from recollect.cli.scopes import named
from recollect.cli.storefile import Closing, Opening, Reader, Writer, packed, unpacked
from recollect.cli.writing import complete
from recollect.engine import Engine
from recollect.engine.browse import note
from recollect.engine.exporting.lines import Line
from recollect.engine.exporting.moving import held_here, moved, pepper_mark, take_in
from recollect.errors import InvalidInput
from recollect.model import Generation, Scope
from recollect.ports import System

BATCH = 200
"""Lines that are stored in one transaction: what an interruption costs at most."""


@asynccontextmanager
async def engine_apart(call: Call, *, embeds: bool) -> AsyncIterator[Engine]:
    """The engine over the store alone: nobody else is woken, and no session is stamped, by what only moves."""
    off: dict[str, Any] = {} if embeds else {"embedder": "off"}
    running = await open_engine(call.settings(worker=False, broker_url="", redis_url="", **off))
    try:
        yield running.engine
    finally:
        await running.close()


async def all_scopes(engine: Engine, call: Call) -> list[Scope]:
    """Every scope there is, or those of the tenant and user that were named."""
    found: list[Scope] = []
    while True:

        def page(system: System, after: Scope | None = found[-1] if found else None) -> Sequence[Scope]:
            return system.scopes(after, SCOPES, call.tenant, call.user)

        scopes = await engine.store.system(page)
        found += scopes
        if len(scopes) < SCOPES:
            return [scope for scope in found if call.space in (None, scope.space)]


async def write_all(call: Call, file: str, vectors: bool) -> dict[str, Any]:
    async with engine_apart(call, embeds=vectors) as engine:
        scopes = await all_scopes(engine, call)
        generation = await engine.generations.serving() if vectors else None
        with nullcontext(sys.stdout.buffer) if file == STDIN else complete(Path(file)) as raw, packed(raw, file) as out:
            counts = await put_down(engine, scopes, out, generation)
    return {"file": file, "scopes": len(scopes), "held": dict(sorted(counts.items()))}


async def put_down(
    engine: Engine, scopes: Sequence[Scope], out: BinaryIO, generation: Generation | None = None
) -> Counter[str]:
    """Write these scopes as one file; how many lines of each kind it has."""
    writer = Writer(out, pepper_mark(engine), generation.id if generation else None)
    counts: Counter[str] = Counter()
    with bar("exporting", len(scopes), counted=False) as advance:
        for number, scope in enumerate(scopes):
            size = (await engine.store.read(scope, lambda tx: tx.index.changes(0, None, 0))).size
            writer.open(scope)
            begun = writer.lines
            async for line in moved(engine, scope, generation):
                writer.line(line)
                advance(number + min((writer.lines - begun) / (size + 1), 1.0), None)
            counts += writer.close().counts
            note(engine, scope, "exported")
    writer.finish()
    return counts


@dataclass
class Arrived:
    """What came of an import: what was new, and what the store held of each scope when it was read back."""

    new: Counter[str] = field(default_factory=Counter)
    vectors: int = 0
    sealed: list[Closing] = field(default_factory=list)
    differences: dict[Scope, list[str]] = field(default_factory=dict)

    @property
    def report(self) -> dict[str, Any]:
        scopes = [
            {
                "tenant": each.scope.tenant,
                "user": each.scope.user,
                "space": each.scope.space,
                "held": each.held,
                "differences": self.differences.get(each.scope, []),
            }
            for each in self.sealed
        ]
        return {"new": dict(sorted(self.new.items())), "same": not self.differences, "scopes": scopes}


async def read_all(call: Call, file: str) -> Arrived:
    with source(file) as raw:
        size = None if file == STDIN else os.fstat(raw.fileno()).st_size
        if size is not None:
            _see_that_it_is_whole(raw, size)
        async with engine_apart(call, embeds=True) as engine:
            return await take_all(engine, raw, size)


def _see_that_it_is_whole(raw: BinaryIO, size: int) -> None:
    """Before anything is stored: a file that breaks off in the middle would leave half a store."""
    with bar("checking", size, counted=False) as advance:
        for _ in Reader(unpacked(raw), _reading(raw, advance)):
            pass
    raw.seek(0)


def _reading(raw: BinaryIO, advance: Callable[[float, float | None], None]) -> Callable[[], None]:
    return lambda: advance(raw.tell() if raw.seekable() else 0, None)


async def take_all(engine: Engine, raw: BinaryIO, size: int | None = None) -> Arrived:
    """Store what a file holds, then read it back and compare."""
    arrived = Arrived()
    here = Scope("-", "-")
    batch: list[tuple[int, Line]] = []
    with bar("importing", size, counted=False) as advance:
        reader = Reader(unpacked(raw), _reading(raw, advance))
        for event in reader:
            if isinstance(event, Opening):
                here = event.scope
                _same_pepper(engine, reader.header)
            elif isinstance(event, Closing):
                await _take(engine, here, batch, arrived)
                arrived.sealed.append(event)
            else:
                batch.append(event)
                if len(batch) == BATCH:
                    await _take(engine, here, batch, arrived)
    engine.wake()
    await _compare(engine, arrived)
    return arrived


async def _take(engine: Engine, scope: Scope, batch: list[tuple[int, Line]], arrived: Arrived) -> None:
    if batch:
        counts = await take_in(engine, scope, batch)
        arrived.vectors += sum(line["kind"] == "vector" for _, line in batch)
        arrived.new += Counter({name: count for name, count in counts.items() if name != "unchanged"})
        batch.clear()


def _same_pepper(engine: Engine, header: Line) -> None:
    if header.get("pepper") != pepper_mark(engine):
        raise InvalidInput(
            "this file was written under another RECOLLECT_PEPPER: what was forgotten there would not be known here. "
            "Set the one it was written under"
        )


async def _compare(engine: Engine, arrived: Arrived) -> None:
    """Read back every scope of the file."""
    with bar("comparing", len(arrived.sealed)) as advance:
        for number, each in enumerate(arrived.sealed, start=1):
            here = (await held_here(engine, each.scope)).held
            if found := _differences(each.held, here):
                arrived.differences[each.scope] = found
            advance(number, None)


def _differences(file: dict[str, dict[str, Any]], here: dict[str, dict[str, Any]]) -> list[str]:
    said = []
    for kind in sorted({*file, *here}):
        wanted, found = (held.get(kind, {"count": 0, "sha256": ""}) for held in (file, here))
        if wanted["count"] != found["count"]:
            said.append(f"{kind}: {wanted['count']:,} in the file, {found['count']:,} in the store")
        elif wanted != found:
            said.append(f"{kind}: as many as in the file, but not the same")
    return said


def differing(arrived: Arrived) -> list[str]:
    return [f"{named(scope)}: {'; '.join(found)}" for scope, found in arrived.differences.items()]
