"""The comparison: questions with one answer each, the child that asks a peer, and a peer that isn't there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.changes import CHANGES, latest_first
from bench.known import UNANSWERED, known
from bench.peers import child, compare
from bench.peers.install import PEERS, PeerMissing, environment

NUMBER = re.compile(r"[A-Z]{2}-\d{5}")


def test_two_hundred_questions_in_four_equal_parts() -> None:
    cases = known()
    assert len({case.fact for case in cases}) == len({case.question for case in cases}) == 200
    parts = [(case.by, case.language) for case in cases]
    assert {part: parts.count(part) for part in parts} == dict.fromkeys(
        [("word", "en"), ("meaning", "en"), ("word", "zh"), ("meaning", "zh")], 50
    )
    assert len(set(parts[:4])) == 4, "the first few are a fair sample"


def test_the_unanswerable_are_different_questions() -> None:
    assert len(set(UNANSWERED)) == 40
    assert not {case.question for case in known()} & set(UNANSWERED)


def test_a_number_is_in_one_fact_only() -> None:
    facts = [case.fact for case in known()]
    for case in known():
        if case.by == "word":
            (number,) = NUMBER.findall(case.question)
            assert [fact for fact in facts if number in fact] == [case.fact]


def test_a_paraphrase_shares_no_number_and_few_words() -> None:
    for case in known():
        if (case.by, case.language) == ("meaning", "en"):
            words, asked = (set(re.findall(r"\w{5,}", text.lower())) for text in (case.fact, case.question))
            assert len(words & asked) <= 1, case


def test_quality_counts_answers_among_the_first_ten() -> None:
    cases = known()[:4]
    texts = [case.fact for case in cases] + [f"another note {number}" for number in range(20)]
    found = [[0], [5, 6, 1], [*range(4, 14), 2], []]
    unanswered: list[list[int]] = [[], [3], [], []]
    figures = compare.quality(found + unanswered, texts, cases)
    answered = {"recall_at_10": 50.0, "rare": 50.0, "meaning": 50.0, "en": 100.0, "zh": 0.0}
    assert figures == {**answered, "silent": 75.0}


@pytest.fixture
def table(tmp_path: Path) -> child.Table:
    job = {"texts": ["one", "two"], "questions": ["which?"], "changes": [], "forgotten": ["one"]}
    (tmp_path / "job.json").write_text(json.dumps(job))
    np.save(tmp_path / "vectors.npy", np.eye(3, 4, dtype=np.float32))
    return child.Table(tmp_path)


def test_the_child_hands_out_the_vectors_it_was_given(table: child.Table) -> None:
    assert table.vectors(["two", "which?"]) == [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert table.missed == 0
    table.vector("never heard of")
    assert table.missed == 1


def test_the_child_times_every_addition_and_question(table: child.Table) -> None:
    kept: list[str] = []
    peer = child.Peer("a list", lambda _, text: kept.append(text), lambda _: [*reversed(kept), "not ours"], kept.pop)
    figures = child.measured(peer, table, seconds_at_most=60)
    assert len(figures["add_s"]) == 2
    assert len(figures["search_s"]) == 1
    assert figures["found"] == [[1, 0]]
    child.forget(peer, table)
    assert kept == ["two"]


def test_what_is_left_behind_is_looked_for_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "log").write_bytes(b"\x00an old line\x00")
    (tmp_path / "escaped").write_text(json.dumps("苹果"))
    assert child.left_behind(tmp_path, ["an old line", "苹果", "gone"]) == 2


def test_the_later_of_two_comes_first_or_alone() -> None:
    change = CHANGES[0]
    assert latest_first([change.since, change.before], change)
    assert latest_first(["another", change.since], change)
    assert not latest_first([change.before, change.since], change)
    assert not latest_first([], change)


def test_the_child_gives_up_on_a_peer_that_takes_too_long(table: child.Table) -> None:
    peer = child.Peer("a sloth", lambda _, text: None, lambda _: [], lambda _: None)
    with pytest.raises(TimeoutError, match="1 of 2 texts"):
        child.measured(peer, table, seconds_at_most=0)


async def test_a_peer_that_does_not_run_is_reported_and_the_others_are_not_held_up() -> None:
    """Here peers are looked for where none is installed."""
    rows = await compare.run(["mem0"], size=12, count=8, interpreter=lambda _: Path(sys.executable))
    ours, missing, again, uncut = rows
    assert ours["recall_at_10"] > 0
    assert ours["search_ratio"] == 1.0
    assert {"add_p50_ms", "ack_p50_ms", "search_p50_ms", "search_p95_ms", "embed_ms", "model"} <= ours.keys()
    assert missing["failed"]
    assert "No module named 'mem0'" in missing["note"]
    assert "mem0: not measured" in compare.said(rows)
    assert again["search_ratio"] > 0
    assert again["recall_at_10"] == ours["recall_at_10"]
    assert uncut["recall_at_10"] >= ours["recall_at_10"]
    assert uncut["silent"] <= ours["silent"]
    assert ours["latest"] > 50
    assert ours["left_behind"] == 0


def test_a_peer_that_cannot_be_installed_says_why(tmp_path: Path) -> None:
    (tmp_path / "mem0").write_text("in the way of the folder")
    with pytest.raises(PeerMissing):
        environment("mem0", tmp_path)


def test_every_peer_has_its_adapter() -> None:
    assert all(callable(getattr(child, name)) for name in PEERS)
