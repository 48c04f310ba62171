"""Importance by the four heuristics of the companion contract: every number here is worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import MemoryType
from recollect.policy.importance import base_importance, is_lasting, with_repeats


@pytest.mark.parametrize(
    ("text", "kind", "explicit", "confidence", "expected"),
    [
        ("The kettle is blue.", "fact", False, 0.0, 0.2),
        ("The kettle is blue.", "fact", False, 0.59, 0.2),
        ("The kettle is blue.", "fact", False, 0.6, 0.4),
        ("The kettle is blue.", "fact", True, 0.0, 0.7),
        ("The kettle is blue.", "fact", True, 0.9, 0.9),
        ("I prefer tea.", "fact", False, 0.0, 0.5),
        ("Tea.", "preference", False, 0.0, 0.5),
        ("We went with Postgres.", "decision", False, 0.6, 0.7),
        ("I promised Ana to call on Sunday.", "fact", False, 0.8, 0.7),
        ("My goal is a marathon in October.", "fact", False, 0.0, 0.5),
        ("I prefer tea.", "preference", True, 0.7, 1.0),
        ("haha, thanks!", "fact", False, 0.0, 0.1),
        ("ok", "fact", True, 0.0, 0.6),
        ("我喜欢喝茶", "fact", False, 0.0, 0.5),
        ("我打算明年考研", "fact", False, 0.6, 0.7),
        ("水壶在桌子上", "fact", False, 0.0, 0.2),
        ("好的，谢谢！", "fact", False, 0.0, 0.1),
    ],
)
def test_hand_computed(text: str, kind: str, explicit: bool, confidence: float, expected: float) -> None:
    assert base_importance(text, type=kind, explicit=explicit, metadata_confidence=confidence) == expected


@given(st.text(max_size=200), st.sampled_from(list(MemoryType)), st.booleans(), st.floats(0, 1))
def test_never_leaves_nought_to_one_and_asking_never_lowers_it(
    text: str, kind: MemoryType, explicit: bool, confidence: float
) -> None:
    value = base_importance(text, type=kind, explicit=explicit, metadata_confidence=confidence)
    assert 0.0 <= value <= base_importance(text, type=kind, explicit=True, metadata_confidence=confidence) <= 1.0


def test_repeats_add_up_to_one_and_no_more() -> None:
    assert [with_repeats(0.5, count) for count in (0, 1, 4, 10, 1000)] == [0.5, 0.55, 0.7, 1.0, 1.0]


@pytest.mark.parametrize(
    "text", ["I never eat meat", "we decided to move", "due by Friday", "每天早上跑步", "他对花生过敏"]
)
def test_lasting(text: str) -> None:
    assert is_lasting(text)


@pytest.mark.parametrize("text", ["It rained in Lyon", "The train was late", "昨天下雨了"])
def test_passing(text: str) -> None:
    assert not is_lasting(text)
