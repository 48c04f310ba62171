"""What comes of a question: SQL and what was changed to get it, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Adapted:
    sql: str
    changes: tuple[str, ...]
    """In words, one for each thing that was understood."""


@dataclass(frozen=True)
class Cannot:
    why: str


class NotUnderstood(Exception):
    """Ends the reading of a question; the message is told to whoever asked."""
