"""The searchable projection of a memory or message: what the index knows, and all it knows.

An entry exists exactly while its target can be recalled. Superseded and archived memories have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.model.embedding import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory or a message as search sees it."""

    target: Target
    terms: tuple[str, ...]
    """The analysed text, in order (`policy.text.analyse`): the same tokens on every store."""
    chars: int
    created_at: datetime
    dated: bool = True
    expires_at: datetime | None = None
    type: str | None = None
    theme: str | None = None
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    position: int = 0
    speaker: str | None = None
    role: str = "user"
    is_question: bool = False
    about_from: datetime | None = None
    about_until: datetime | None = None
    """The span of time the text speaks of, where it names one, as seen from when it was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An entry as it is now, with its vector in the generation asked for, if that is ready."""

    entry: Entry
    vector: Any | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What an in-memory copy of a scope's index needs to be current again.

    `revision` grows with every change of the scope's index. Removals are not listed: `purged` is the revision of the last
    one, and a copy older than that starts over from nothing.
    """

    revision: int
    purged: int
    size: int
    items: Sequence[Change] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate of one search leg: BM25 or ts_rank for the lexical leg, cosine for the dense one."""

    target: Target
    score: float
