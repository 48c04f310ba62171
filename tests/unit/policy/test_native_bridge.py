"""The bridge: whom it leads, where to, and that it changes the order but not how sure a hit is."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from recollect.engine.recalling.bridges import MADE_FOR, bridge_of
from recollect.policy.native import NativeWeights, rank
from recollect.policy.native_bridge import Bridge
from recollect.policy.question import prepare
from recollect.policy.shelf import Card, Shelf

NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)
ACROSS = Bridge(np.array([[1.0], [0.0], [0.0]], np.float32), np.array([[-1.0, 2.0, 0.0]], np.float32))
"""Leads what lies along the first axis to the second."""
ADVICE, FACT = "Can you recommend a bar?", "Which bar was it?"


def shelf() -> Shelf:
    found = Shelf()
    for number, id in enumerate(("alike", "bearing", "neither")):
        vector = np.eye(3, dtype=np.float32)[number]
        found.put([Card("memory", id, None, 0, None, "memory", NOW, True, id, 20, False, vector)])
    return found


def first(text: str, bridge: Bridge | None, weights: NativeWeights | None = None) -> tuple[str, dict[str, float]]:
    held, question = shelf(), prepare(text, NOW)
    vectors = [np.array([1.0, 0.1, 0.0], np.float32)] * len(question.texts)
    best = rank(held, question, vectors, weights=weights or NativeWeights(), bridge=bridge)[0]
    return held.card(best.index).id, best.signals


def test_a_request_is_led_to_what_bears_on_it() -> None:
    assert first(ADVICE, None)[0] == "alike"
    assert first(ADVICE, ACROSS)[0] == "bearing"


@pytest.mark.parametrize("text", [FACT, "附近有什么酒吧推荐？"])
def test_facts_and_other_languages_pass_unchanged(text: str) -> None:
    assert first(text, ACROSS) == first(text, None)


def test_it_can_be_switched_off() -> None:
    assert first(ADVICE, ACROSS, NativeWeights(bridge=False)) == first(ADVICE, None)


def test_how_near_a_hit_lies_is_measured_from_the_question_itself() -> None:
    found, signals = first(ADVICE, ACROSS)
    assert found == "bearing"
    assert signals["cosine"] == pytest.approx(0.1 / np.hypot(1.0, 0.1), abs=1e-3)


def test_a_vector_of_another_model_stays_as_it_is() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    assert ACROSS.lead(vector, np.zeros(2, np.float32)).tolist() == vector.tolist()
    assert ACROSS.lead(np.ones(3, np.float32), np.zeros(0, np.float32)).tolist() == [1, 1, 1]


def test_the_one_that_ships_fits_the_model_it_was_made_for_and_no_other() -> None:
    bridge = bridge_of(f"{MADE_FOR}/1")
    assert bridge is not None
    assert (len(bridge.into), bridge.out.shape[1]) == (896, 896)
    assert bridge_of("use-m3/1") is None
    assert bridge_of("") is None
