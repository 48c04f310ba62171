"""What a sign needs is in everything it matches: skipping a sign whose pieces are absent never misses anything."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from recollect.policy.injection.chinese import CHINESE
from recollect.policy.injection.english import ENGLISH
from recollect.policy.injection.signs import Sign, sign

SIGNS = [each for each in ENGLISH + CHINESE if each.needs]


def test_pieces_are_parted_by_bars() -> None:
    assert sign("f", 0.1, "a|b c", needs="a|b c").needs == {"a", "b c"}
    assert sign("f", 0.1, "a").needs == frozenset()


@pytest.mark.parametrize("each", SIGNS, ids=[f"{n}-{each.family}" for n, each in enumerate(SIGNS)])
@given(data=st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_whatever_a_sign_matches_holds_one_of_its_pieces(each: Sign, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(each.pattern.pattern))
    found = each.pattern.search(text)
    assume(found)
    assert found is not None
    assert any(piece in found[0] for piece in each.needs), found[0]
