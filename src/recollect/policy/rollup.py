"""Roll-ups: which old memories belong together, and what is left of them in a few lines.

Only what has not been used for long is rolled up, and only what several memories say about one matter. Never what somebody asked
to be kept, instructions (they stand word for word), values of what has one at a time (a newer one replaces them), what will
expire by itself, or another summary.

Without a language model a summary is an extract: whole sentences of the originals, each after the day it was told, because "last
Saturday" means nothing without it. Nothing in it is ours, and every line can be traced to its original: when one of the originals
is forgotten its lines go, and the rest stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from recollect.model import Memory, MemoryType, Status
from recollect.policy.budget import count_tokens
from recollect.policy.conflicts import statements
from recollect.policy.decay import age
from recollect.policy.text import analyse

MARK = "roll_up"
"""The name under which a summary's value says that it is a roll-up, and by whom it was written."""
AFTER = timedelta(days=30)
FEWEST, MOST = 3, 12
MOST_CANDIDATES = 2000
TOKENS = 300
WHETHER = ("whether|", "是否|")
"""Slots that hold no value, only whether something is so."""

_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？；])\s*|\n+")
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|jr|sr|inc|ltd|approx)\.$", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}: ")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def is_roll_up(memory: Memory) -> bool:
    return memory.type is MemoryType.SUMMARY and isinstance(memory.value, Mapping) and MARK in memory.value


def is_extract(memory: Memory) -> bool:
    """Whether every line of it stands in one of its originals."""
    return is_roll_up(memory) and memory.value[MARK] == "extract"


def may_be_rolled_up(memory: Memory, now: datetime, after: timedelta = AFTER) -> bool:
    return (
        memory.status is Status.ACTIVE
        and not memory.kept
        and memory.type not in (MemoryType.SUMMARY, MemoryType.INSTRUCTION)
        and memory.key is None
        and memory.expires_at is None
        and age(max(memory.created_at, memory.last_accessed or memory.created_at), now) >= after
        and not _may_change(memory.content)
    )


def _may_change(text: str) -> bool:
    """Whether it gives the one value of something, such as a home or a time: a newer one has to find it and replace it."""
    return any(each.holds == "one" and not each.slot.startswith(WHETHER) for each in statements(text))


def clusters(candidates: Iterable[Memory], alike: Callable[[Memory, Memory], bool]) -> list[list[Memory]]:
    """Memories of one theme that resemble the first of their kind, oldest first; groups too small to be worth it are left out."""
    groups: list[list[Memory]] = []
    for memory in sorted(candidates, key=lambda each: (each.created_at, each.id))[:MOST_CANDIDATES]:
        for group in groups:
            if len(group) < MOST and group[0].theme == memory.theme and alike(group[0], memory):
                group.append(memory)
                break
        else:
            groups.append([memory])
    return [group for group in groups if len(group) >= FEWEST]


def overlapping(a: Memory, b: Memory) -> float:
    """How many of their words two memories share, where there are no vectors to compare."""
    one, other = set(analyse(a.content)), set(analyse(b.content))
    return len(one & other) / len(one | other) if one and other else 0.0


def extract(memories: Sequence[Memory], tokens: int = TOKENS) -> str:
    """The best sentences within a budget: of every memory the one that adds most, then whatever adds most for its length."""
    lines = _lines(memories)
    chosen: list[int] = []
    seen: set[str] = set()
    room = tokens

    def take(place: int) -> None:
        nonlocal room
        chosen.append(place)
        seen.update(lines[place][2])
        room -= count_tokens(lines[place][1])

    def gain(place: int) -> float:
        _, line, terms = lines[place]
        return len(terms - seen) / max(count_tokens(line), 1)

    def fits(place: int) -> bool:
        return place not in chosen and count_tokens(lines[place][1]) <= room and bool(lines[place][2] - seen)

    for memory in memories:
        own = [place for place, (id, _, _) in enumerate(lines) if id == memory.id and fits(place)]
        if own:
            take(max(own, key=lambda place: (len(lines[place][2] - seen), -place)))
    while rest := [place for place in range(len(lines)) if fits(place)]:
        take(max(rest, key=lambda place: (gain(place), -place)))
    return "\n".join(lines[place][1] for place in sorted(chosen))


def without(summary: Memory, gone: Collection[Memory], left: Sequence[Memory]) -> str | None:
    """What a roll-up says when some of its originals are `gone` and these are `left`; None when nothing remains to be said.

    Of an extract, the lines of those that are gone go. What a model wrote can't be taken apart: it gives way to an extract of
    those that are left.
    """
    if not is_extract(summary):
        return extract(left) or None
    said = {_bare(sentence) for memory in gone for sentence in sentences(memory.content)}
    lines = [line for line in summary.content.split("\n") if _bare(_DAY.sub("", line, count=1)) not in said]
    return "\n".join(lines) or None


def trustworthy(summary: str, originals: Sequence[Memory], tokens: int = TOKENS) -> bool:
    """Whether what a model wrote may stand for the originals: something, not too long, and without a number none of them has."""
    known = {number for memory in originals for number in _NUMBER.findall(memory.content)}
    known |= {number for memory in originals for number in _NUMBER.findall(f"{memory.created_at:%Y-%m-%d %Y %m %d}")}
    known |= {number.lstrip("0") for number in known}
    return bool(summary.strip()) and count_tokens(summary) <= tokens and set(_NUMBER.findall(summary)) <= known


def sentences(text: str) -> list[str]:
    parts: list[str] = []
    for part in (piece.strip() for piece in _END.split(text)):
        if parts and _ABBREVIATED.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def _lines(memories: Sequence[Memory]) -> list[tuple[str, str, set[str]]]:
    """Every sentence once, as a line with its day: whose it is, the line, and what it is about."""
    lines: dict[str, tuple[str, str, set[str]]] = {}
    for memory in memories:
        for sentence in sentences(memory.content):
            terms = set(analyse(sentence)) or {sentence}
            lines.setdefault(_bare(sentence), (memory.id, f"{memory.created_at:%Y-%m-%d}: {sentence}", terms))
    return list(lines.values())


def _bare(sentence: str) -> str:
    return " ".join(sentence.casefold().split()).rstrip(" .!。！;；…")
