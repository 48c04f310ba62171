"""The guard: what can't be stored as it is, is refused and named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput, TooLarge
from recollect.model import Scope
from recollect.policy.guard import checked_labels, checked_text, checked_value, slug


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1))
def test_text_passes_unchanged_unless_it_is_blank(text: str) -> None:
    if text.strip():
        assert checked_text(text, "content") == text
    else:
        with pytest.raises(InvalidInput):
            checked_text(text, "content")


def test_size_is_counted_in_bytes() -> None:
    assert checked_text("茶" * 3, "content", max_bytes=9)
    with pytest.raises(TooLarge, match="9"):
        checked_text("茶" * 4, "content", max_bytes=9)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("ab茶", max_size=5), st.lists, max_leaves=8
    )
)
def test_json_values_come_back_equal(value: object) -> None:
    assert checked_value(value) == value


def test_labels_are_distinct_and_in_order() -> None:
    assert checked_labels(["b", " a ", "b"], "tags") == ("b", "a")
    with pytest.raises(InvalidInput, match="64"):
        checked_labels([str(n) for n in range(65)], "tags")


@pytest.mark.parametrize(
    ("name", "expected"), [("Work Tools", "work-tools"), ("  Été  ", "été"), ("工作", "工作"), ("a/b", "a-b")]
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize("bad", ["", "  ", "a\x00", "a\nb", "\ud800", "x" * 256, None, 7])
def test_a_scope_needs_real_names(bad: object) -> None:
    for names in ((bad, "u", "s"), ("t", bad, "s"), ("t", "u", bad)):
        with pytest.raises(InvalidInput):
            Scope(*names)
