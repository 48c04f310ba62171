"""Move everything a scope holds to another store, and see that it arrived.

Unlike an export for its owner, a move is the operator's: it takes along what was forgotten (as digests), the switches of the
space and its sessions, and asks neither whether memory is switched on nor what may be said, because nothing new is said. What a
scope holds always gives the same lines in the same order, so that two stores can be compared by hashes.

What is there under the same id is left alone. So a move that was interrupted is simply made again, and a scope that has gone on
living since is not set back; that the two differ then is for `held_here` to show.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.engine import audit
from recollect.engine.exporting.arrivals import Arrivals, Parsed
from recollect.engine.exporting.belongings import BELONGINGS, Made, vector_line
from recollect.engine.exporting.export import PAGE, held
from recollect.engine.exporting.lines import MOST_BYTES, Line, line_of, parsed
from recollect.errors import InvalidInput
from recollect.model import EmbeddingJob, EmbeddingState, Generation, Scope, SpaceSettings, Target
from recollect.policy.digest import content_hash
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

T = TypeVar("T")
NO_LIMIT = 2**31 - 1
COUNTED = {"memory": "memories", "message": "messages", "conversation": "conversations"}


def canonical(line: Mapping[str, Any]) -> bytes:
    """A line as it is written and hashed."""
    return json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


@dataclass
class Seal:
    """How many lines of each kind there were, and what they said. Vectors don't count: they can be made again."""

    counts: Counter[str] = field(default_factory=Counter)
    _hashes: dict[str, Any] = field(default_factory=dict)

    def add(self, kind: str, line: bytes) -> None:
        if kind != "vector":
            self.counts[kind] += 1
            self._hashes.setdefault(kind, hashlib.sha256()).update(line + b"\n")

    @property
    def held(self) -> dict[str, dict[str, Any]]:
        return {
            kind: {"count": self.counts[kind], "sha256": self._hashes[kind].hexdigest()} for kind in sorted(self.counts)
        }


def pepper_mark(engine: Engine) -> str:
    """Tells whether two stores mix the same secret into their digests, and nothing else about it."""
    return hashlib.blake2b(b"recollect", key=engine.config.pepper, digest_size=8, person=b"move").hexdigest()


async def moved(engine: Engine, scope: Scope, generation: Generation | None = None) -> AsyncIterator[Line]:
    """Everything of a scope. With `generation` its vectors too, each after the page of what it was made of."""
    texts: dict[Target, str] = {}
    async for line in held(engine, scope, NO_LIMIT):
        kind = line["kind"]
        line.pop("simhash", None)  # worked out anew wherever it arrives
        yield line
        if generation is not None and kind in ("memory", "message"):
            target = Target(kind, line["id"])
            texts[target] = line["content"] if line.get("searchable") is None else line["searchable"]
            if len(texts) == PAGE:
                for vector in await _vectors(engine, scope, generation, texts):
                    yield vector
                texts = {}
    if generation is not None and texts:
        for vector in await _vectors(engine, scope, generation, texts):
            yield vector
    async for line in _belongings(engine, scope):
        yield line


async def _vectors(engine: Engine, scope: Scope, generation: Generation, texts: Mapping[Target, str]) -> list[Line]:
    made = await engine.store.read(scope, lambda tx: tx.embeddings.ready(texts, generation.id))
    return [vector_line(each, generation.id, content_hash(texts[each]), made[each]) for each in texts if each in made]


async def _belongings(engine: Engine, scope: Scope) -> AsyncIterator[Line]:
    async for working in _all(engine, scope, lambda tx, after: tx.space.workings(after, PAGE), _session_id):
        yield line_of("working", working)
    async for said in _all(engine, scope, lambda tx, after: tx.space.declarations(after, PAGE), lambda d: d.session):
        yield line_of("declaration", said)
    async for stone in _all(engine, scope, lambda tx, after: tx.space.tombstones(after, PAGE), lambda t: t.digest):
        yield line_of("tombstone", stone)
    yield line_of("settings", await engine.store.read(scope, lambda tx: tx.space.settings()))


def _session_id(working: Any) -> str:
    return str(working.session_id)


async def _all(
    engine: Engine, scope: Scope, page: Callable[[Tx, str | None], Sequence[T]], name: Callable[[T], str]
) -> AsyncIterator[T]:
    after: str | None = None
    while True:

        def work(tx: Tx, start: str | None = after) -> Sequence[T]:
            return page(tx, start)

        found = await engine.store.read(scope, work)
        for each in found:
            yield each
        if len(found) < PAGE:
            return
        after = name(found[-1])


async def held_here(engine: Engine, scope: Scope) -> Seal:
    """What the store itself says that it holds, read back."""
    seal = Seal()
    async for line in moved(engine, scope):
        seal.add(line["kind"], canonical(line))
    return seal


async def take_in(engine: Engine, scope: Scope, lines: Sequence[tuple[int, Line]]) -> Counter[str]:
    """Put down lines of `moved`, in one transaction; how many of each kind were new. Their numbers are for what is refused."""
    batch = await asyncio.to_thread(lambda: [_read(number, line) for number, line in lines])
    alive = await engine.generations.alive()
    at = engine.clock.now()

    def work(tx: Tx) -> Counter[str]:
        arrivals = Arriving(tx, batch, engine.config.pepper, at)
        counts: Counter[str] = Counter()
        place = ""
        try:
            for number, kind, thing in batch:
                place = f"line {number}"
                counts[arrivals.take(kind, thing)] += 1
            place = f"lines {batch[0][0]} to {batch[-1][0]}"
            arrivals.write([each.id for each in alive])
            counts["vectors"] += arrivals.settle(alive)
        except InvalidInput as problem:
            raise InvalidInput(f"{place}: {problem.message}") from None
        if new := {name: counts[name] for name in COUNTED.values() if counts[name]}:
            audit.record(tx, engine.occasion, at, "imported", **new)
        return counts

    return await engine.store.write(scope, work)


def _read(number: int, line: Line) -> Parsed:
    """Whatever was stored once is taken as it is, however long: the checks are for what no store could hold."""
    kind, thing = parsed(line, number, MOST_BYTES, BELONGINGS)
    return number, kind, thing


class Arriving(Arrivals):
    """Arrivals with everything else that belongs to a scope."""

    def __init__(self, tx: Tx, batch: Sequence[Parsed], pepper: bytes, at: datetime) -> None:
        super().__init__(tx, batch, pepper, at)
        self._vectors: list[Made] = []

    def take(self, kind: str, thing: Any) -> str:
        if kind not in BELONGINGS:
            return super().take(kind, thing)
        space = self._tx.space
        if kind == "vector":
            self._vectors.append(thing)
        elif kind == "working":
            if space.working(thing.session_id) is None:
                space.save_working(thing)
        elif kind == "declaration":
            space.keep_declarations([thing])
        elif kind == "tombstone":
            space.bury([thing])
        elif space.settings() == SpaceSettings() != thing:
            space.save_settings(thing)
        return "unchanged"

    def _open_theme(self, theme: str) -> None:
        """Themes have lines of their own."""

    def settle(self, alive: Sequence[Generation]) -> int:
        """Vectors of generations that live here, for what waits for one; the rest is made anew."""
        wanted = {each.id: each.dimensions for each in alive}
        fitting = [each for each in self._vectors if wanted.get(each.generation) == len(each.data)]
        done = []
        for generation in {each.generation for each in fitting}:
            its = {each.target: each for each in fitting if each.generation == generation}
            states = self._tx.embeddings.status(its, generation)
            waiting = [its[t] for t, status in states.items() if status.state is not EmbeddingState.READY]
            done += [(_job(self._tx.scope, each), each.data) for each in waiting]
        return self._tx.embeddings.settle(done, self._at) if done else 0


def _job(scope: Scope, made: Made) -> EmbeddingJob:
    return EmbeddingJob(
        space=scope.space,
        target=made.target,
        generation=made.generation,
        content="",
        content_hash=made.content_hash,
        attempts=0,
    )
