"""Memories that can't both be true: which of them stays, who is asked, and how that is settled.

A new value finds the old ones through the slots both fill. Where it is sure of itself and comes later, it replaces them, and they
stay as history. Where it isn't, both stay, are flagged, and whoever wrote it gets a question back. Nothing is ever dropped here,
and everything decided here can be decided otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import require_writable, unseen
from recollect.engine.browse import missing, note
from recollect.engine.remembering.indexing import index_memory
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Draft, Flag, Memory, MemoryType, Scope, Source, Status, Target
from recollect.policy.conflicts import Reading, is_many, question, reading, ruled
from recollect.policy.digest import slot_digest, twin_digest
from recollect.policy.extraction import is_read_off
from recollect.ports import Judgement, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

CANDIDATES = 16
"""Memories that fill a slot of a new one and are held against it, the newest."""
FEW = 8
"""The newest that are about one thing a new memory brings news of."""
MOST_RIVALS = 40
MOST_FLAGS = 5
PATIENCE_S = 10.0
"""How long a judge may take over one memory; after that both stay and someone is asked."""
_OWN_WORDS = (Source.USER_STATED, Source.MANUAL)


@dataclass(frozen=True, slots=True)
class Claims:
    """What a new memory states; digests of the slots it fills, of what it is about, and of what it brings news of."""

    read: Reading
    slots: Sequence[str]
    topics: Sequence[str] = ()
    news: Sequence[str] = ()

    @property
    def filed(self) -> Sequence[str]:
        """Where others are to find it."""
        return [*self.slots, *self.topics]


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a new memory does to those that are there: `replaced` by it, `later` and so still current, or not sure at all."""

    replaced: Sequence[Memory] = ()
    later: Sequence[Memory] = ()
    unsure: Sequence[Memory] = ()


def claims_of(scope: Scope, content: str, pepper: bytes) -> Claims:
    read = reading(content)

    def digests(names: Iterable[str]) -> list[str]:
        return [slot_digest(scope, name, pepper) for name in names]

    return Claims(read, digests(each.slot for each in read.said), digests(read.topics), digests(read.news))


def state(tx: Tx, memory: Memory, pepper: bytes) -> None:
    """Let later values find a memory that is written by another way than `remember`."""
    tx.links.state(memory.id, claims_of(tx.scope, memory.content, pepper).filed)


def weigh(tx: Tx, draft: Draft, claims: Claims, rulings: Mapping[str, Judgement]) -> Weighed:
    """Hold a draft against what fills its slots. `rulings` are a judge's, by the words of the older memory."""
    replaced: list[Memory] = []
    later: list[Memory] = []
    unsure: list[Memory] = []
    many: list[Memory] = []
    for old in _rivals(tx, draft, claims):
        late = draft.created_at is not None and draft.created_at < old.created_at
        theirs = reading(old.content)
        verdict = ruled(theirs, claims.read) if late else ruled(claims.read, theirs)
        ruling = rulings.get(old.content, "unsure")
        if verdict is None or ruling == "both":
            continue
        if ruling == "unsure" and (verdict == "unsure" or not may_replace(draft, old)):
            (many if is_many(claims.read.said, theirs.said) else unsure).append(old)
        elif not late:
            replaced.append(old)
        else:
            (later if claims.read.alone else unsure).append(old)
    # Two that stand side by side already show that there may be several; and who tells what they like in a conversation tells
    # one thing after another, with nobody there to be asked.
    if len(many) != 1 or draft.source_message_id is not None:
        many = []
    return Weighed(replaced, later, [*unsure, *many][:MOST_FLAGS])


def _rivals(tx: Tx, draft: Draft, claims: Claims) -> list[Memory]:
    if draft.type is MemoryType.SUMMARY:
        return []
    ids = [*tx.links.stating(claims.slots, CANDIDATES)] if claims.slots else []
    # One by one: many may be about the same thing, and an index hands out the newest of one word without sorting them all.
    # What arrives late may have been changed since by what speaks of the change.
    for each in claims.news or (claims.topics if draft.created_at else ()):
        ids += tx.links.stating([each], FEW)
    ids = list(dict.fromkeys(ids))[:MOST_RIVALS]
    found = tx.memories.get(ids) if ids else {}
    return [found[id] for id in ids if id in found and found[id].type is not MemoryType.SUMMARY]


def may_replace(new: Draft | Memory, old: Memory) -> bool:
    """What its owner pinned, filed under a key or said in person is not replaced by less than that. A key that was read off what
    was said in a conversation is none that anybody chose."""
    chosen = old.source_message_id is None or not is_read_off(old.key or "", old.content)
    return (
        not old.pinned
        and (old.key is None or old.key == new.key or not chosen)
        and old.role == new.role
        and (new.source in _OWN_WORDS or old.source not in _OWN_WORDS)
    )


async def rulings(engine: Engine, scope: Scope, draft: Draft, claims: Claims) -> dict[str, Judgement]:
    """What the judge says of those that can't be told by rules; nothing without one, or when it can't or won't say."""
    judge = engine.judge
    if judge is None or not claims.filed:
        return {}
    found = await engine.store.read(scope, lambda tx: weigh(tx, draft, claims, {}))
    asked = [each.content for each in found.unsure]
    if not asked:
        return {}
    try:
        async with asyncio.timeout(PATIENCE_S):
            said = await judge(draft.content, asked)
    except (RecollectError, TimeoutError):
        return {}
    return dict(zip(asked, said, strict=True)) if len(said) == len(asked) else {}


def flag(tx: Tx, memory: Memory, unsure: Sequence[Memory], at: datetime) -> str | None:
    """Mark those that may not be true beside it; the question to ask about them."""
    if not unsure:
        return None
    tx.links.flag([Flag(memory_id=memory.id, other_id=each.id, at=at) for each in unsure])
    return question(memory.content, [each.content for each in unsure])


def retire(tx: Tx, memory: Memory, at: datetime, pepper: bytes) -> None:
    """Out of recall, as what was true before; questions about it have no point any more."""
    _write(tx, replace(memory, status=Status.SUPERSEDED, updated_at=at), pepper)
    target = Target("memory", memory.id)
    tx.index.drop([target])
    tx.embeddings.drop([target])
    tx.links.unflag(tx.links.flagged([memory.id]))
    tx.links.state(memory.id, ())


def file_as_history(tx: Tx, late: Memory, later: Sequence[Memory], pepper: bytes) -> Memory:
    """Put a statement that arrives late where it belongs in the line of what replaced what."""
    above = min(later, key=lambda each: (each.created_at, each.id))
    seen = {above.id}
    while above.supersedes and above.supersedes not in seen:
        below = tx.memories.get([above.supersedes]).get(above.supersedes)
        if below is None or below.created_at <= late.created_at:
            break
        above = below
        seen.add(above.id)
    filed = replace(late, status=Status.SUPERSEDED, supersedes=above.supersedes)
    _write(tx, replace(above, supersedes=late.id), pepper)
    return filed


async def conflicts(engine: Engine, scope: Scope, limit: int) -> Sequence[tuple[Memory, Memory]]:
    """Pairs that may not both be true, the later one first, newest pairs first. What is archived is not asked about."""

    def work(tx: Tx) -> Sequence[tuple[Memory, Memory]] | None:
        if unseen(tx, engine):
            return None
        flags = tx.links.all_flags(limit)
        found = tx.memories.get({id for each in flags for id in (each.memory_id, each.other_id)})
        pairs = [(found[each.memory_id], found[each.other_id]) for each in flags]
        return [pair for pair in pairs if all(each.status is Status.ACTIVE for each in pair)]

    open_pairs = await engine.store.read(scope, work)
    if open_pairs is None:
        return ()
    note(engine, scope, "conflict.listed", count=len(open_pairs))
    return open_pairs


async def resolve(engine: Engine, scope: Scope, id: str, keep: str) -> Memory:
    """Settle what is open about a memory, or decide anew what it replaced.

    `keep` is the id of the one that is true, or "both". What isn't kept stays as history.
    """
    generations = await engine.generations.to_fill()
    at, pepper = engine.clock.now(), engine.config.pepper

    def work(tx: Tx) -> Memory:
        require_writable(tx, engine)
        memory = tx.memories.get([id]).get(id)
        if memory is None:
            raise missing("memory", id)
        flags = tx.links.flagged([id])
        others = _others(tx, memory, flags)
        if not others:
            raise missing("conflict", id)
        if keep not in ("both", id, *others):
            raise InvalidInput(f"keep must be 'both' or one of {', '.join((id, *others))}")
        tx.links.unflag(flags)
        kept = {id, *others} if keep == "both" else {keep}
        settle_between(tx, {id: memory, **others}, kept, generations, at, pepper)
        audit.record(tx, engine.occasion, at, "conflict.resolved", Target("memory", id), kept=keep)
        return tx.memories.get([id if keep == "both" else keep])[id if keep == "both" else keep]

    settled = await engine.store.write(scope, work)
    engine.wake()
    return settled


def _others(tx: Tx, memory: Memory, flags: Sequence[Flag]) -> dict[str, Memory]:
    ids = {each.other_id if each.memory_id == memory.id else each.memory_id for each in flags}
    if not ids and memory.supersedes:
        ids = {memory.supersedes}
    return tx.memories.get(sorted(ids)) if ids else {}


def settle_between(
    tx: Tx,
    parties: Mapping[str, Memory],
    kept: Collection[str],
    generations: Sequence[str],
    at: datetime,
    pepper: bytes,
) -> None:
    """Those that are kept are current, the others history; one that stands alone says which it replaced."""
    gone = [each for each in parties.values() if each.id not in kept]
    for each in gone:
        before = None if each.supersedes in kept else each.supersedes
        if each.status is Status.ACTIVE:
            retire(tx, replace(each, supersedes=before), at, pepper)
    for id in kept:
        each = parties[id]
        before = None if each.supersedes in kept else each.supersedes
        if gone and (before is None or before in {other.id for other in gone}):
            before = max(gone, key=lambda other: (other.created_at, other.id)).id
        after = replace(each, status=Status.ACTIVE, supersedes=before, updated_at=at)
        _write(tx, after, pepper)
        if each.status is not Status.ACTIVE:
            index_memory(tx, after, generations, at)
            state(tx, after, pepper)


def _write(tx: Tx, memory: Memory, pepper: bytes) -> None:
    tx.memories.replace(memory, twin_digest(tx.scope, memory.content, pepper))
