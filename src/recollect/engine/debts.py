"""What an engine owes to its store and may put off: the answer goes first."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from recollect.model import Scope


@dataclass
class Debts:
    """One for all views of an engine."""

    scrub: bool = False
    """A text was corrected: its old words are out of every index, but not yet out of the files."""
    settled_at: datetime | None = None
    wrote: set[Scope] = field(default_factory=set)
    """Scopes that were written to and may have outgrown their cap."""
    disputed: set[Scope] = field(default_factory=set)
    """Scopes with memories that may not both be true, for a reviewer to look at."""
    asked: dict[tuple[Scope, str, str], None] = field(default_factory=dict)
    """Which pairs of memories a reviewer was asked about already, the oldest first."""
    answered: bool = False
    """Whether a question was embedded here before. The first waits for the model to load, and so may what it asks for."""
    tend_at: datetime | None = None
    """When everybody's memory is to be tidied up next, and how far that has come."""
    tended: Scope | None = None
