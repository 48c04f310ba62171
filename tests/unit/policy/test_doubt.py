"""Doubt: when a question may have no answer here, and when there is no reason to think so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from recollect.policy.doubt import doubt
from recollect.policy.question import prepare
from recollect.policy.relevance import CUT, Calibration, crowd, relevance
from recollect.policy.shelf import Card, Shelf
from recollect.policy.text import analyse

NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)
PLAIN = Card("message", "", "s", 0, None, "user", NOW, True, "", 0, False)


def shelf_of(*turns: tuple[str, str], chars: int = 40) -> Shelf:
    shelf = Shelf()
    shelf.put(
        replace(PLAIN, id=str(n), position=n, speaker=who, terms=" ".join(analyse(text)), chars=chars)
        for n, (who, text) in enumerate(turns)
    )
    return shelf


def doubted(shelf: Shelf, text: str) -> dict[str, float]:
    question = prepare(text, NOW, shelf.speakers)
    return doubt(shelf, question, shelf.match(question.terms, around=False).coverage)


def crowded(count: int = 500, chars: int = 40) -> Shelf:
    return shelf_of(*((("Ana", "Ben")[n % 2], f"the boat number{n} sails at dawn") for n in range(count)), chars=chars)


def test_a_fact_whose_words_are_nowhere_owes_more() -> None:
    assert doubted(crowded(), "Which violin did the tailor repair?")["owed"] == pytest.approx(0.7)
    assert doubted(crowded(chars=2000), "Which violin did the tailor repair?")["owed"] == pytest.approx(4.0)


def test_words_that_are_found_pay_it_off() -> None:
    assert "owed" not in doubted(crowded(), "When does the boat number17 sail?")
    part = doubted(crowded(chars=2000), "Which violin, tailor, lawyer, baker, butcher, painter or boat at dawn?")
    assert 0 < part["owed"] < 4.0


def test_remarks_and_small_memories_owe_nothing() -> None:
    assert doubted(crowded(), "I repaired a violin today.") == {}
    assert doubted(crowded(8), "Which violin did the tailor repair?") == {}
    assert doubted(Shelf(), "Which violin did the tailor repair?") == {}


def test_advice_owes_nothing() -> None:
    assert doubted(crowded(), "Can you recommend a violin tailor?") == {}
    assert doubted(crowded(chars=2000), "Can you recommend a violin tailor?") == {}


CHAT = shelf_of(
    ("Ana", "I adopted a turtle in spring"),
    ("Ben", "How sweet"),
    ("Ana", "Its name is Kiki"),
    ("Ben", "My brother plays chess in Lisbon"),
    ("Ana", "Really"),
    ("Ben", "Yes, every Sunday"),
)


def test_words_in_another_mouth_cost_belief() -> None:
    assert 0 < doubted(CHAT, "When does Ana's brother play chess in Lisbon?")["belief"] < 1
    for right in ("When does Ben's brother play chess in Lisbon?", "When did Ana adopt a turtle?"):
        assert "belief" not in doubted(CHAT, right)


def test_nobody_or_everybody_named_is_no_reason() -> None:
    assert "belief" not in doubted(CHAT, "Whose brother plays chess in Lisbon?")
    assert "belief" not in doubted(CHAT, "Do Ana and Ben have a brother in Lisbon?")


def test_what_is_owed_lowers_relevance_but_never_that_of_words() -> None:
    scale = Calibration(0.1, 0.05)
    assert relevance(0.5, 0.0, scale, 500, owed=3.0) < relevance(0.5, 0.0, scale, 500)
    assert relevance(0.1, 1.0, scale, 500, owed=9.0) == 1.0
    assert relevance(None, 0.5, scale, 500, owed=9.0) >= CUT


def test_a_crowd_grows_from_none_to_one() -> None:
    sizes = [crowd(size) for size in (0, 2, 8, 20, 100, 400, 10_000)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[2], sizes[-1]) == (0.0, 0.0, 1.0)
    assert np.isclose(crowd(400), 1.0)
