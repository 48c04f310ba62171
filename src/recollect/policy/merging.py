"""What a memory becomes when it is told again: nothing of either telling is lost, and each can be taken out again.

Merging is a fold: the first telling, then each later one in its place. So taking one out is folding the others, and the result
is what it would have been without it, to the letter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.model import Memory
from recollect.policy.importance import with_repeats

MERGED = (
    "repeat_count", "base_importance", "importance", "confidence", "pinned", "manually_saved", "tags", "source_ids",
    "source_message_id", "source_conversation_id", "expires_at", "updated_at",
)  # fmt: skip
"""The fields in which tellings come together. All others are those of the first."""

Telling = tuple[int, datetime, Memory]
"""The place of a telling, when it came, and the memory it would be alone."""


def absorbed(memory: Memory, other: Memory, at: datetime, settled: Collection[str] = ()) -> Memory:
    """`memory`, told once more as `other`. What somebody has `settled` since then stays as they said."""
    repeats = memory.repeat_count + 1
    base = memory.base_importance if "importance" in settled else max(memory.base_importance, other.base_importance)
    # Said twice, a thing no longer hangs on either message alone, and outlives both.
    same_origin = memory.source_message_id == other.source_message_id
    values: dict[str, Any] = {
        "base_importance": base,
        "importance": with_repeats(base, repeats),
        "confidence": max(memory.confidence, other.confidence),
        "pinned": memory.pinned or other.pinned,
        "manually_saved": memory.manually_saved or other.manually_saved,
        "tags": tuple(dict.fromkeys((*memory.tags, *other.tags))),
        "source_ids": tuple(dict.fromkeys((*memory.source_ids, *other.source_ids))),
        "source_message_id": memory.source_message_id if same_origin else None,
        "source_conversation_id": memory.source_conversation_id if same_origin else None,
        "expires_at": _later(memory.expires_at, other.expires_at),
    }
    kept = {name: value for name, value in values.items() if name not in settled}
    return replace(memory, repeat_count=repeats, updated_at=max(memory.updated_at, at), **kept)


def folded(now: Memory, first: Memory, others: Iterable[Telling], settled: Mapping[str, int]) -> Memory:
    """`now` with its merged fields made anew from its tellings; `settled` says up to which place a field was decided."""
    memory = replace(now, **{name: getattr(first, name) for name in MERGED})
    for place, at, other in others:
        memory = absorbed(memory, other, at, {name for name, until in settled.items() if place <= until})
    return memory


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    return None if a is None or b is None else max(a, b)
