"""Relevance: chance, words and meaning, and where 0.3 lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.relevance import CUT, UNKNOWN, Calibration, calibration, fit, relevance

PAIR = "use-m3+bge-small-en-v1.5-int8/1"


@pytest.mark.parametrize(
    ("cosine", "size", "matches"),
    [
        (0.44, 2, True),  # "outdoor activities" and "I enjoy hiking in the mountains"
        (0.61, 1000, True),  # "What package manager …?" and "User prefers uv over pip …"
        (0.20, 2, False),  # "the capital of Mongolia" and the same memory
        (0.28, 2, False),
        (0.44, 5000, False),  # the best of thousands is that close by chance
    ],
)
def test_the_cut_under_the_default_model(cosine: float, size: int, matches: bool) -> None:
    score = relevance(cosine, 0.0, calibration(PAIR, "a question"), size)
    assert (score >= CUT) is matches


def test_words_alone_decide_while_a_vector_is_pending() -> None:
    assert relevance(None, 0.0, UNKNOWN) == 0
    assert relevance(None, 0.5, UNKNOWN) == pytest.approx(0.3)
    assert relevance(None, 1.0, UNKNOWN) == 1


def test_chinese_is_read_by_its_own_calibration() -> None:
    assert calibration(PAIR, "上周三我们去了哪里") != calibration(PAIR, "where did we go")
    assert calibration("somebody-elses-model", "where") == UNKNOWN


def test_fit_measures_mean_and_spread() -> None:
    assert fit([0.1, 0.3]) == pytest.approx(Calibration(0.2, 0.1))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.integers(0, 10**7))
def test_relevance_is_a_share_and_grows_with_the_cosine(a: float, b: float, coverage: float, size: int) -> None:
    low, high = (relevance(c, coverage, UNKNOWN, size) for c in sorted((a, b)))
    assert 0 <= low <= high <= 1
