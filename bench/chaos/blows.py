"""Whom the next blow hits, how, and for how long: drawn from a seed, so that a run can be run again.

Blows come from a shuffled deck of every part in every kind of trouble, so that even a short run meets many different ones and a
long one meets all. One part is hit at a time: two losses at once are another matter than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

HELD_S = (0.5, 4.0)
FROZEN_S = (1.0, 5.0)
LONG_FROZEN_S = 20.0
"""Longer than a claim on a text lasts here: whoever wakes up then finds that others did its work."""
LONG_CHANCE = 0.15
GAP_S = (1.0, 3.0)


class Kind(StrEnum):
    KILLED = "killed"
    """kill -9, and started again after a while."""
    FROZEN = "frozen"
    """SIGSTOP, and SIGCONT after a while: connections stay, and nobody answers."""
    RESTARTED = "restarted"
    """Told to end, and started again."""
    EMPTIED = "emptied"
    """All that it holds is gone."""
    CHILD_KILLED = "child killed"
    """One of its processes is ended by kill -9; the others go on."""


@dataclass(frozen=True)
class Blow:
    part: str
    kind: Kind
    after_s: float
    """The quiet before it."""
    held_s: float
    """How long the part stays away."""


def blows(seed: int, deck: Mapping[str, Sequence[Kind]]) -> Iterator[Blow]:
    """Without end."""
    random = Random(seed)
    cards = [(part, kind) for part, kinds in deck.items() for kind in kinds]
    if not cards:
        raise ValueError("there is nothing to hit")
    while True:
        random.shuffle(cards)
        for part, kind in cards:
            yield Blow(part, kind, random.uniform(*GAP_S), _held(random, kind))


def _held(random: Random, kind: Kind) -> float:
    if kind in (Kind.EMPTIED, Kind.CHILD_KILLED):
        return 0.0
    if kind is Kind.FROZEN:
        return LONG_FROZEN_S if random.random() < LONG_CHANCE else random.uniform(*FROZEN_S)
    return random.uniform(*HELD_S)
