"""The bridge: from what is asked or remarked to what was told that bears on it.

"What should I order at the rooftop bar?" and "I've been sober since March" share no word and little meaning, and yet the one
decides the other. An embedding model lays them apart, but not anyhow: where a question of one theme lies and where the tastes
and circumstances that bear on it lie differ in ways that are alike from theme to theme. A linear map learns these from
examples and leads the question there, before it is compared.

It is made for one model and for English, and for questions that ask for advice or tell something; a fact is asked for in the
terms that it was told in. The map works on what sets a text apart from the average of the memory it is looked for in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.policy.postings import Floats
from recollect.policy.question import Question
from recollect.policy.relevance import is_cjk

KINDS = frozenset({"advice", "statement"})


@dataclass(frozen=True, slots=True, eq=False)
class Bridge:
    """A map of small rank: a vector is led by `(vector @ into) @ out` from where it lies."""

    into: Floats
    out: Floats

    def serves(self, question: Question) -> bool:
        return question.kind in KINDS and not is_cjk(question.text)

    def lead(self, vector: NDArray[Any], centre: Floats) -> Floats:
        """The query to compare with memories whose average is `centre`; one of another model stays as it is."""
        unit = np.asarray(vector, np.float32)
        if not unit.size == centre.size == len(self.into):
            return unit
        aside = unit / np.float32(max(float(np.linalg.norm(unit)), 1e-9)) - centre
        led = aside + (aside @ self.into) @ self.out
        return np.asarray(centre + led * (np.linalg.norm(aside) / max(float(np.linalg.norm(led)), 1e-9)), np.float32)
