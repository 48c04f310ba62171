"""Relevance: an absolute score from 0 to 1 that can say "nothing here matches", with the same meaning for every model.

Ranking only orders; something is always first. Relevance compares evidence with chance: how high a cosine would the best of
`size` unrelated texts reach? For roughly normal cosines that is mean + spread * sqrt(2 ln size), so the bar rises with the
number of memories, if more slowly. Mean and spread belong to the embedding model and to the scripts of question and text (a
model may read Chinese with only a part of itself), and are measured on unrelated pairs.

The cut of 0.3 lies where 19 of 20 answers to answerable questions of the development sets pass, over small scopes. Words count
beside meaning: the share of a question's rarity that a text covers. The better of the two decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import exp, log, sqrt
from statistics import fmean, pstdev
from typing import NamedTuple

CUT = 0.3
SHARE = 0.5
"""What stands beside the best hit must rise at least half as far above unrelated texts."""

_FEW = 8  # below this many texts the bar stays where it is: one stray memory is no excuse for a stray answer
_LOWEST = 1.14  # the bar there, in spreads above the mean of unrelated texts
_GROWTH = 0.65
"""How much of chance's own growth the bar follows. Not all of it: in a large memory of one person the unrelated and the
answer lie closer together, and a lost answer is worse than a needless hit."""
_CUT_ODDS = log(CUT / (1 - CUT))
_SUREST = 1 - 1e-4
_WORDS = 1.2
_MANY = 400
_CJK = re.compile("[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")


def is_cjk(text: str) -> bool:
    """Whether a text counts as Chinese, Japanese or Korean: two such characters are enough."""
    return len(_CJK.findall(text)) >= 2


class Calibration(NamedTuple):
    """How the cosines of unrelated texts lie under one embedding model."""

    mean: float
    spread: float


class Scale(NamedTuple):
    """A model's calibrations: both texts alphabetic, both CJK, one of each."""

    alphabetic: Calibration
    cjk: Calibration
    across: Calibration

    def between(self, question_is_cjk: bool, text_is_cjk: bool) -> Calibration:
        if question_is_cjk != text_is_cjk:
            return self.across
        return self.cjk if question_is_cjk else self.alphabetic


_USE = Scale(Calibration(0.050, 0.064), Calibration(0.073, 0.074), Calibration(0.010, 0.060))
_PAIR = Scale(Calibration(0.244, 0.051), Calibration(0.073, 0.074), Calibration(0.010, 0.050))
_SOME = Calibration(0.15, 0.08)
UNKNOWN = Scale(_SOME, _SOME, _SOME)
"""For a model nobody has measured yet: cautious for most, to be replaced by `fit`."""

SCALES: dict[str, Scale] = {"use-m3": _USE, "use-m3+bge-small-en-v1.5-int8": _PAIR}
"""By model name without its version."""


def scale_of(model: str) -> Scale:
    return SCALES.get(model.partition("/")[0], UNKNOWN)


def fit(unrelated: Iterable[float]) -> Calibration:
    """A calibration from the cosines of unrelated pairs: questions against other people's memories."""
    cosines = list(unrelated)
    return Calibration(fmean(cosines), max(pstdev(cosines), 1e-3))


def relevance(
    cosine: float | None, coverage: float, calibration: Calibration, size: int = 2, owed: float = 0.0
) -> float:
    """How surely a text among `size` is about the question. `cosine` is None while its vector is pending.

    `owed` is how many spreads more it takes for reasons that lie in the question and the memory (`policy.doubt`).
    """
    if cosine is None:
        # Words are all there is, so they must do: part of a question is a match.
        return min(1.0, _WORDS * coverage)
    above = (cosine - calibration.mean) / calibration.spread - _bar(size) - owed
    meaning = 1 / (1 + exp(-max(-50.0, above + _CUT_ODDS)))
    return max(min(1.0, _WORDS * coverage * coverage), meaning)


def cut_beside(best: float, size: int) -> float:
    """The relevance that the company of a hit as good as `best` must have."""
    bar = _bar(size) - _CUT_ODDS
    height = SHARE * (_odds(best) + bar) - bar
    return 1 / (1 + exp(-height))


def _bar(size: int) -> float:
    """Where the cut lies among `size` texts, in spreads above the mean of unrelated ones."""
    return _LOWEST + _GROWTH * (_luck(size) - _luck(_FEW))


def crowd(size: int) -> float:
    """0 for a few texts, 1 for `_MANY` and more, in between as chance grows."""
    return min(1.0, (_luck(size) - _luck(_FEW)) / (_luck(_MANY) - _luck(_FEW)))


def _luck(size: int) -> float:
    """How far the best of `size` unrelated texts rises above their mean."""
    return sqrt(2 * log(max(size, _FEW)))


def _odds(share: float) -> float:
    share = min(max(share, 1 - _SUREST), _SUREST)
    return log(share / (1 - share))
