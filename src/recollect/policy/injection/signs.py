"""What a sign of injection is: a phrase, never a word, and how much it weighs.

Phrases say who asks whom to do what. They are read against `plain` text (lower case, disguises off, single spaces), with every
gap bounded, so that matching stays linear. A weight is the probability of an attack if nothing else is known. Signs of different
families add up, those of one family do not; signs that only support count for nothing where no other sign is near.

What a sign `needs` saves time: whatever it matches holds at least one of these pieces, and most texts hold none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.policy.late import late


@dataclass(frozen=True, slots=True)
class Sign:
    family: str
    weight: float
    pattern: re.Pattern[str]
    supports: bool = False
    needs: frozenset[str] = frozenset()


def sign(family: str, weight: float, phrase: str, *, supports: bool = False, needs: str = "") -> Sign:
    pieces = frozenset(needs.split("|")) if needs else frozenset()
    return Sign(family, weight, late(phrase), supports, pieces)
