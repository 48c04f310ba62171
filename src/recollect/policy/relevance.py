"""Relevance: an absolute score from 0 to 1 that can say "nothing here matches", with the same meaning for every model.

Ranking only orders; something is always first. Relevance compares the best evidence with chance: how high a cosine
would the best of `size` unrelated texts reach? For roughly normal cosines that is mean + spread * sqrt(2 ln size), so
the bar rises with the number of memories. Mean and spread belong to the embedding model (and, for a model that reads
Chinese with only a part of itself, to the script) and are measured on unrelated pairs. Words count beside meaning: the
share of a question's rarity that a text covers. The better of the two decides, and 0.3 is where a match begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import exp, log, sqrt
from statistics import fmean, pstdev
from typing import NamedTuple

CUT = 0.3

_MARGIN = 0.5  # spreads above chance at which relevance reaches the cut
_CJK = re.compile("[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")


class Calibration(NamedTuple):
    """How the cosines of unrelated texts lie under one embedding model."""

    mean: float
    spread: float


_USE = Calibration(0.050, 0.064)
_USE_CJK = Calibration(0.073, 0.074)
_PAIR = Calibration(0.244, 0.051)
UNKNOWN = Calibration(0.15, 0.08)
"""For a model nobody has measured yet: cautious for most, to be replaced by `fit`."""

CALIBRATIONS: dict[str, tuple[Calibration, Calibration]] = {
    "use-m3": (_USE, _USE_CJK),
    "use-m3+bge-small-en-v1.5-int8": (_PAIR, _USE_CJK),
}
"""By model name without its version: for alphabetic text, and for Chinese, Japanese and Korean."""


def calibration(model: str, text: str) -> Calibration:
    """The calibration that holds for a question `text` under `model`."""
    alphabetic, cjk = CALIBRATIONS.get(model.partition("/")[0], (UNKNOWN, UNKNOWN))
    return cjk if len(_CJK.findall(text)) >= 2 else alphabetic


def fit(unrelated: Iterable[float]) -> Calibration:
    """A calibration from the cosines of unrelated pairs: questions against other people's memories."""
    cosines = list(unrelated)
    return Calibration(fmean(cosines), max(pstdev(cosines), 1e-3))


def relevance(cosine: float | None, coverage: float, calibration: Calibration, size: int = 2) -> float:
    """How surely a text among `size` is about the question. `cosine` is None while its vector is pending."""
    words = min(1.0, 1.2 * coverage * coverage)
    if cosine is None:
        return words
    above_chance = (cosine - calibration.mean) / calibration.spread - sqrt(2 * log(max(size, 2)))
    meaning = 1 / (1 + exp(-max(-50.0, above_chance - _MARGIN + log(CUT / (1 - CUT)))))
    return max(words, meaning)
