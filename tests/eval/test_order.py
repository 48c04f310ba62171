"""The figures about repeats and contradictions: what is counted, and when they fall short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import conflicts, dedupe, found
from eval.mutations import changes, clothes, each_of
from eval.sentences import How, anew, beside
from eval.updates import several, updates
from recollect.testing import ReferenceStore
from tests.engine.conftest import engine_over

TEXTS = (
    "Anna moved the budget review with Boris to Tuesday at 10 am.",
    "We will not ship 3 boxes before Friday. The garage is full.",
    "我明天要去北京开会，大约3个小时。",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    told = [{"id": str(number), "text": text} for number, text in enumerate(TEXTS)]
    (tmp_path / "mine.corpora.jsonl").write_text(json.dumps({"corpus_id": "mine", "memories": told}) + "\n")
    pair = {"kind": "pairs", "text_a": "A owes B", "text_b": "B owes A", "label": 0, "scale": "0/1"}
    same = {**pair, "text_b": "a owes b!", "label": 1}
    (tmp_path / "pairs.cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (pair, same)))
    return tmp_path


async def test_what_differs_is_told_from_what_is_only_dressed_otherwise(folder: Path) -> None:
    store = ReferenceStore()
    rows = await dedupe.run(engine_over(store), folder, limit=3)
    await store.close()
    kinds = {row["kind"] for row in rows if row["part"] == "changed"}
    assert {"number", "date", "name", "negation"} <= kinds
    assert not [row for row in rows if row["part"] == "changed" and row["merged"]]
    assert all(row["merged"] == row["n"] for row in rows if row["part"] == "repeated")
    assert [(row["part"], row["merged"]) for row in rows[-2:]] == [("pairs that differ", 0), ("pairs that agree", 1)]
    assert dedupe.passed(rows, limit=3) == []


def test_one_wrong_merge_is_one_too_many() -> None:
    good = {"part": "changed", "kind": "number", "n": 6000, "merged": 0}
    fine = {"part": "repeated", "kind": "case", "n": 100, "merged": 95}
    assert dedupe.passed([good, fine]) == []
    assert "1 texts were merged" in dedupe.passed([{**good, "merged": 1}, fine])[0]
    assert "only 94.0 %" in dedupe.passed([good, {**fine, "merged": 94}])[0]
    assert "only 10 changed" in dedupe.passed([{**good, "n": 10}, fine])[0]


@pytest.mark.parametrize("text", TEXTS)
def test_every_mutation_is_another_text(text: str) -> None:
    made = [*each_of(changes(), text), *each_of(clothes(), text)]
    assert made
    assert text not in {other for _, other in made}


async def test_updates_are_followed_and_what_stays_true_stays() -> None:
    store = ReferenceStore()
    rows = await conflicts.run(engine_over(store), None, limit=4)
    await store.close()
    halves = [f"{how}, {half}" for how in conflicts.SETS for half in ("looked at", "held out") for _ in range(2)]
    assert [row["part"] for row in rows] == ["updates", "side by side", *halves]
    assert rows[0]["n"] == 8, "each in order, and in the wrong order"
    assert rows[0]["not_current"] == 8
    assert rows[1]["not_current"] == 4


@pytest.mark.parametrize(("how", "least"), [("told", 150), ("restated", 60), ("states", 24)])
def test_no_sentence_is_in_both_halves_and_none_is_told_twice(how: How, least: int) -> None:
    for read in (anew, beside):
        halves = [list(read(held, how)) for held in (False, True)]
        told = [pair[:2] for half in halves for pair in half]
        assert len(told) == len(set(told)) >= least
        assert abs(len(halves[0]) - len(halves[1])) <= 1


async def test_turns_of_a_set_are_asked_about_as_messages(tmp_path: Path) -> None:
    turns = [("a", "2024-03-01", "I'm at 500 followers."), ("b", "2024-05-01", "I'm now at 600 followers!")]
    chat = [{"id": id, "session_id": id, "role": "user", "text": text, "created_at": at} for id, at, text in turns]
    (tmp_path / "beam_100k.corpora.jsonl").write_text(json.dumps({"corpus_id": "c", "memories": chat}) + "\n")
    case = {"category": "knowledge_update", "corpus_id": "c", "relevant_ids": ["a", "b"]}
    told = {"original_info": ["a"], "updated_info": ["b"]}
    asked = [
        {**case, "query": "How many followers do I have?", "extra": told},
        {**case, "query": "How many followers did I have originally?", "extra": told},
        {**case, "query": "How many followers do my pages have in total?", "category": "other", "extra": {}},
    ]
    (tmp_path / "beam_100k.cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    store = ReferenceStore()
    rows = await conflicts.told_in_turns(engine_over(store), "beam_100k", list(found.beam(tmp_path)))
    await store.close()
    update, other, past = rows
    assert (update["n"], update["newest_first"], update["not_current"]) == (1, 1, 1)
    assert (other["kind"], other["n"], other["not_current"]) == ("other: not marked", 2, 2)
    assert (past["n"], past["not_current"]) == (1, 1)


def test_falling_short_is_said_in_words() -> None:
    row = {"part": "updates", "kind": "home", "n": 100, "newest_first": 94, "not_current": 97, "asked": 0, "missed": []}
    lost = {**row, "part": "side by side", "newest_first": 100, "not_current": 99}
    assert len(conflicts.passed([row])) == 2
    assert conflicts.passed([{**row, "newest_first": 95, "not_current": 98}]) == []
    assert "still true" in conflicts.passed([{**row, "newest_first": 95, "not_current": 98}, lost])[0]


def test_cases_differ_from_each_other() -> None:
    cases = list(updates())
    assert len(cases) > 300
    assert all(case.old != case.new for case in cases)
    assert len(list(several())) > 100
