"""Relevance: chance, words and meaning, and where 0.3 lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.relevance import CUT, UNKNOWN, Calibration, cut_beside, fit, is_cjk, relevance, scale_of

PAIR = "use-m3+bge-small-en-v1.5-int8/1"
SOME = UNKNOWN.alphabetic


@pytest.mark.parametrize(
    ("cosine", "size", "matches"),
    [
        (0.44, 2, True),  # "outdoor activities" and "I enjoy hiking in the mountains"
        (0.61, 1000, True),  # "What package manager …?" and "User prefers uv over pip …"
        (0.20, 2, False),  # "the capital of Mongolia" and the same memory
        (0.28, 2, False),
        (0.36, 5000, False),  # the best of thousands is that close by chance
    ],
)
def test_the_cut_under_the_default_model(cosine: float, size: int, matches: bool) -> None:
    score = relevance(cosine, 0.0, scale_of(PAIR).alphabetic, size)
    assert (score >= CUT) is matches


def test_words_alone_decide_while_a_vector_is_pending() -> None:
    assert relevance(None, 0.0, SOME) == 0
    assert relevance(None, 0.25, SOME) == pytest.approx(0.3)
    assert relevance(None, 1.0, SOME) == 1


def test_words_are_a_second_opinion_beside_a_vector() -> None:
    assert relevance(-1.0, 0.5, SOME) == pytest.approx(0.3)
    assert relevance(-1.0, 0.25, SOME) < CUT


def test_every_pair_of_scripts_has_its_own_calibration() -> None:
    scale = scale_of(PAIR)
    assert is_cjk("上周三我们去了哪里")
    assert not is_cjk("where did we go 茶")
    assert len({scale.between(a, b) for a in (True, False) for b in (True, False)}) == 3
    assert scale_of("somebody-elses-model") == UNKNOWN


@pytest.mark.parametrize(("best", "size"), [(0.9, 10), (0.5, 10), (0.9, 1000)])
def test_company_must_rise_half_as_far_as_the_best(best: float, size: int) -> None:
    cut = cut_beside(best, size)
    assert 0 < cut < best
    assert cut < cut_beside(min(best + 0.05, 1.0), size)


def test_fit_measures_mean_and_spread() -> None:
    assert fit([0.1, 0.3]) == pytest.approx(Calibration(0.2, 0.1))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.integers(0, 10**7))
def test_relevance_is_a_share_and_grows_with_the_cosine(a: float, b: float, coverage: float, size: int) -> None:
    low, high = (relevance(c, coverage, SOME, size) for c in sorted((a, b)))
    assert 0 <= low <= high <= 1
