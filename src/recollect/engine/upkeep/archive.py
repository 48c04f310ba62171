"""archive and restore: out of recall and back. What is archived stays visible to its owner, with all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable
from recollect.engine.browse import missing
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.themes import open_theme
from recollect.errors import Conflict
from recollect.model import Memory, Scope, SpaceSettings, Status, Target
from recollect.policy.digest import twin_digest
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine


async def archive(engine: Engine, scope: Scope, ids: Sequence[str]) -> Sequence[Memory]:
    """Take active memories out of recall; one that isn't active is left as it is. An unknown id raises NotFound."""

    def work(tx: Tx) -> list[Memory]:
        require_writable(tx, engine)
        found = _known(tx, ids)
        return [archive_in(engine, tx, each) if each.status is Status.ACTIVE else each for each in found]

    return await engine.store.write(scope, work)


async def restore(engine: Engine, scope: Scope, id: str) -> Memory:
    """Bring an archived memory back into recall.

    Whoever restores it wants to keep it: from now on it counts as saved on purpose, or the next trimming would take it again.
    """
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> Memory:
        require_writable(tx, engine)
        (memory,) = _known(tx, [id])
        if memory.status is not Status.ARCHIVED:
            raise Conflict(f"this memory is {memory.status.value}; only archived ones can be restored", id=id)
        if (instead := stands_for(tx, engine, memory)) is not None:
            raise Conflict("the same, or something newer, is remembered in its place", id=id, instead=instead)
        return revive_in(engine, tx, replace(memory, manually_saved=True), generations)

    memory = await engine.store.write(scope, work)
    engine.wake()
    return memory


def may_tidy(engine: Engine, settings: SpaceSettings) -> bool:
    """Whether memories may be put away without anybody asking for it."""
    return settings.memory_enabled and engine.config.write_mode != "read_only"


def archive_in(engine: Engine, tx: Tx, memory: Memory, **facts: Any) -> Memory:
    """`updated_at` says since when: the archive's own retention counts from there."""
    at = engine.clock.now()
    archived = replace(memory, status=Status.ARCHIVED, updated_at=at)
    _write(engine, tx, archived)
    target = Target("memory", memory.id)
    tx.index.drop([target])
    tx.embeddings.drop([target])
    audit.record(tx, engine.occasion, at, "memory.archived", target, **facts)
    return archived


def revive_in(engine: Engine, tx: Tx, memory: Memory, generations: Sequence[str]) -> Memory:
    at = engine.clock.now()
    revived = replace(memory, status=Status.ACTIVE, updated_at=at, last_accessed=_later(memory.last_accessed, at))
    _write(engine, tx, revived)
    index_memory(tx, revived, generations, at)
    if revived.theme:
        open_theme(tx, revived.theme, at)
    audit.record(tx, engine.occasion, at, "memory.restored", Target("memory", memory.id))
    return revived


def reword_in(tx: Tx, memory: Memory, generations: Sequence[str], at: datetime) -> None:
    """A memory has other words now: the old ones are out of the index at once, and so is what was made of them."""
    tx.embeddings.drop([Target("memory", memory.id)])
    if memory.status is Status.ACTIVE:
        index_memory(tx, memory, generations, at)


def stands_for(tx: Tx, engine: Engine, memory: Memory) -> str | None:
    """The active memory that says the same, or what is current under its key: beside it an archived one would be too many."""
    twin = tx.memories.twin(twin_digest(tx.scope, memory.content, engine.config.pepper))
    if twin is not None:
        return twin.id
    current = tx.memories.keyed(memory.key) if memory.key else ()
    return current[0].id if current else None


def _known(tx: Tx, ids: Sequence[str]) -> list[Memory]:
    found = tx.memories.get(ids)
    for id in ids:
        if id not in found or found[id].deleted_at is not None:
            raise missing("memory", id)
    return [found[id] for id in dict.fromkeys(ids)]


def _write(engine: Engine, tx: Tx, memory: Memory) -> None:
    tx.memories.replace(memory, twin_digest(tx.scope, memory.content, engine.config.pepper))


def _later(a: datetime | None, b: datetime) -> datetime:
    return b if a is None else max(a, b)
