"""What is passed between the stages of a recall: the question as understood, and the candidates as found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from recollect.model import Query, Target
from recollect.policy.native_bridge import Bridge
from recollect.policy.question import Question
from recollect.policy.relevance import Scale, is_cjk, relevance
from recollect.ports import Vector


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything that is known before the store is opened."""

    query: Query
    limit: int
    question: Question
    vectors: Sequence[Vector]
    generation: str | None
    scale: Scale
    """How the cosines of unrelated texts lie under the model that made the vectors."""
    bridge: Bridge | None = None
    """The way from questions to what bears on them under that model, where it is known."""
    near: Mapping[Target, float] | None = None
    """What an index outside the store found for the meaning of the question, best first; None: the store looks itself."""

    @property
    def now(self) -> datetime:
        assert self.query.now is not None
        return self.query.now

    def relevance(self, signals: Mapping[str, float], terms: str, size: int) -> float:
        """How surely a text of these terms, one of `size`, is about the question."""
        calibration = self.scale.between(is_cjk(self.query.text), is_cjk(terms))
        words = max(signals.get("coverage", 0.0), signals.get("phrase", 0.0))  # a quote found is found
        sure = relevance(signals.get("cosine"), words, calibration, size, signals.get("owed", 0.0))
        return sure if "phrase" in signals else sure * signals.get("belief", 1.0)


@dataclass(frozen=True, slots=True)
class Candidate:
    target: Target
    score: float
    relevance: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    ranked: Sequence[Candidate]
    counts: Mapping[str, int]
    size: int
    """How many things were there to be found."""
    legs_ms: Mapping[str, float] = field(default_factory=dict)
    """How long each leg took."""


class Legs:
    """A watch that is stopped at the end of each leg."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self._since = perf_counter()

    def passed(self, leg: str) -> None:
        now = perf_counter()
        self.ms[leg] = round(self.ms.get(leg, 0.0) + (now - self._since) * 1000, 3)
        self._since = now
