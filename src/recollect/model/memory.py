"""A memory: one curated thing that was stated, extracted, saved or rolled up, with everything the five contracts know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class MemoryType(StrEnum):
    """What sort of thing a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    NOTE = "note"
    PATTERN = "pattern"
    INSTRUCTION = "instruction"
    SUMMARY = "summary"
    OTHER = "other"


class Source(StrEnum):
    """Who says so."""

    USER_STATED = "user_stated"
    INFERRED = "inferred"
    SYSTEM = "system"
    MANUAL = "manual"
    IMPORT = "import"


class Status(StrEnum):
    """Only `active` memories are recalled; the others stay visible to their owner and can be restored."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The ranking a memory last got, kept so that trimming and people can see why it is still here."""

    relevance: float
    recency: float
    importance: float
    total: float
    computed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing that is remembered, with where it comes from and how it has fared."""

    id: str
    content: str
    type: MemoryType = MemoryType.FACT
    theme: str | None = None
    key: str | None = None
    value: Any = None
    role: str = "user"
    source: Source = Source.USER_STATED
    confidence: float = 1.0
    importance: float = 0.5
    base_importance: float = 0.5
    pinned: bool = False
    manually_saved: bool = False
    tags: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    source_conversation_id: str | None = None
    source_message_id: str | None = None
    source_expired_at: datetime | None = None
    """When the conversation it was taken from reached its end and was removed. What was learnt from it stays."""
    metadata_confidence: float = 0.0
    simhash: int = 0
    repeat_count: int = 0
    status: Status = Status.ACTIVE
    supersedes: str | None = None
    created_at: datetime
    updated_at: datetime
    last_accessed: datetime | None = None
    access_count: int = 0
    expires_at: datetime | None = None
    deleted_at: datetime | None = None
    last_scores: Scores | None = None

    @property
    def kept(self) -> bool:
        """Whether somebody asked for this very memory to stay: no cap and no ageing touches it."""
        return self.pinned or self.manually_saved or self.source is Source.MANUAL

    @property
    def captured(self) -> bool:
        """Whether it came in by itself, inferred or taken from a conversation. What somebody handed over in person did not."""
        by_itself = self.source in (Source.INFERRED, Source.SYSTEM)
        from_talk = self.source is Source.USER_STATED and self.source_conversation_id is not None
        return not self.kept and (by_itself or from_talk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a writer proposes to remember. `id` and `created_at` are normally left to the engine; importers set them."""

    content: str
    type: MemoryType = MemoryType.FACT
    theme: str | None = None
    key: str | None = None
    value: Any = None
    role: str = "user"
    source: Source = Source.USER_STATED
    confidence: float = 1.0
    importance: float | None = None
    pinned: bool = False
    manually_saved: bool = False
    tags: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    source_conversation_id: str | None = None
    source_message_id: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """The fields an edit changes: names of `Draft`, nothing else."""

    changes: Mapping[str, Any] = field(default_factory=dict)
