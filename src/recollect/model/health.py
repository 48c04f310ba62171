"""The state of a memory as a whole: what is wrong in it, or may be, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from recollect.model.scope import Scope

Concern = Literal[
    "duplicates",
    "near_duplicates",
    "contradictions",
    "expired",
    "stale",
    "never_used",
    "unembedded",
    "failed",
    "oversized",
]
CONCERNS: tuple[Concern, ...] = get_args(Concern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong with one memory, or between several; `why` has no content in it."""

    concern: Concern
    ids: tuple[str, ...]
    """Of duplicates, the one to keep comes first."""
    why: str
    reason: str = ""
    """`why` by name, one of `policy.health.REASONS`, for whoever says it in other words."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What that reason is filled in with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is wrong in a space, as far as it can be found by looking."""

    scope: Scope
    memories: int
    """Active ones, all of which were looked at."""
    findings: tuple[Finding, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Findings of each kind, those without any left out."""
        counts = {concern: sum(each.concern == concern for each in self.findings) for concern in CONCERNS}
        return {concern: count for concern, count in counts.items() if count}
