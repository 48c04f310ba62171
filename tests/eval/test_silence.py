"""Telling questions with an answer from those without: the figures, and where strangers come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.silence import separated, strangers


def test_a_perfect_separation() -> None:
    told = separated([(0.9, 1.0), (0.8, 1.0)], [0.1, 0.2])
    assert told == {"cases": 2, "auc": 1.0, "cut": 0.8, "silent": 100.0, "at_a_point": 100.0}


def test_ties_count_half() -> None:
    told = separated([(0.5, 1.0)], [0.5, 0.5])
    assert told is not None
    assert told["auc"] == 0.5
    assert told["silent"] == told["at_a_point"] == 0.0


def test_a_cut_may_cost_one_point_of_recall_and_not_more() -> None:
    answerable = [(number / 100, 1.0) for number in range(100)]
    told = separated(answerable, [0.005, 0.011])
    assert told is not None
    assert told["cut"] == pytest.approx(0.01)
    assert told["at_a_point"] == 50.0
    assert told["silent"] == 100.0


def test_what_was_not_found_anyway_costs_nothing() -> None:
    told = separated([(0.1, 0.0), (0.2, 0.0), (0.9, 1.0)], [0.3])
    assert told is not None
    assert told["cut"] == pytest.approx(0.9)


def test_nothing_to_tell_apart() -> None:
    assert separated([], [0.1]) is None
    assert separated([(0.1, 1.0)], []) is None


def test_strangers_are_of_another_family_and_the_same_script(tmp_path: Path) -> None:
    for name, queries in {
        "boats_a": ["Where is the boat?"],
        "boats_b": ["Who sails?"],
        "tea": ["Which tea?", "Which tea?", "喝什么茶？", "A: hello\nB: hello"],
    }.items():
        lines = [
            json.dumps({"case_id": f"{name}{n}", "query": q, "relevant_ids": ["x"], "kind": "retrieval"})
            for n, q in enumerate(queries)
        ]
        (tmp_path / f"{name}.cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert [case.query for case in strangers(tmp_path, "boats_a")] == ["Which tea?"]
    assert [case.query for case in strangers(tmp_path, "tea")] == ["Where is the boat?", "Who sails?"]
    assert len(strangers(tmp_path, "tea", most=1)) == 1
