"""Conversations and their verbatim messages, and the working memory of a session that is still going on.

A contract's `session_id` is the conversation's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation without its messages."""

    id: str
    title: str | None = None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    message_count: int = 0
    is_summarized: bool = False
    summary: str | None = None
    databases: tuple[str, ...] = ()
    database_tags: tuple[str, ...] = ()
    summary_grounds: tuple[str, ...] | None = None
    """Of a data chat: the tables and databases that the summary speaks of (see `Message.grounds`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One verbatim turn. `role` is the part someone plays (user, assistant, system, tool); `name` is who it was."""

    id: str
    session_id: str
    order: int
    role: str
    content: str
    name: str | None = None
    correlation_id: str | None = None
    created_at: datetime
    dated: bool = True
    """False when nobody said when it was: `created_at` is then only the time of storing and means nothing to a question."""
    sql_query: str | None = None
    query_explanation: str | None = None
    tables_used: tuple[str, ...] = ()
    execution_result: Any = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    execution_time_ms: float | None = None
    partial: bool = False
    searchable: str | None = None
    """What it is found by, where that isn't what was said: of an answer over data its question, query and tables. Empty: it is
    kept and never found, like what a tool returned, or a reply that only quotes the memory."""
    grounds: tuple[str, ...] | None = None
    """Of an answer over data: what it rests on, all of which somebody must be allowed to use to see it. A table by its name, a
    database as `name.*`, and `?` where nobody knows."""

    @property
    def found_by(self) -> str:
        """The text that searches look at."""
        return self.content if self.searchable is None else self.searchable


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message on its way in: the store gives it an order, the engine an id and a time where they are missing."""

    role: str
    content: str
    name: str | None = None
    created_at: datetime | None = None
    id: str | None = None
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """What a session that is still going on is about."""

    session_id: str
    current_topic: str | None = None
    context_variables: Mapping[str, Any] = field(default_factory=dict)
    turn_count: int = 0
    last_emotion: str | None = None
    created_at: datetime
    updated_at: datetime
