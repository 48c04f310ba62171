"""What was acknowledged while things broke, and what the database has of it afterwards.

Every write is announced under a text of its own. An acknowledged one must be there once; one that was refused must not be
there; one of which nobody knows may be there once, never twice. What was forgotten must be gone, whoever answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fate(StrEnum):
    KEPT = "kept"
    """Acknowledged: there, once."""
    REFUSED = "refused"
    """It was said that nothing was stored: not there."""
    UNKNOWN = "unknown"
    """Nobody could say: there once, or not at all."""
    FORGOTTEN = "forgotten"
    """Acknowledged, and its removal acknowledged later: not there."""
    LEAVING = "leaving"
    """Its removal was asked for, and nobody could say whether it took place: there once, or not at all."""


MAY_BE_THERE: Mapping[Fate, tuple[int, ...]] = {
    Fate.KEPT: (1,),
    Fate.REFUSED: (0,),
    Fate.UNKNOWN: (0, 1),
    Fate.FORGOTTEN: (0,),
    Fate.LEAVING: (0, 1),
}


@dataclass(frozen=True)
class Verdict:
    """`lost`, `doubled` and `returned` are texts; `strange` are those that nobody wrote; `unembedded` lack their vector."""

    acknowledged: int
    forgotten: int
    unknown: int
    lost: list[str]
    doubled: list[str]
    returned: list[str]
    strange: list[str]
    unembedded: list[str]

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.returned or self.strange or self.unembedded)

    def counts(self) -> dict[str, int]:
        found = {name: getattr(self, name) for name in ("acknowledged", "forgotten", "unknown")}
        wrong = ("lost", "doubled", "returned", "strange", "unembedded")
        return found | {name: len(getattr(self, name)) for name in wrong}


@dataclass
class Ledger:
    """One kind of thing that is written: its texts, and what is known of each."""

    fates: dict[str, Fate] = field(default_factory=dict)

    def asked(self, text: str) -> None:
        """Before it is sent: from now on it may be there."""
        self.fates[text] = Fate.UNKNOWN

    def settle(self, text: str, fate: Fate) -> None:
        self.fates[text] = fate

    def judge(self, stored: Iterable[str], embedded: Iterable[str]) -> Verdict:
        """`stored`: every text of the database, as often as it is there. `embedded`: those that have their vector."""
        there = Counter(stored)
        has_vector = set(embedded)
        wrong: dict[str, list[str]] = {"lost": [], "doubled": [], "returned": []}
        for text, fate in self.fates.items():
            count = there[text]
            if count > 1:
                wrong["doubled"].append(text)
            elif count not in MAY_BE_THERE[fate]:
                wrong["returned" if count else "lost"].append(text)
        fates = Counter(self.fates.values())
        return Verdict(
            acknowledged=fates[Fate.KEPT] + fates[Fate.FORGOTTEN] + fates[Fate.LEAVING],
            forgotten=fates[Fate.FORGOTTEN],
            unknown=fates[Fate.UNKNOWN] + fates[Fate.LEAVING],
            strange=sorted(set(there) - set(self.fates)),
            unembedded=sorted(set(there) - has_vector),
            **wrong,
        )
