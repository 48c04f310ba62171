"""The shipped golden set holds what it promises, and a set that contradicts itself is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.golden import SHIPPED, BadSet, problems, read
from recollect.model import MemoryType
from recollect.policy.guard import MAX_QUERY_CHARS

GOLDEN = read()
CATEGORIES = {
    "keyword",
    "paraphrase",
    "negation",
    "exact",
    "people",
    "preference",
    "decision",
    "recurring",
    "types",
    "several",
    "no-match",
    "cross-user",
    "expired",
    "superseded",
    "forgotten",
    "near-duplicate",
    "long-text",
    "budget",
    "hostile",
    "long-query",
    "empty-store",
    "time",
    "cross-language",
}
HAN = re.compile(r"[\u4e00-\u9fff]")


def test_it_is_large_enough_and_covers_what_it_should() -> None:
    assert len(GOLDEN.cases) >= 120
    assert {case.category for case in GOLDEN.cases} == CATEGORIES
    languages = Counter(case.lang for case in GOLDEN.cases)
    assert set(languages) == {"en", "zh", "mixed"}
    assert languages["zh"] >= 40
    types = {memory.fields["type"] for case in GOLDEN.cases for memory in case.memories}
    assert types == {each.value for each in MemoryType}


def test_languages_are_what_they_say() -> None:
    for case in GOLDEN.cases:
        texts = [case.query, *(memory.content for memory in case.memories)]
        chinese = sum(bool(HAN.search(text)) for text in texts)
        if case.lang == "en":
            assert chinese == 0, case.id
        elif case.lang == "zh":
            assert chinese >= len(texts) - 1, case.id
        else:
            assert chinese, case.id


def test_every_question_stands_in_a_crowd() -> None:
    for case in GOLDEN.cases:
        if case.category != "empty-store":
            assert 4 <= len(case.memories) - len(case.expected) <= 14, case.id


def test_nothing_is_stored_twice_by_one_user() -> None:
    for case in GOLDEN.cases:
        twice = Counter((memory.user, memory.content) for memory in case.memories)
        assert max(twice.values(), default=1) == 1, case.id


def test_the_cases_are_what_their_category_says() -> None:
    for case in GOLDEN.cases:
        match case.category:
            case "cross-user":
                assert any(memory.user for memory in case.memories), case.id
            case "expired":
                assert any(memory.fields.get("expires_at", "9") < str(case.now) for memory in case.memories), case.id
            case "superseded":
                keys = Counter(memory.fields.get("key") for memory in case.memories if memory.fields.get("key"))
                assert max(keys.values()) > 1, case.id
            case "long-query":
                assert len(case.query) > MAX_QUERY_CHARS, case.id
            case "no-match":
                assert not case.expected, case.id
            case "empty-store":
                assert not any(memory.user is None for memory in case.memories), case.id


def _document() -> Any:
    return json.loads(SHIPPED.read_text(encoding="utf-8"))


def test_paraphrases_share_no_word_with_their_answer_in_english() -> None:
    """Words that carry meaning, that is: those of four letters or more that aren't mere grammar."""
    grammar = {
        "what",
        "where",
        "does",
        "have",
        "with",
        "that",
        "this",
        "from",
        "should",
        "would",
        "there",
        "since",
        "these",
    }
    for case in GOLDEN.cases:
        if case.category == "paraphrase" and case.lang == "en":
            asked = set(re.findall(r"[a-z]{4,}", case.query.lower())) - grammar
            for text in case.expected:
                assert not asked & set(re.findall(r"[a-z]{4,}", text.lower())), case.id


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda cases: cases.append(cases[0]), "is there twice"),
        (lambda cases: cases[0]["expected_retrievals"].append("never stored"), "expects what is not stored"),
        (lambda cases: cases[0].update(expect_empty=True), "either something or nothing"),
        (lambda cases: cases[0].update(expected_retrievals=[]), "either something or nothing"),
        (lambda cases: cases[0].update(distractors=["nowhere"]), "names no pool: 'nowhere'"),
        (lambda cases: cases[0]["setup_memories"][0].update(colour="red"), "unknown field 'colour'"),
        (lambda cases: cases[0]["setup_memories"][0].update(user="other"), "expects what is not stored"),
    ],
)
def test_a_contradiction_is_refused(change: Any, complaint: str, tmp_path: Path) -> None:
    document = _document()
    assert not list(problems(document))
    change(document["cases"])
    file = tmp_path / "bent.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BadSet, match=re.escape(complaint)):
        read(file)
