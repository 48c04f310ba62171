"""A turn of a chat as whoever follows it sees it: events in order, and the same collected into one reply.

Started      the message is stored (or may not be), and under which ids
Remembered   what was recalled for it, with where each comes from
Said         the reply, piece by piece
Failed       what went wrong, if something did
Done         the reply is stored; nothing follows
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from recollect.model.chat import Usage
from recollect.model.embedding import Kind, Target
from recollect.model.memory import Source
from recollect.model.receipt import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What a cited memory replaced, or may contradict: said along, so that a change isn't passed over in silence."""

    content: str
    at: datetime
    disputed: bool = False
    """Both are still held; nobody has said which is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """One thing that was recalled, under the name a reply calls it by."""

    reference: str
    kind: Kind
    id: str
    content: str
    at: datetime
    dated: bool = True
    relevance: float
    type: str | None = None
    said_by: Source | None = None
    """Of a memory: who says so. A message was said by its role."""
    role: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    suspicious: bool = False
    truncated: bool = False
    earlier: tuple[Earlier, ...] = ()

    @property
    def target(self) -> Target:
        return Target(self.kind, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    session_id: str
    message_id: str | None = None
    """None where nothing is kept; `reason` then says why."""
    reason: Refusal | None = None
    masked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    used: tuple[Cited, ...] = ()
    token_count: int = 0
    truncated: bool = False
    degraded: tuple[str, ...] = ()
    rate_limited: bool = False
    error: bool = False
    """Recall failed. There may be memories; none could be read, and none is made up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    message_id: str | None = None
    partial: bool = False
    finish: str = "stop"
    usage: Usage | None = None
    counted: Literal["model", "here"] = "here"
    """Whose count of tokens it is: the model server's, or our own estimate."""
    model: str | None = None
    """None: no model is configured, or a command was answered."""
    command: str | None = None
    cited: tuple[str, ...] = ()
    """The references that the reply itself names."""


Event: TypeAlias = Started | Remembered | Said | Failed | Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole turn. `done` is None when the reply could not be stored; `failed` then says why."""

    started: Started
    remembered: Remembered
    text: str
    done: Done | None = None
    failed: Failed | None = None
