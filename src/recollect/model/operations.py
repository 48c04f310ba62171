"""How the server fares: what it had counted at a moment. Numbers only, of nobody in particular."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Everything that one run of the server had counted at one moment. Its processes count together."""

    run: str
    at: datetime
    began: datetime | None = None
    """When all counts stood at nothing, where that is known."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """What only ever grows within a run."""
    levels: Mapping[str, float] = field(default_factory=dict)
    """How things stand; they come and go."""
