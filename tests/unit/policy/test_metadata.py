"""What a memory is about, read off its words: English and Chinese, cheap enough for every write."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.metadata import MOST_TAGS, described, from_neighbours
from recollect.policy.names import entities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Ana lives in Lyon", {"Ana": "person", "Lyon": "place"}),
        ("I work at Initech", {"Initech": "organisation"}),
        ("She studied at Delft University", {"Delft University": "organisation"}),
        ("Dr. Patel moved to Leeds", {"Dr. Patel": "person", "Leeds": "place"}),
        ("Meet on 12 May 2025 at 9:30", {"12 May 2025": "date", "9:30": "date"}),
        ("Ticket ABC-123 goes to bob@example.com", {"ABC-123": "identifier", "bob@example.com": "email"}),
        ("Set max_items in v1.2.3", {"max_items": "identifier", "v1.2.3": "identifier"}),
        ("Yesterday was fine", {"Yesterday": "date"}),
        ("The weather turned", {}),
        ("I'm tired", {}),
        ("I met Ben and Ana of the Lyon Club", {"Ben": "person", "Ana": "person", "Lyon Club": "organisation"}),
        ("I live in Lyon and I'm fine", {"Lyon": "place"}),
        ("我叫王小明，住在上海浦东", {"王小明": "person", "上海浦东": "place"}),
        ("下周三去北京大学见李教授", {"下周三": "date", "北京大学": "organisation", "李教授": "person"}),
        ("2024年3月5日下午3点开会", {"2024年3月5日": "date", "下午3点": "date"}),
    ],
)
def test_names_and_their_kinds(text: str, expected: dict[str, str]) -> None:
    assert {each.text: each.kind for each in entities(text)} == expected


def test_confidence_is_the_mean_of_the_detectors() -> None:
    # person 0.8 (after "sister"), place 0.95 (a known city), phrases by their longest run: "sister" alone 0.4
    assert described("My sister Ana lives in Berlin").confidence == round((0.8 + 0.95 + 0.4) / 3, 4)
    assert described("bob@example.com").confidence == 0.98
    assert described("window seats").confidence == 0.55
    assert described("thanks!").confidence == 0.0
    assert described("").confidence == 0.0


def test_tags_are_folded_names_and_phrases_and_never_addresses_or_dates() -> None:
    found = described("Ana Lopez books window seats on Monday, mail ana@example.com")
    assert found.tags == ("ana lopez", "books window seats", "mail")
    assert found.of_kind("email", "date") == ("Monday", "ana@example.com")


@given(st.text(max_size=400))
def test_any_text_can_be_described(text: str) -> None:
    found = described(text)
    assert 0.0 <= found.confidence <= 1.0
    assert len(found.tags) <= MOST_TAGS
    assert all(tag.strip() for tag in found.tags)
    assert len(found.entities) == len(found.kinds)


def test_neighbours_propose_tags_only_where_there_are_few() -> None:
    near = [("travel", "lyon"), ("travel", "food"), ("food", "travel"), ("once",)]
    assert from_neighbours((), near) == ("travel", "food")
    assert from_neighbours(("food",), near) == ("travel",)
    assert from_neighbours(("a", "b"), near) == ()
    assert from_neighbours((), []) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I love hiking in the Alps with Max, my dog, and my friend Sarah Connor. We usually go to Zermatt in July. "
        * 2,
        "我叫王小明，住在上海浦东，在华为技术有限公司工作，下周三要去北京大学见李教授。" * 5,
    ],
)
def test_two_hundred_characters_take_less_than_a_millisecond(text: str) -> None:
    described(text)  # the dictionary is loaded once

    def cost() -> float:
        before = time.thread_time()
        for _ in range(50):
            described(text[:200])
        return (time.thread_time() - before) / 50

    assert min(cost() for _ in range(5)) < 0.001
