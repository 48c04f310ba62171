"""Quoted words: what counts as a quote, and which texts hold it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.phrases import MOST, held, phrases, quoted
from recollect.policy.text import analyse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('when was the "annual budget review"?', ["annual budget review"]),
        ("the “annual budget review” of 2024", ["annual budget review"]),
        ("谁提到「年度预算」？", ["年度预算"]),
        ("『红楼梦』和「年度预算」", ["红楼梦", "年度预算"]),
        ('他说"年度预算"了吗', ["年度预算"]),
        ("who said 'over the moon' first?", ["over the moon"]),
        ("who said ‘over the moon’ first?", ["over the moon"]),
        ("'don't panic' was where?", ["don't panic"]),
        ('"a b" and "c d"', ["a b", "c d"]),
        ('" spaced out "', ["spaced out"]),
        ('(" ")', []),
        ('an open "quote', []),
        ("the dogs' owner and the cats' food", []),
        ("Ana's and Ben's plans", []),
        ("rock 'n' roll", ["n"]),
        ('a 27" screen or a 32" one', []),
        ('"one line\nanother"', []),
        ("", []),
    ],
)
def test_what_is_a_quote(text: str, expected: list[str]) -> None:
    assert quoted(text) == expected


@pytest.mark.parametrize(
    ("question", "text", "count"),
    [
        ('"annual budget review"', "The Annual Budget Review is on Monday", 1),
        ('"annual budget review"', "our annual budget reviews", 1),
        ('"annual budget review"', "annual review of the budget", 0),
        ('"annual budget review"', "budget review, then the annual dinner", 0),
        ('"state of the art"', "state of the art", 1),
        ('"state of the art"', "state the art", 0),
        ('"tea"', "green tea", 1),
        ('"tea"', "teapot", 0),
        ('"green tea" "black coffee"', "green tea, never black coffee", 2),
        ('"green tea" "black coffee"', "green tea", 1),
        ("「年度预算」", "我们在讨论年度预算的问题", 1),
        ("「年度预算」", "预算是年度的", 0),
        ("「年度预算」", "年度。预算", 0),
        ("「茶」", "我爱喝绿茶", 1),
        ("“用Python写报告”", "我喜欢用Python写报告。", 1),
        ("“用Python写报告”", "我喜欢用Python，也写诗，报告不写", 0),
        ('"user_id column"', "the user_id column is indexed", 1),
        ('"café"', "Cafe Central", 1),
    ],
)
def test_which_texts_hold_it(question: str, text: str, count: int) -> None:
    assert held(" ".join(analyse(text)), phrases(question)) == count


@pytest.mark.parametrize("text", ['"the"', "「的」", '"?!"', "no quotes", "\"\" ''"])
def test_what_says_nothing_is_no_phrase(text: str) -> None:
    assert phrases(text) == ()


def test_phrases_are_distinct_few_and_bounded() -> None:
    assert phrases('"green tea" and "Green Tea"') == (("green tea",),)
    assert len(phrases(" ".join(f'"word{n} tea"' for n in range(50)))) == MOST
    (phrase,) = phrases('"' + " ".join(f"w{n}" for n in range(500)) + '"')
    assert len(" ".join(phrase).split()) == 64


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for said in quoted(text):
        assert said in text
        assert "\n" not in said
    for phrase in phrases(text):
        assert all(run == " ".join(run.split()) != "" for run in phrase)


words = st.text(st.sampled_from("abcxyz年度预算 '-_.9"), min_size=1, max_size=30)


@given(words, st.text(max_size=40), st.text(max_size=40))
def test_a_text_that_contains_the_quote_as_words_holds_it(said: str, before: str, after: str) -> None:
    wanted = phrases(f'"{said}"')
    assert held(" ".join(analyse(f"{before} {said} {after}")), wanted) == len(wanted)


@given(
    st.lists(st.sampled_from("年度预算审查会议"), min_size=1, max_size=6).map("".join),
    st.text("年度预算的", max_size=9),
)
def test_chinese_is_held_wherever_it_stands(said: str, around: str) -> None:
    wanted = phrases(f"「{said}」")
    assert held(" ".join(analyse(around + said + around)), wanted) == len(wanted)
