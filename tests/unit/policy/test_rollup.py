"""Extracts: whole sentences within a budget, every line traceable, nothing of the forgotten left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Memory, MemoryType
from recollect.policy.budget import count_tokens
from recollect.policy.rollup import MOST, clusters, extract, is_roll_up, sentences, trustworthy, without

T0 = datetime(2025, 1, 1, tzinfo=UTC)


def memory(id: str, content: str, day: int = 0, **fields: Any) -> Memory:
    at = T0 + timedelta(days=day)
    return Memory(id=id, content=content, created_at=at, updated_at=at, **fields)


def summary(content: str, by: str = "extract") -> Memory:
    return memory("s", content, type=MemoryType.SUMMARY, value={"roll_up": by}, source_ids=("a", "b"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Brown came at 9.30 a clock. He left.", ["Dr. Brown came at 9.30 a clock.", "He left."]),
        ("我喜欢茶。他喜欢咖啡！好", ["我喜欢茶。", "他喜欢咖啡！", "好"]),
        ("a list\n- one\n- two", ["a list", "- one", "- two"]),
        ("  ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_an_extract_says_each_thing_once_after_its_day() -> None:
    told = [memory("a", "Tea is good. Milk is not."), memory("b", "milk is not. Water is.", 3)]
    assert extract(told).split("\n") == [
        "2025-01-01: Tea is good.",
        "2025-01-01: Milk is not.",
        "2025-01-04: Water is.",
    ]


def test_within_a_budget_every_memory_is_heard_before_any_is_heard_twice() -> None:
    told = [
        memory("a", "The red boat leaks badly near its rudder. It was painted green by uncle Bob."),
        memory("b", "Blue paint is stored beside seven wooden oars. Rope hangs there."),
    ]
    lines = extract(told, tokens=40).split("\n")
    assert count_tokens("\n".join(lines)) <= 42
    assert any("leaks" in line for line in lines)
    assert any("oars" in line for line in lines)


words = st.text("abc de.!\n茶。", min_size=1, max_size=60)


@given(st.lists(words, min_size=1, max_size=8), st.integers(1, 60))
def test_an_extract_holds_nothing_but_its_sources_sentences_and_keeps_to_its_budget(
    texts: list[str], tokens: int
) -> None:
    told = [memory(f"m{n}", text) for n, text in enumerate(texts)]
    known = {sentence for text in texts for sentence in sentences(text)}
    lines = [line for line in extract(told, tokens).split("\n") if line]
    assert all(line.partition(": ")[2] in known for line in lines)
    assert sum(count_tokens(line) for line in lines) <= tokens


@given(st.lists(words, min_size=2, max_size=6, unique=True))
def test_without_one_of_them_an_extract_says_nothing_of_it(texts: list[str]) -> None:
    told = [memory(f"m{n}", text) for n, text in enumerate(texts)]
    whole = summary(extract(told))
    if not whole.content:
        return
    left = without(whole, told[:1], told[1:]) or ""
    said = {sentence.casefold() for sentence in sentences(told[0].content)}
    assert not [line for line in left.split("\n") if line and line.partition(": ")[2].casefold() in said]
    assert without(whole, told, []) is None, "without any nothing is left"


def test_what_a_model_wrote_gives_way_to_an_extract_of_those_that_are_left() -> None:
    written = summary("They drink tea and know Zelda.", by="some-model")
    assert without(written, [memory("a", "Zelda drinks tea")], [memory("b", "Tea is green", 2)]) == (
        "2025-01-03: Tea is green"
    )
    assert without(written, [memory("a", "Zelda drinks tea")], []) is None


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ("They bought 40 roses in 2025.", True),
        ("On 2025-01-01 they bought 40 roses.", True),
        ("On January 1 they bought roses.", True),
        ("They bought 41 roses.", False),
        ("They bought 4 roses.", False),
        ("", False),
        ("word " * 400, False),
    ],
)
def test_a_model_is_believed_without_numbers_of_its_own(said: str, believed: bool) -> None:
    assert trustworthy(said, [memory("a", "We bought 40 roses")]) is believed


def test_clusters_are_of_one_theme_alike_and_of_some_size() -> None:
    def alike(a: Memory, b: Memory) -> bool:
        return a.content[0] == b.content[0]

    told = [memory(f"x{n}", "x", n) for n in range(MOST + 2)]
    told += [memory(f"y{n}", "y", n, theme="other") for n in range(3)] + [memory(f"z{n}", "z") for n in range(2)]
    told += [memory(f"w{n}", "x", n, theme="other") for n in range(2)]
    groups = [[each.id for each in group] for group in clusters(told, alike)]
    assert sorted(map(len, groups)) == [3, MOST]
    assert ["y0", "y1", "y2"] in groups


def test_only_a_summary_that_says_so_is_a_roll_up() -> None:
    assert is_roll_up(summary("x"))
    assert not is_roll_up(memory("a", "x", type=MemoryType.SUMMARY))
    assert not is_roll_up(memory("a", "x", value={"roll_up": "extract"}))
    assert not is_roll_up(memory("a", "x", type=MemoryType.SUMMARY, value=["roll_up"]))
