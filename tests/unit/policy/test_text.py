"""Text analysis: what becomes a term, and what every term is made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.text import MAX_TERM, analyse, keywords, normalise, query_terms, subject_terms

any_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running runners ran", ["run", "runner", "ran"]),
        ("CAFÉ café Cafe", ["cafe", "cafe", "cafe"]),
        ("代码", ["代", "码", "代码"]),
        ("写Python代码", ["写", "python", "代", "码", "代码"]),
        ("user_id", ["user", "id", "user_id"]),
        ("v1.2.3", ["v1", "2", "3", "v1_2_3"]),
        ("a@b.co", ["a", "b", "co", "a_b_co"]),
        ("foo-bar", ["foo", "bar", "foo_bar"]),
        ("getUserName", ["get", "user", "name", "getusername"]),
        ("io.readHTTPHead", ["io", "read", "http", "head", "readhttphead", "io_readhttphead"]),
        ("C++ and C#", ["c", "c_pp", "and", "c", "c_sharp"]),
        ("1,250,000 or 3,4", ["1250000", "or", "3", "4"]),
        ("２０２３", ["2023"]),
        ("Ana's, I'd, don't", ["ana", "i", "dont"]),
        ("🎉 done ☀", ["u1f389", "done", "u2600"]),
        ("𠀀", ["u20000"]),
        ("مَرْحَبًا", ["مرحبا"]),
        ("", []),
        ("… — !", []),
        ("\ud800\x00", []),
    ],
)
def test_analyse(text: str, terms: list[str]) -> None:
    assert analyse(text) == terms


@given(any_text)
def test_a_term_holds_letters_digits_and_underscores_only(text: str) -> None:
    for term in analyse(text):
        assert 0 < len(term) <= MAX_TERM
        assert re.fullmatch(r"\w+", term)
        assert term.isascii() or max(term) <= "\uffff"
        assert term == term.casefold()


@given(any_text)
def test_analysis_is_deterministic_and_holds_the_terms_of_a_query(text: str) -> None:
    assert analyse(text) == analyse(text)
    assert set(query_terms(text)) <= set(analyse(text))


@given(any_text)
def test_query_terms_are_distinct_and_never_empty_where_the_text_is_not(text: str) -> None:
    terms = query_terms(text)
    assert len(terms) == len(set(terms))
    assert bool(terms) == bool(analyse(text))


@settings(deadline=None)  # the first call loads a dictionary
@given(any_text)
def test_keywords_and_normalise_accept_every_text(text: str) -> None:
    folded = [word.casefold() for word in keywords(text)]
    assert len(folded) == len(set(folded))
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("text", ["a" * 100_000, "a-" * 50_000, "aB" * 50_000, "码" * 50_000, "1,000" * 9_000])
def test_a_huge_token_is_bounded(text: str) -> None:
    assert max(map(len, analyse(text))) <= MAX_TERM


def test_long_tokens_that_differ_late_stay_apart() -> None:
    assert analyse("x" * 100 + "1") != analyse("x" * 100 + "2")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("When did Ana go to the market?", ["ana", "market"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("what is my user id", ["user", "id"]),
        ("他们用的是什么代码？", ["代", "码", "么代", "代码"]),
        ("market Market markets", ["market"]),
    ],
)
def test_query_terms(text: str, terms: list[str]) -> None:
    assert query_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("姑妈什么时候到?", ["姑", "妈", "姑妈"]),
        ("应该用什么 package manager？", ["packag", "manag"]),
        ("衣柜有多高", ["衣", "柜", "衣柜", "高"]),
        ("是什么？", []),
    ],
)
def test_subject_terms(text: str, terms: list[str]) -> None:
    assert subject_terms(text) == terms


@given(any_text)
def test_subject_terms_are_terms_of_the_query(text: str) -> None:
    assert set(query_terms(text)).issuperset(subject_terms(text))


def test_keywords_of_mixed_text() -> None:
    assert keywords("我喜欢用 Python 写代码") == ["喜欢", "Python", "代码"]


def test_keywords_keep_identifiers_whole_and_the_first_spelling() -> None:
    assert keywords("The build of user_id v1.2.3 broke Build") == ["build", "user_id", "v1.2.3", "broke"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See  https://example.org/a?b=c\tNOW", "see now"),
        ("Water boils at 100 °C [1], [2-4].", "water boils at 100 °c , ."),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("据报道【3†来源】天气很好", "据报道 天气很好"),
    ],
)
def test_normalise(text: str, plain: str) -> None:
    assert normalise(text) == plain
