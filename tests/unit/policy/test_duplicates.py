"""The form of a text: equal for what only looks different, different for everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.duplicates import fingerprint, form_of, has_plain_case, links, same


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We ship on Friday", "On Friday, we ship!"),
        ("We ship on Friday", "On Friday we\n  ship"),
        ("I LIKE GREEN TEA", "i like green tea."),
        ("The meeting is at 3pm", "the meeting is at 3 p.m."),
        ("I don't like tea", "I do not like tea"),
        ("I like tea, coffee and milk", "I like milk, tea, and coffee"),
        ("Ana and Bo owe Cy", "Bo and Ana owe Cy"),
        ("The docs moved to the wiki https://w.example/a?utm_source=x", "the docs moved to the wiki"),
        ("Read the notes at https://www.a.example/b/", "Read the notes at http://a.example/b?utm_medium=mail"),
        ("I have a cat. My car is red.", "My car is red. I have a cat."),
        ("I have a cat. My car is red.", "I have a cat my car is red"),
        ("1,000 euros a year", "1000 euros a year"),
        ("3–5 cats", "3-5 cats"),
        ("I am 3 years old [1]", "I am 3 years old"),
        ("我明天去北京", "明天我去北京。"),
        ("我 喜 欢 茶", "我喜欢茶！"),
        ("What is tea?", "what is tea"),
    ],
)
def test_clothes_make_no_difference(a: str, b: str) -> None:
    assert same(a, b)
    assert same(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ana owes Bo", "Bo owes Ana"),
        ("US election", "us election"),
        ("see https://a.example/1", "see https://a.example/2"),
        ("see https://a.example/1", "see"),
        ("Read the short notes https://a.example/1", "Read the short notes https://a.example/2"),
        ("the meeting is at 3pm", "the meeting is at 4pm"),
        ("I like tea", "I don't like tea"),
        ("我喜欢茶", "我不喜欢茶"),
        ("I like green tea, coffee and milk", "I like green coffee, tea and milk"),
        ("Ana and Bo Smith came", "Bo and Ana Smith came"),
        ("He said we ship on Friday", "On Friday he said we ship"),
        ("Bo is my boss. He is 40. Cy is my friend.", "Cy is my friend. He is 40. Bo is my boss."),
        ("5 Mb a second", "5 MB a second"),
        ("-5 degrees", "5 degrees"),
        (".5 kg", "5 kg"),
        ("1.5 kg", "15 kg"),
        ("an A- in maths", "an A in maths"),
        ("C++ is nice", "C is nice"),
        ("You like tea?", "You like tea."),
        ("👍 to tea", "👎 to tea"),
        ("x[1] is it", "x[2] is it"),
        ("if !x then", "if x then"),
        ("a few friends", "few friends"),
        ("from Paris to Rome", "from Rome to Paris"),
        ("!!!", "..."),
    ],
)
def test_whatever_else_differs_does(a: str, b: str) -> None:
    assert not same(a, b)
    assert not same(b, a)


@given(st.text(max_size=200))
def test_every_text_has_a_form_and_repeats_itself(text: str) -> None:
    assert same(text, text)
    assert bool(form_of(text)) == bool(text.split()) or not text.isprintable()


@given(
    st.text(st.sampled_from("abc AB.,!\n?12'’我不"), max_size=40),
    st.text(st.sampled_from("abc AB.,!\n?12'’我不"), max_size=40),
)
def test_sameness_has_no_direction(a: str, b: str) -> None:
    assert same(a, b) == same(b, a)


PLAIN_WORDS = "Us It Who I Don't mb 5 1,000 p.m. A.m. Dr. And tea, Tea? - -5 C++ a/b (on Monday)".split()


@given(st.lists(st.sampled_from(PLAIN_WORDS), max_size=8).map(" ".join))
def test_plain_case_says_nothing(text: str) -> None:
    assert has_plain_case(text)
    assert form_of(text) == form_of(text.lower())


@pytest.mark.parametrize("text", ["Ask the US about us", "5 Mb", "5mW", "One.\nTwo", "Straße"])
def test_where_case_may_matter_nothing_is_assumed(text: str) -> None:
    assert not has_plain_case(text)


@pytest.mark.parametrize(
    "filler",
    [
        "a, " * 50_000,
        "(" * 100_000,
        "https://" * 20_000,
        "1," * 50_000,
        "[1] " * 30_000,
        "and a " * 40_000,
        "Dr. " * 100_000,
    ],
)
def test_no_text_takes_long(filler: str) -> None:
    form_of(filler)


def test_links_are_compared_without_what_brought_someone_there() -> None:
    assert links("see https://www.a.example/b/?utm_source=x#top.") == {"a.example/b"}
    assert links("http://[broken") == {"http://[broken"}


def test_the_fingerprint_is_that_of_the_words_alone() -> None:
    told = fingerprint("We drink green tea. Ana doesn't.")
    for other in ("we drink GREEN tea Ana does not", "Ana doesn’t. We drink green tea! https://a.example/b"):
        assert fingerprint(other) == told
    assert fingerprint("我喜欢茶。他不喜欢。") == fingerprint("我喜欢茶他不喜欢")
    assert fingerprint("We drink black tea. Ana doesn't.") != told
