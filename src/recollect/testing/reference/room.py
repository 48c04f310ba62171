"""Everything one scope holds, as plain data. A transaction works on a copy, then puts it in its place."""

from __future__ import annotations

from collections.abc import Container
from copy import copy, deepcopy
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.model import (
    AuditEvent,
    Conversation,
    EmbeddingState,
    Entry,
    Flag,
    Memory,
    Message,
    Repeat,
    SpaceSettings,
    Target,
    Theme,
    Tombstone,
    Use,
    WorkingMemory,
)
from recollect.ports import Vector

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


D = TypeVar("D", bound="DataclassInstance")


def kept(thing: D) -> D:
    """A thing as a store keeps it: times in UTC, and nothing in it still the caller's to change."""
    values = {each.name: getattr(thing, each.name) for each in fields(thing)}
    return type(thing)(**{name: _kept_value(value) for name, value in values.items()})


def _kept_value(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else deepcopy(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """One target in one generation: its vector, or how far it has come."""

    state: EmbeddingState
    content_hash: str
    due_at: datetime | None
    queued_at: datetime
    updated_at: datetime
    attempts: int = 0
    error: str | None = None
    vector: Vector | None = None


@dataclass(slots=True, kw_only=True)
class Room:
    """The state of one scope. What its dictionaries hold is frozen, so copying the dictionaries is enough."""

    revision: int = 0
    purged: int = 0
    settings: SpaceSettings = field(default_factory=SpaceSettings)
    memories: dict[str, Memory] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    repeats: dict[tuple[str, str], Repeat] = field(default_factory=dict)
    flags: dict[tuple[str, str], Flag] = field(default_factory=dict)
    slots: dict[str, frozenset[str]] = field(default_factory=dict)
    uses: dict[tuple[str, str], Use] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    entries: dict[Target, Entry] = field(default_factory=dict)
    revisions: dict[Target, int] = field(default_factory=dict)
    embeddings: dict[tuple[Target, str], Embedding] = field(default_factory=dict)
    themes: dict[str, Theme] = field(default_factory=dict)
    tombstones: dict[str, Tombstone] = field(default_factory=dict)
    audit: dict[str, AuditEvent] = field(default_factory=dict)
    sessions: dict[str, tuple[bool, datetime]] = field(default_factory=dict)
    working: dict[str, WorkingMemory] = field(default_factory=dict)

    def copy(self) -> Room:
        return Room(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})

    def fill(self, other: Room) -> None:
        """Become what `other` is."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    def content(self, target: Target) -> str | None:
        """The text a target stands for, or None when it is gone."""
        if target.kind == "message":
            message = self.messages.get(target.id)
            return None if message is None else message.found_by
        memory = self.memories.get(target.id)
        return None if memory is None else memory.content

    def work_due(self, alive: Container[str]) -> datetime | None:
        """When the next embedding work of a living generation is due."""
        due = (row.due_at for (_, its), row in self.embeddings.items() if row.due_at is not None and its in alive)
        return min(due, default=None)
