"""Examining a memory: what is there twice, what can't both be true, what nobody needs, what is too large.

Duplicates are texts of one form (`policy.duplicates`): a copy says nothing the other doesn't. Near duplicates look alike to the
hash but differ in some detail, and a detail may be all that matters: they are shown, never merged. Contradictions are those that
were flagged when they were told, and pairs that give one slot two values now.

What is stale has been neither told nor used for half a year; what was never used has been there for a month without answering
anything. What somebody asked to be kept is neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from recollect.model import Finding, Flag, Memory
from recollect.policy.conflicts import judged, statements
from recollect.policy.decay import age
from recollect.policy.duplicates import form_of
from recollect.policy.slots import Statement

STALE_AFTER = timedelta(days=180)
UNUSED_AFTER = timedelta(days=30)
LARGE_CHARS = 8000
"""More than a prompt's share of memory holds: such a text is never shown whole."""
ALIKE_BITS = 3
"""Hashes that differ in no more are worth a look, though the texts say different things."""
MOST_COMPARED = 50
"""Neighbours in one band of hashes, or statements about one slot, that are compared with each other."""


def examined(memories: Sequence[Memory], flags: Iterable[Flag], now: datetime) -> list[Finding]:
    """`memories` are the active ones."""
    living = [memory for memory in memories if memory.expires_at is None or memory.expires_at > now]
    copies = list(_duplicates(living))
    return [
        *copies,
        *_near(living, {id for each in copies for id in each.ids[1:]}),
        *_contradictions(living, flags),
        *(_expired(memory) for memory in memories if memory.expires_at is not None and memory.expires_at <= now),
        *(finding for memory in living if (finding := _unneeded(memory, now)) is not None),
        *(_oversized(memory) for memory in living if len(memory.content) > LARGE_CHARS),
    ]


def _duplicates(memories: Sequence[Memory]) -> Iterator[Finding]:
    """Only what says the same in every respect: the same words under another key are another fact."""
    alike: dict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for memory in memories:
        alike[form_of(memory.content), memory.key, repr(memory.value), memory.type, memory.theme].append(memory)
    for group in alike.values():
        if len(group) > 1:
            group.sort(key=lambda each: (not each.kept, -each.importance, -each.access_count, each.created_at, each.id))
            why = f"{len(group)} memories say the same; the first is kept on purpose, matters most or is the oldest"
            yield Finding(concern="duplicates", ids=tuple(each.id for each in group), why=why)


def _near(memories: Sequence[Memory], copies: set[str]) -> Iterator[Finding]:
    bands: dict[tuple[int, int], list[Memory]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for memory in memories:
        if memory.id in copies:
            continue
        for place in range(4):
            neighbours = bands[place, (memory.simhash >> (16 * place)) & 0xFFFF]
            for other in neighbours[-MOST_COMPARED:]:
                apart = (memory.simhash ^ other.simhash).bit_count()
                if apart <= ALIKE_BITS and (other.id, memory.id) not in seen:
                    seen.add((other.id, memory.id))
                    why = f"their hashes differ in {apart} of 64 bits, and yet they say something different"
                    yield Finding(concern="near_duplicates", ids=(other.id, memory.id), why=why)
            neighbours.append(memory)


def _contradictions(memories: Sequence[Memory], flags: Iterable[Flag]) -> Iterator[Finding]:
    known = {memory.id for memory in memories}
    seen: set[frozenset[str]] = set()
    for flag in flags:
        if flag.memory_id in known and flag.other_id in known:
            seen.add(frozenset((flag.memory_id, flag.other_id)))
            why = "flagged when the first was told: perhaps only one of them is true"
            yield Finding(concern="contradictions", ids=(flag.memory_id, flag.other_id), why=why)
    for newer, older, why in _conflicting(memories):
        if (pair := frozenset((newer.id, older.id))) not in seen:
            seen.add(pair)
            yield Finding(concern="contradictions", ids=(newer.id, older.id), why=why)


def _conflicting(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, str]]:
    """Pairs that can't both be current, the newer first."""
    stated: dict[str, list[tuple[Memory, list[Statement]]]] = defaultdict(list)
    keyed: dict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda each: (each.created_at, each.id)):
        if memory.key is not None:
            for other in keyed[memory.key][-MOST_COMPARED:]:
                yield memory, other, "two current values under one key"
            keyed[memory.key].append(memory)
        said = statements(memory.content)
        for slot in {each.slot for each in said}:
            for other, before in stated[slot][-MOST_COMPARED:]:
                if judged(said, before) == "replaces":
                    yield memory, other, "two current values for what holds one"
            stated[slot].append((memory, said))


def _unneeded(memory: Memory, now: datetime) -> Finding | None:
    if memory.kept:
        return None
    unused = age(max(memory.updated_at, memory.last_accessed or memory.updated_at), now)
    if unused >= STALE_AFTER:
        return Finding(concern="stale", ids=(memory.id,), why=f"neither told nor used for {unused.days} days")
    there = age(memory.created_at, now)
    if memory.access_count == 0 and there >= UNUSED_AFTER:
        return Finding(concern="never_used", ids=(memory.id,), why=f"never used in {there.days} days")
    return None


def _expired(memory: Memory) -> Finding:
    return Finding(concern="expired", ids=(memory.id,), why=f"expired on {memory.expires_at:%Y-%m-%d}, still there")


def _oversized(memory: Memory) -> Finding:
    why = f"{len(memory.content):,} characters; more than {LARGE_CHARS:,} are never shown whole"
    return Finding(concern="oversized", ids=(memory.id,), why=why)
