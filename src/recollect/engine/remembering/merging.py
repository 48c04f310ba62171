"""Telling again, and taking it back: how a repeat is tied to the memory it repeats, and how it becomes one of its own again.

No second memory is made, but every telling is kept as it came, the first one too. So a merge can be undone exactly, and whoever
forgets a conversation takes out of a memory what was told there and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable, unseen
from recollect.engine.browse import missing, note
from recollect.engine.exporting.lines import line_of, telling_of
from recollect.engine.remembering.disputes import state
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.themes import open_theme
from recollect.model import Memory, Repeat, Scope, Status, Target
from recollect.policy.digest import twin_digest
from recollect.policy.duplicates import fingerprint, form_of, kinds
from recollect.policy.ids import new_id
from recollect.policy.merging import MERGED, Telling, absorbed, folded
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

SETTLED = "settled"
"""Kept with the first telling: which fields its owner has decided since, and up to which telling."""


def tell_again(tx: Tx, memory: Memory, other: Memory, at: datetime, digest: str) -> tuple[Memory, str]:
    """Tie `other` to the memory it repeats; that memory as it is now, and the name of the telling."""
    last = tx.links.last_place(memory.id)
    if last is None:
        tx.links.keep(telling(memory, memory.id, memory.id, 0, memory.created_at))
    place = (last or 0) + 1
    name = other.id if other.id != memory.id else new_id(at)
    tx.links.keep(telling(other, memory.id, name, place, at))
    merged = absorbed(memory, other, at)
    tx.memories.replace(merged, digest)
    if (merged.tags, merged.expires_at) != (memory.tags, memory.expires_at):
        index_memory(tx, merged, (), at)
    return merged, name


def telling(
    memory: Memory, of: str, name: str, place: int, at: datetime, settled: Mapping[str, int] | None = None
) -> Repeat:
    fields = line_of("memory", memory, leave_out=("id", "content", "simhash"))
    del fields["kind"]
    if settled:
        fields[SETTLED] = dict(settled)
    source = memory.source_message_id
    return Repeat(
        memory_id=of, id=name, place=place, content=memory.content, source_message_id=source, fields=fields, at=at
    )


async def repeats(engine: Engine, scope: Scope, memory_id: str) -> Sequence[Repeat]:
    """Every telling of a memory, the first one first; none when it was told once."""

    def work(tx: Tx) -> Sequence[Repeat]:
        if unseen(tx, engine) or memory_id not in tx.memories.get([memory_id]):
            raise missing("memory", memory_id)
        return tx.links.repeats([memory_id])

    told = await engine.store.read(scope, work)
    note(engine, scope, "memory.read", Target("memory", memory_id), repeats=len(told))
    return told


async def unmerge(engine: Engine, scope: Scope, memory_id: str, repeat_id: str) -> Memory:
    """Make one telling a memory of its own; the one it was merged into is then as it would have been without it."""
    generations = await engine.generations.to_fill()
    at = engine.clock.now()

    def work(tx: Tx) -> Memory:
        require_writable(tx, engine)
        memory = tx.memories.get([memory_id]).get(memory_id)
        if memory is None:
            raise missing("memory", memory_id)
        told = {each.id: each for each in tx.links.repeats([memory_id])}
        if repeat_id == memory_id or repeat_id not in told:
            raise missing("repeat", repeat_id)
        alone = telling_of(told[repeat_id])
        if alone.id in tx.memories.get([alone.id]):
            alone = replace(alone, id=new_id(at))
        left = [each for each in told.values() if each.id != repeat_id]
        untied = [[left[place] for place in group] for group in kinds([each.content for each in left])]
        gone = {repeat_id, *(each.id for group in untied[1:] for each in group)}
        take_out(tx, engine, memory, list(told.values()), gone, generations)
        _stand_alone(tx, engine, alone, generations)
        for group in untied[1:]:
            _told_apart(tx, engine, group, generations)
        audit.record(tx, engine.occasion, at, "memory.unmerged", Target("memory", alone.id), of=memory_id)
        return alone

    alone = await engine.store.write(scope, work)
    engine.wake()
    return alone


def _stand_alone(tx: Tx, engine: Engine, alone: Memory, generations: Sequence[str]) -> None:
    at = engine.clock.now()
    tx.memories.insert(alone, twin_digest(tx.scope, alone.content, engine.config.pepper))
    index_memory(tx, alone, generations, at)
    state(tx, alone, engine.config.pepper)
    if alone.theme:
        open_theme(tx, alone.theme, at)


def _told_apart(tx: Tx, engine: Engine, group: Sequence[Repeat], generations: Sequence[str]) -> None:
    """Tellings that only the one taken out had tied to the others are a memory of their own again."""
    memory = telling_of(group[0])
    _stand_alone(tx, engine, memory, generations)
    digest = twin_digest(tx.scope, memory.content, engine.config.pepper)
    for each in group[1:]:
        memory, _ = tell_again(tx, memory, telling_of(each), each.at, digest)


def take_out(
    tx: Tx,
    engine: Engine,
    memory: Memory,
    told: Sequence[Repeat],
    gone: Collection[str],
    generations: Sequence[str] = (),
) -> Memory:
    """A memory without some of its tellings. Without the first, the next one speaks in its place."""
    left = [each for each in told if each.id not in gone]
    tx.links.drop(memory.id, [each.id for each in told if each.id in gone])
    speaker = left[0]
    settled: dict[str, int] = dict(told[0].fields.get(SETTLED, {})) if speaker.place == 0 else {}
    first = telling_of(speaker)
    others: list[Telling] = [(each.place, each.at, telling_of(each)) for each in left[1:]]
    after = folded(memory, first, others, settled)
    if speaker.content != memory.content and speaker.place:
        after = replace(after, content=speaker.content, simhash=fingerprint(speaker.content))
    if not others:
        tx.links.drop(memory.id, [speaker.id])
    elif speaker.place:
        tx.links.drop(memory.id, [speaker.id])
        tx.links.keep(replace(speaker, id=memory.id, place=0))
    tx.memories.replace(after, twin_digest(tx.scope, after.content, engine.config.pepper))
    if after.status is Status.ACTIVE:
        index_memory(tx, after, generations if after.content != memory.content else (), engine.clock.now())
    return after


def forget_tellings(tx: Tx, engine: Engine, message_ids: Iterable[str], generations: Sequence[str]) -> int:
    """Take out of memories what was told in these messages; memories that were told there alone are not its business."""
    gone: dict[str, set[str]] = {}
    for each in tx.links.repeats_from(message_ids):
        gone.setdefault(each.memory_id, set()).add(each.id)
    memories = tx.memories.get(gone)
    told: dict[str, list[Repeat]] = {}
    for each in tx.links.repeats(gone):
        told.setdefault(each.memory_id, []).append(each)
    for id, memory in memories.items():
        if len(gone[id]) < len(told[id]):
            take_out(tx, engine, memory, told[id], gone[id], generations)
    return sum(len(each) for each in gone.values())


def settle(tx: Tx, before: Memory, after: Memory, changed: Iterable[str]) -> None:
    """An edit is the last word: it holds for the tellings so far, and other words leave nothing of theirs."""
    told = tx.links.repeats([after.id])
    if not told:
        return
    if form_of(before.content) != form_of(after.content):
        tx.links.drop(after.id, [each.id for each in told])
        return
    first, last = told[0], told[-1].place
    decided: dict[str, Any] = dict.fromkeys(set(changed).intersection(MERGED), last)
    mine = telling_of(first)
    edited = {name: getattr(after, name) for name in (*decided, "updated_at")}
    if "importance" in decided:
        edited["base_importance"] = after.base_importance
    kept = {**first.fields.get(SETTLED, {}), **decided}
    tx.links.keep(telling(replace(mine, content=after.content, **edited), after.id, after.id, 0, first.at, kept))
