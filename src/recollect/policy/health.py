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
from typing import Any

from recollect.model import Concern, Finding, Flag, Memory
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

REASONS = {
    "same": "{count} memories say the same; the first is kept on purpose, matters most or is the oldest",
    "alike": "their hashes differ in {bits} of 64 bits, and yet they say something different",
    "flagged": "flagged when the first was told: perhaps only one of them is true",
    "one_key": "two current values under one key",
    "one_value": "two current values for what holds one",
    "unused": "neither told nor used for {days} days",
    "never": "never used in {days} days",
    "ended": "expired on {date}, still there",
    "long": "{chars:,} characters; more than {most:,} are never shown whole",
    "waiting": "has no embedding yet",
    "unqueued": "has no place in the embedding queue",
    "gave_up": "no embedding after {attempts} attempts: {error}",
}
"""Why something is of concern, by name."""


def finding(concern: Concern, ids: Iterable[str], reason: str, **facts: Any) -> Finding:
    return Finding(concern=concern, ids=tuple(ids), why=REASONS[reason].format(**facts), reason=reason, facts=facts)


def examined(memories: Sequence[Memory], flags: Iterable[Flag], now: datetime) -> list[Finding]:
    """`memories` are the active ones."""
    living = [memory for memory in memories if memory.expires_at is None or memory.expires_at > now]
    copies = list(_duplicates(living))
    return [
        *copies,
        *_near(living, {id for each in copies for id in each.ids[1:]}),
        *_contradictions(living, flags),
        *(_expired(memory) for memory in memories if memory.expires_at is not None and memory.expires_at <= now),
        *(unneeded for memory in living if (unneeded := _unneeded(memory, now)) is not None),
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
            yield finding("duplicates", (each.id for each in group), "same", count=len(group))


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
                    yield finding("near_duplicates", (other.id, memory.id), "alike", bits=apart)
            neighbours.append(memory)


def _contradictions(memories: Sequence[Memory], flags: Iterable[Flag]) -> Iterator[Finding]:
    known = {memory.id for memory in memories}
    seen: set[frozenset[str]] = set()
    for flag in flags:
        if flag.memory_id in known and flag.other_id in known:
            seen.add(frozenset((flag.memory_id, flag.other_id)))
            yield finding("contradictions", (flag.memory_id, flag.other_id), "flagged")
    for newer, older, reason in _conflicting(memories):
        if (pair := frozenset((newer.id, older.id))) not in seen:
            seen.add(pair)
            yield finding("contradictions", (newer.id, older.id), reason)


def _conflicting(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, str]]:
    """Pairs that can't both be current, the newer first."""
    stated: dict[str, list[tuple[Memory, list[Statement]]]] = defaultdict(list)
    keyed: dict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda each: (each.created_at, each.id)):
        if memory.key is not None:
            for other in keyed[memory.key][-MOST_COMPARED:]:
                yield memory, other, "one_key"
            keyed[memory.key].append(memory)
        said = statements(memory.content)
        for slot in {each.slot for each in said}:
            for other, before in stated[slot][-MOST_COMPARED:]:
                if judged(said, before) == "replaces":
                    yield memory, other, "one_value"
            stated[slot].append((memory, said))


def _unneeded(memory: Memory, now: datetime) -> Finding | None:
    if memory.kept:
        return None
    unused = age(max(memory.updated_at, memory.last_accessed or memory.updated_at), now)
    if unused >= STALE_AFTER:
        return finding("stale", [memory.id], "unused", days=unused.days)
    there = age(memory.created_at, now)
    if memory.access_count == 0 and there >= UNUSED_AFTER:
        return finding("never_used", [memory.id], "never", days=there.days)
    return None


def _expired(memory: Memory) -> Finding:
    return finding("expired", [memory.id], "ended", date=f"{memory.expires_at:%Y-%m-%d}")


def _oversized(memory: Memory) -> Finding:
    return finding("oversized", [memory.id], "long", chars=len(memory.content), most=LARGE_CHARS)
