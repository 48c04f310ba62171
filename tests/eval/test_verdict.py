"""Every figure against a number worked out by hand."""

from __future__ import annotations

import pytest

from eval import verdict
from eval.tracking import metrics
from tests.eval.made import answer, case


@pytest.mark.parametrize(
    ("expected", "fields", "came", "recall", "precision"),
    [
        ("a", {}, "a", 1.0, 1.0),
        ("a", {}, "xa", 1.0, 1 / 2),
        ("ab", {}, "axyz", 1 / 2, 1 / 4),
        ("abc", {}, "cab", 1.0, 1.0),
        ("a", {}, "vwxyza", 0.0, 0.0),
        ("a", {}, "", 0.0, 0.0),
        ("a", {"acceptable": frozenset("x")}, "ax", 1.0, 1.0),
        ("a", {"acceptable": frozenset("x")}, "xya", 1.0, 1 / 2),
        ("a", {"acceptable": frozenset("x")}, "x", 0.0, 0.0),
        ("a", {"top": 1}, "xa", 0.0, 1 / 2),
        ("a", {"top": 2}, "xa", 1.0, 1 / 2),
        ("abcd", {"at_least": 2}, "ab", 1.0, 1.0),
        ("abcd", {"at_least": 2}, "abc", 1.0, 1.0),
        ("abcd", {"at_least": 2}, "ax", 1 / 2, 1 / 2),
        ("abcdef", {}, "abcde", 1.0, 1.0),
    ],
)
def test_recall_and_precision(
    expected: str, fields: dict[str, object], came: str, recall: float, precision: float
) -> None:
    answered = answer(case(expected, **fields), list(came))
    assert verdict.recall_at(answered) == pytest.approx(recall)
    assert verdict.precision_at(answered) == pytest.approx(precision)


@pytest.mark.parametrize(("came", "precision", "faults"), [("", 1.0, []), ("x", 0.0, ["should be empty"])])
def test_a_question_without_an_answer(came: str, precision: float, faults: list[str]) -> None:
    answered = answer(case(), list(came))
    assert verdict.recall_at(answered) is None
    assert verdict.precision_at(answered) == precision
    assert verdict.faults(answered) == faults


def test_the_same_words_of_somebody_else_are_no_hit() -> None:
    answered = answer(case("a"), ["a"], foreign=["a"])
    assert verdict.recall_at(answered) == 0.0
    assert verdict.precision_at(answered) == 0.0
    assert "somebody else's" in verdict.faults(answered)


def test_what_is_acceptable_of_ones_own_is_not_of_somebody_else() -> None:
    answered = answer(case("a", acceptable=frozenset("x")), ["a", "x"], foreign=["x"])
    assert verdict.precision_at(answered) == 0.5
    assert not verdict.is_safe(answered)


@pytest.mark.parametrize(
    ("tokens", "budget", "within"), [(999, 1000, True), (1000, 1000, True), (1001, 1000, False), (9999, None, True)]
)
def test_the_budget(tokens: int, budget: int | None, within: bool) -> None:
    assert verdict.complies(answer(case("a"), ["a"], tokens=tokens, budget=budget)) is within


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1.0), (0.5, 2.0), (0.75, 3.0), (0.76, 4.0), (0.95, 4.0), (1.0, 4.0)]
)
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert verdict.percentile([4.0, 2.0, 3.0, 1.0], share) == value


def test_the_percentile_of_nothing() -> None:
    assert verdict.percentile([], 0.5) is None


ANSWERS = [
    answer(case("a", id="1", lang="en", category="plain"), ["a"], seconds=0.010),
    answer(case("ab", id="2", lang="en", category="plain"), ["a", "x"], seconds=0.020),
    answer(case("a", id="3", lang="zh", category="plain"), [], seconds=0.030, degraded=("dense",)),
    answer(case(id="4", lang="zh", category="none"), [], seconds=0.040),
]


def test_the_figures_of_a_run() -> None:
    assert verdict.figures(ANSWERS) == {
        "cases": 4,
        "recall_at_5": 50.0,  # (1 + 1/2 + 0) / 3
        "precision_at_5": 62.5,  # (1 + 1/2 + 0 + 1) / 4
        "rightly_empty": 100.0,
        "wrongly_empty": 33.3,
        "latency_ms_p50": 20.0,
        "latency_ms_p95": 40.0,
        "token_compliance": 100.0,
        "cross_user_safety": 100.0,
        "degraded": 25.0,
    }


def test_the_parts_of_a_run() -> None:
    parts = verdict.report(ANSWERS)
    assert {name: part["cases"] for name, part in parts["by_category"].items()} == {"plain": 3, "none": 1}
    assert parts["by_category"]["none"]["recall_at_5"] is None
    assert parts["by_category"]["plain"]["at_fault"] == 2
    assert parts["by_lang"]["zh"]["recall_at_5"] == 0.0
    assert [line["faults"] for line in parts["cases"]] == [[], ["missed", "noise"], ["missed"], []]


def test_a_run_without_faults_passes() -> None:
    assert verdict.failed(verdict.figures([ANSWERS[0], ANSWERS[3]])) == []


def test_each_threshold_can_fail_a_run() -> None:
    missed = [answer(case("a"), [], seconds=9.0)]
    assert [each.figure for each in verdict.failed(verdict.figures(missed))] == ["recall_at_5", "precision_at_5"]
    noisy = [answer(case("a"), list("axyz"))]
    assert [each.figure for each in verdict.failed(verdict.figures(noisy))] == ["precision_at_5"]
    long = [answer(case("a"), ["a"], tokens=1001)] + [answer(case("a"), ["a"])] * 999
    assert [each.figure for each in verdict.failed(verdict.figures(long))] == ["token_compliance"]
    leak = [answer(case("a"), ["a", "x"], foreign=["x"])] + [answer(case("a"), ["a"])] * 99
    assert [each.figure for each in verdict.failed(verdict.figures(leak))] == ["cross_user_safety"]


def test_during_an_outage_safety_decides_alone() -> None:
    assert verdict.failed(verdict.figures([answer(case("a"), [])]), outage=True) == []
    leak = verdict.figures([answer(case("a"), ["x"], foreign=["x"])])
    assert [each.figure for each in verdict.failed(leak, outage=True)] == ["cross_user_safety"]


def test_figures_have_one_name_each() -> None:
    named = metrics(verdict.report(ANSWERS))
    assert named["recall_at_5"] == 50.0
    assert named["category/plain/recall_at_5"] == 50.0
    assert named["lang/zh/wrongly_empty"] == 100.0
    assert "category/none/recall_at_5" not in named
