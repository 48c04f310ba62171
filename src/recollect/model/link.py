"""What ties memories to each other: what was said again in other words, and what can't both be true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """One telling of a memory that was told more than once, as it came: enough to make it a memory of its own again.

    The first telling is kept as well, under the memory's own id and at place 0, from the moment there is a second: it knows what
    the memory would be without the others. A memory that was told once has none.
    """

    memory_id: str
    id: str
    place: int
    content: str
    source_message_id: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The rest of what was told, as JSON."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Two active memories of which perhaps only one is true; `memory_id` came later."""

    memory_id: str
    other_id: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A reply that was made with a memory. Ids only; it goes with either of the two."""

    memory_id: str
    message_id: str
    reference: str
    """What the reply calls it by, such as `m1`."""
    cited: bool
    """Whether the reply itself names it; otherwise it was only before the model."""
    at: datetime
