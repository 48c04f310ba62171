"""Questions and answers: what is asked of the memory, what it gives back, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from recollect.model.conversation import Message
from recollect.model.embedding import Kind, Target
from recollect.model.memory import Memory, MemoryType, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which things may be considered at all. Empty means no restriction; `tags` match when any of them is carried."""

    kinds: tuple[Kind, ...] = ("memory", "message")
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What `list` shows and in which order: newest first, ties broken by id, so that pages never overlap."""

    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    pinned: bool | None = None
    manually_saved: bool | None = None
    captured: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    expired_at: datetime | None = None
    """Only what has expired by then."""
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, and how it is to be answered."""

    text: str
    recipe: str = "native"
    limit: int | None = None
    """None: as many as the recipe says."""
    filter: Filter = field(default_factory=Filter)
    min_relevance: float | None = None
    token_budget: int | None = None
    now: datetime | None = None
    topic: str | None = None
    """What the session is about at the moment: its words are searched for too, and what is on topic ranks higher."""
    typing: bool = False
    """It is still being typed: its last word may be the beginning of a longer one."""
    history: tuple[str, ...] = ()
    """Earlier turns of the running conversation, oldest first: they resolve what a short follow-up leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer and why it is there. Exactly one of `memory` and `message` is set."""

    memory: Memory | None = None
    message: Message | None = None
    relevance: float
    """0 to 1, absolute: the same number means the same with every embedding model. 0.3 is the customary cut."""
    score: float
    """What the recipe ordered by; comparable only within one recall."""
    signals: Mapping[str, float] = field(default_factory=dict)
    truncated: bool = False
    tokens: int | None = None
    """Of its text; None where there was no budget to count for."""
    space: str | None = None
    """The space that shares it, when it isn't the one that was asked."""
    outdated_by: Target | None = None
    """A later word on what was asked, among the same hits: this one says how it was before."""

    @property
    def target(self) -> Target:
        """What it stands for, by kind and id."""
        if self.memory is not None:
            return Target("memory", self.memory.id)
        assert self.message is not None
        return Target("message", self.message.id)

    @property
    def content(self) -> str:
        """Its text, whichever of the two it is."""
        thing = self.memory if self.memory is not None else self.message
        assert thing is not None
        return thing.content

    @property
    def said_at(self) -> datetime:
        """When it was said or remembered."""
        thing = self.memory if self.memory is not None else self.message
        assert thing is not None
        return thing.created_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How a recall went: which stages ran, what they cost, what had to be left out."""

    recipe: str
    generation: str | None = None
    candidates: Mapping[str, int] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    token_count: int = 0
    truncated: bool = False
    rate_limited: bool = False
    """Over the limit of questions: what is shown, if anything, is what the same question found before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to a question: what was found, best first, and how. Iterating over it gives the hits."""

    hits: tuple[Hit, ...]
    trace: Trace

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of a longer list, and how long it is. Iterating over it gives the items."""

    items: tuple[T, ...]
    total: int
    limit: int
    offset: int

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
