"""SimHash: near texts near, far texts far, and the digests that go beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Scope
from recollect.policy.digest import grave_digest, twin_digest
from recollect.policy.simhash import simhash64
from recollect.policy.text import analyse

ANA = Scope("acme", "ana")


@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=6), max_size=40))
def test_it_is_64_bits_and_ignores_order(terms: list[str]) -> None:
    value = simhash64(terms)
    assert 0 <= value < 1 << 64
    assert value == simhash64(sorted(terms))


def test_one_changed_word_moves_few_bits_and_another_text_many() -> None:
    words = "we agreed to meet every second thursday in the small room behind the library to read old letters".split()
    near = [*words[:-1], "diaries"]
    far = "the invoice for march was paid twice by mistake and the bank returned the second amount".split()
    assert (simhash64(words) ^ simhash64(near)).bit_count() < 20
    assert (simhash64(words) ^ simhash64(far)).bit_count() > 20


def test_no_terms() -> None:
    assert simhash64(analyse("")) == 0


def test_a_twin_differs_in_its_clothes_only() -> None:
    assert twin_digest(ANA, "I like  tea\n") == twin_digest(ANA, "i like tea!")
    for other in ("I like no tea", "I like 2 teas", "I liked tea", "Tea likes me"):
        assert twin_digest(ANA, "I like tea") != twin_digest(ANA, other)


def test_a_grave_knows_its_dead_in_other_clothes() -> None:
    assert grave_digest(ANA, "I like TEA https://tea.example") == grave_digest(ANA, "i like tea")
    assert grave_digest(ANA, "I like tea") != grave_digest(ANA, "I like coffee")


def test_digests_of_two_people_are_unrelated_and_a_pepper_changes_them() -> None:
    assert twin_digest(ANA, "x") != twin_digest(Scope("acme", "bo"), "x")
    assert twin_digest(ANA, "x") != twin_digest(ANA, "x", b"pepper")
    assert twin_digest(ANA, "x") != grave_digest(ANA, "x")
