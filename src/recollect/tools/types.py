"""Two vocabularies of memory types, and how ours are told in each.

A tool that promises five words never says a sixth: each of our types is told as the nearest word of the vocabulary, and asking
for that word finds all that are told as it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from recollect.model import MemoryType

ItemType = Literal["preference", "fact", "instruction", "summary", "other"]
RecallType = Literal["fact", "preference", "decision", "note"]

ITEM: Mapping[MemoryType, ItemType] = {
    MemoryType.FACT: "fact",
    MemoryType.PREFERENCE: "preference",
    MemoryType.DECISION: "fact",
    MemoryType.NOTE: "other",
    MemoryType.PATTERN: "other",
    MemoryType.INSTRUCTION: "instruction",
    MemoryType.SUMMARY: "summary",
    MemoryType.OTHER: "other",
}
RECALL: Mapping[MemoryType, RecallType] = {
    MemoryType.FACT: "fact",
    MemoryType.PREFERENCE: "preference",
    MemoryType.DECISION: "decision",
    MemoryType.NOTE: "note",
    MemoryType.PATTERN: "note",
    MemoryType.INSTRUCTION: "preference",
    MemoryType.SUMMARY: "note",
    MemoryType.OTHER: "note",
}


def meant_by(words: Iterable[str] | None, vocabulary: Mapping[MemoryType, str]) -> tuple[MemoryType, ...]:
    """Our types that are told as one of `words`; none for no words, which restricts nothing."""
    wanted = set(words or ())
    return tuple(type for type, word in vocabulary.items() if word in wanted)
