"""Vectors of the data chat in an index outside the store, where one is configured.

The store has them all and stays of record; what lies elsewhere is a copy. So a question is never worse for it: while the index
fails, or isn't known to be whole, the store searches. Forgetting is the other way round: what can't be removed there isn't
removed here either, and whoever asked is told to try again, because afterwards nobody would know what is left behind.

Who embeds copies, and looks afterwards whether what was copied is still there: it may have been forgotten meanwhile. Who forgets
removes elsewhere first, then here, then elsewhere once more, for what was copied between the two.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from recollect.engine.bounded import Latest
from recollect.engine.recalling.asked import Asked
from recollect.errors import RecollectError
from recollect.model import Changes, EmbeddingJob, Filter, Scope, Step, Target
from recollect.model.scope import DATA
from recollect.ports import Point, Tx, Vector, VectorIndex

if TYPE_CHECKING:
    from recollect.engine import Engine

T = TypeVar("T")
PATIENCE_SECONDS = 2.0
"""How long a question waits for the index before the store is asked."""
WHOLE_FOR = timedelta(hours=1)
"""How long a copy is taken to be whole after it was made: other processes may have failed to add to it meanwhile."""
MOST_COPIED = 200_000
MOST_SCOPES = 100_000
"""Of which a process knows whether they are whole, or that they are to be copied. Those beyond it are searched in the store, and
owed again when somebody asks."""


@dataclass
class Elsewhere:
    """An index with what this process knows about it. Safe from any thread."""

    index: VectorIndex
    whole: Latest[tuple[Scope, str], datetime] = field(default_factory=lambda: Latest(MOST_SCOPES))
    """Which scopes were copied from end to end, in which generation, and when."""
    owed: Latest[Scope, None] = field(default_factory=lambda: Latest(MOST_SCOPES))
    """Scopes to be copied from end to end when there is time."""
    leftovers: dict[Scope, set[str]] = field(default_factory=dict)
    """What is forgotten here and may have been copied in that very moment."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def missed(self, scope: Scope) -> None:
        """Something of this scope isn't there: not to be relied on before all of it was copied again."""
        with self.lock:
            self._drop(lambda key, _: key[0] == scope)
            self.owed[scope] = None

    def gone(self, scope: Scope) -> None:
        """There is nothing of this scope any more."""
        with self.lock:
            self.owed.pop(scope, None)
            self._drop(lambda key, _: key[0] == scope)

    def due(self, now: datetime) -> tuple[list[Scope], dict[Scope, set[str]]]:
        """What is owed and what is left over, from now on somebody else's to remember. What is out of date goes."""
        with self.lock:
            self._drop(lambda _, at: now - at >= WHOLE_FOR)
            owed, leftovers = [*self.owed], self.leftovers
            self.owed.clear()
            self.leftovers = {}
            return owed, leftovers

    def holds(self, scope: Scope, generation: str, now: datetime) -> bool:
        with self.lock:
            at = self.whole.get((scope, generation))
            if at is not None and now - at < WHOLE_FOR:
                return True
            self.owed[scope] = None
            return False

    def _drop(self, goes: Callable[[tuple[Scope, str], datetime], bool]) -> None:
        for key in [key for key, at in self.whole.items() if goes(key, at)]:
            del self.whole[key]


def of(engine: Engine, scope: Scope) -> Elsewhere | None:
    """The index that has copies of this scope's vectors, if one has: only the data chat's are copied."""
    return engine.elsewhere if scope.space.startswith(DATA) else None


async def near(engine: Engine, scope: Scope, asked: Asked, pool: int) -> tuple[Asked, str | None]:
    """The question with what the index found for its meaning, and what is degraded: the store then searches by itself."""
    there = of(engine, scope)
    if there is None or not asked.vectors or asked.generation is None or not _can_filter(asked.query.filter):
        return asked, None
    if not there.holds(scope, asked.generation, engine.clock.now()):
        return asked, None
    where = {"session": asked.query.filter.sessions[0]} if asked.query.filter.sessions else None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await there.index.search(scope, asked.generation, asked.vectors[0], pool, where)
    except (RecollectError, TimeoutError):
        there.missed(scope)
        return asked, "vectors"
    return replace(asked, near={Target("message", id): cosine for id, cosine in found}), None


def _can_filter(filter: Filter) -> bool:
    return len(filter.sessions) <= 1 and filter == Filter(kinds=filter.kinds, sessions=filter.sessions)


async def copy(engine: Engine, scope: Scope, pairs: Sequence[tuple[EmbeddingJob, Vector]]) -> None:
    """What was just embedded, and is still there."""
    there = of(engine, scope)
    vectors = {job.target: (job.generation, vector) for job, vector in pairs if job.target.kind == "message"}
    if there is None or not vectors:
        return
    sessions = await engine.store.read(scope, lambda tx: _sessions(tx, list(vectors)))
    try:
        for generation in {generation for generation, _ in vectors.values()}:
            points = [
                Point(target.id, vector, _labels(sessions[target]))
                for target, (made_by, vector) in vectors.items()
                if made_by == generation and target in sessions
            ]
            await there.index.add(scope, generation, points)
        still = await engine.store.read(scope, lambda tx: _sessions(tx, list(sessions)))
        if gone := [target.id for target in sessions if target not in still]:
            await there.index.drop(scope, gone)
    except RecollectError:
        there.missed(scope)


def _sessions(tx: Tx, targets: Sequence[Target]) -> dict[Target, str | None]:
    return {target: entry.session_id for target, entry in tx.index.entries(targets).items()}


def _labels(session: str | None) -> Mapping[str, str]:
    return {} if session is None else {"session": session}


async def settle(engine: Engine) -> None:
    """Copy what is owed, remove what is left over. What fails is owed on."""
    there = engine.elsewhere
    if there is None:
        return
    serving = await engine.generations.serving()
    owed, leftovers = there.due(engine.clock.now())
    for scope, ids in leftovers.items():
        await left(engine, scope, sorted(ids))
    if serving is None:
        return
    for scope in sorted(owed, key=astuple):
        try:
            await _copy_all(engine, there, scope, serving.id)
        except RecollectError:
            with there.lock:
                there.owed[scope] = None


async def _copy_all(engine: Engine, there: Elsewhere, scope: Scope, generation: str) -> None:
    begun = engine.clock.now()

    def work(tx: Tx) -> Changes:
        return tx.index.changes(0, generation, MOST_COPIED)

    held = await engine.store.read(scope, work)
    if held.size > MOST_COPIED:
        return
    points = [
        Point(each.entry.target.id, each.vector, _labels(each.entry.session_id))
        for each in held.items
        if each.vector is not None and each.entry.target.kind == "message"
    ]
    await there.index.add(scope, generation, points)
    now = await engine.store.read(scope, work)
    still = {each.entry.target.id for each in now.items}
    if gone := [point.id for point in points if point.id not in still]:
        await there.index.drop(scope, gone)
    with there.lock:
        there.whole[scope, generation] = begun


async def leave(engine: Engine, scope: Scope, session_ids: Sequence[str]) -> list[str]:
    """Remove elsewhere what these conversations said, before they go here; what that was. `Unavailable` when it can't be."""
    there = of(engine, scope)
    if there is None or not session_ids:
        return []

    def work(tx: Tx) -> list[str]:
        found = [tx.conversations.get(id) for id in session_ids]
        return [
            message.id
            for each in found
            if each is not None
            for message in tx.conversations.history(each.id, each.message_count)
        ]

    ids = await engine.store.read(scope, work)
    await there.index.drop(scope, ids)
    return ids


async def left(engine: Engine, scope: Scope, ids: Sequence[str]) -> None:
    """These are gone here: remove what was copied of them in that very moment. Kept in mind where it fails."""
    there = of(engine, scope)
    if there is None or not ids:
        return
    try:
        await there.index.drop(scope, ids)
    except RecollectError:
        with there.lock:
            there.leftovers.setdefault(scope, set()).update(ids)


async def ending(engine: Engine, scope: Scope, steps: Sequence[Step]) -> tuple[list[Step], list[str]]:
    """The same for what has reached its end: the steps that may be taken, and what they end. The others come next time."""
    over = [step.id for step in steps if step.action == "drop_conversation" and step.id]
    try:
        return list(steps), await leave(engine, scope, over)
    except RecollectError:
        return [step for step in steps if step.action != "drop_conversation"], []


async def erase(engine: Engine, scope: Scope, remove: Callable[[], Awaitable[T]]) -> T:
    """Do `remove`, and remove everything of this scope elsewhere. `Unavailable` when it can't be reached."""
    there = of(engine, scope)
    if there is None:
        return await remove()
    await there.index.clear(scope)
    removed = await remove()
    with suppress(RecollectError):  # reached a moment ago; only what was copied in that moment could be left
        await there.index.clear(scope)
    there.gone(scope)
    return removed


async def retire(engine: Engine, generations: Sequence[str]) -> None:
    """Remove generations that serve nobody any more; they are in nobody's way, so what fails is left."""
    if engine.elsewhere is not None:
        with suppress(RecollectError):
            for generation in generations:
                await engine.elsewhere.index.retire(generation)
