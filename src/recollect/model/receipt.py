"""Receipts say exactly what a write did, so that "added" can never mean "lost"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from recollect.model.embedding import EmbeddingState

Outcome = Literal["stored", "merged", "superseded", "refused"]
Refusal = Literal["tombstone", "memory_off", "incognito", "read_only", "secret", "duplicate_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`stored`: a new memory. `merged`: it repeated `id`, which was strengthened. `superseded`: stored, and `replaces`
    is no longer current. `refused`: nothing was written, `reason` says why and `until` how long that holds."""

    id: str | None
    outcome: Outcome
    embedding: EmbeddingState
    reason: Refusal | None = None
    replaces: str | None = None
    until: datetime | None = None
    masked: tuple[str, ...] = ()
    """The kinds of secrets or personal data that were blotted out before anything was stored."""
    repeat: str | None = None
    """Of what was merged: the name under which this telling is kept, and by which the merge can be undone."""
    conflicts: tuple[str, ...] = ()
    """Memories that may no longer be true beside this one. They stay until someone says which is right."""
    confirm: str | None = None
    """What to ask that someone, in words."""
    warnings: tuple[str, ...] = ()
    """`injection`: the text reads like instructions to a model. It is kept, and always shown as data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsReceipt:
    """`ids` in the order given; `stored` counts the new ones, the rest were there already under the same id."""

    session_id: str
    ids: tuple[str, ...]
    stored: int
    embedding: EmbeddingState
    masked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What was removed, counted. `scrubbed` says that the store's files are free of it as well; `scrub_owed`, that they are not
    yet, and that a worker sees to it. Neither: this store can't, and it is up to whoever runs the database."""

    memories: int = 0
    messages: int = 0
    conversations: int = 0
    index_entries: int = 0
    vectors: int = 0
    derived: int = 0
    tombstones: int = 0
    scrubbed: bool = False
    scrub_owed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReceipt:
    """What an import brought: new, there already, or refused, counted."""

    memories: int = 0
    messages: int = 0
    conversations: int = 0
    unchanged: int = 0
    refused: int = 0
