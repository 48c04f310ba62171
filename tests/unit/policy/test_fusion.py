"""Reciprocal rank fusion, by hand-computed numbers."""

from __future__ import annotations

import pytest

from recollect.policy.fusion import reciprocal_rank_fusion


def test_by_hand() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
    assert fused == {
        "a": pytest.approx(1 / 61),
        "b": pytest.approx(1 / 62 + 1 / 61),
        "c": pytest.approx(1 / 62),
    }
    assert max(fused, key=lambda name: fused[name]) == "b"


def test_an_empty_leg_changes_nothing() -> None:
    assert reciprocal_rank_fusion([["a"], []]) == {"a": pytest.approx(1 / 61)}


def test_a_fused_score_never_exceeds_two_sixty_firsts() -> None:
    assert reciprocal_rank_fusion([["a"], ["a"]])["a"] == pytest.approx(2 / 61)
