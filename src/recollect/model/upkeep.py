"""Upkeep: what is to be done to keep a space in order, why, and what was done of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from recollect.model.memory import Scores
from recollect.model.scope import Scope

Action = Literal[
    "expire",
    "remove",
    "archive",
    "summarise",
    "drop_conversation",
    "drop_tombstones",
    "drop_sessions",
    "embed",
    "end_sessions",
    "tag",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do, with its reason in words and numbers. Never with content."""

    action: Action
    why: str
    id: str | None = None
    """The memory or conversation; None for what has no name."""
    ids: tuple[str, ...] = ()
    """`summarise`: what the summary is to be made of."""
    count: int = 1
    seen: datetime | None = None
    """When the memory was last changed, as the planner saw it: one that was changed since is left for the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What upkeep would do, step by step, each with its reason."""

    steps: tuple[Step, ...] = ()
    scores: Mapping[str, Scores] = field(default_factory=dict)
    """Scores that had to be worked out anew for it, to be kept."""

    @property
    def counts(self) -> dict[str, int]:
        """How much there is to do of each kind."""
        counts: dict[str, int] = {}
        for step in self.steps:
            counts[step.action] = counts.get(step.action, 0) + step.count
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The receipt: the plan, and what became of it. Nothing is done in a dry run."""

    scope: Scope
    plan: Plan
    dry_run: bool = False
    done: Mapping[str, int] = field(default_factory=dict)
    passed_over: int = 0
    """What had changed by the time its turn came."""
