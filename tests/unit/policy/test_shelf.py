"""The shelf: the same answers however it was filled, and both plain legs against slow, obvious ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.shelf import Card, Shelf

START = datetime(2024, 1, 1, tzinfo=UTC)


def card(id: str, terms: str, *, session: str | None = "s", position: int = 0, **fields: object) -> Card:
    plain = Card("message", id, session, position, None, "user", START, True, terms, len(terms), False)
    return replace(plain, **fields)  # type: ignore[arg-type]


def vector(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def bm25(texts: list[str], query: list[str]) -> list[float]:
    """BM25 as the textbook has it, over its own upper bound."""
    docs = [Counter(text.split()) for text in texts]
    mean = sum(map(Counter.total, docs)) / len(docs)
    holding = {term: sum(term in doc for doc in docs) for term in query}
    idf = {term: log1p((len(docs) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    return [
        sum(idf[t] * doc[t] * 2.2 / (doc[t] + 1.2 * (0.25 + 0.75 * doc.total() / mean)) for t in query)
        / (2.2 * sum(idf.values()))
        for doc in docs
    ]


def test_the_lexical_leg_is_bm25() -> None:
    texts = ["ann like tea", "bob like coffe coffe", "the train left", "tea tea tea tea time with ann and bob"]
    shelf = Shelf()
    shelf.put(card(str(i), text) for i, text in enumerate(texts))
    expected = bm25(texts, ["tea", "ann", "moon"])
    assert dict(shelf.lexical(["tea", "ann", "moon"])) == pytest.approx({0: expected[0], 3: expected[3]}, rel=1e-4)


def test_a_term_with_a_star_is_a_prefix() -> None:
    shelf = Shelf()
    shelf.put([card("a", "python is old"), card("b", "pythons and pythonist"), card("c", "a pyre")])
    assert [shelf.card(row).id for row, _ in shelf.lexical(["pyth*"])] == ["b", "a"]
    assert shelf.lexical(["pyth"]) == shelf.lexical(["*"]) == shelf.lexical(["ruby*"]) == []


def test_the_dense_leg_is_the_cosine_and_passes_over_cards_without_a_vector() -> None:
    shelf = Shelf()
    shelf.put([card("a", "x", vector=vector(3, 0)), card("b", "x"), card("c", "x", vector=vector(1, 1))])
    assert [(shelf.card(row).id, round(score, 3)) for row, score in shelf.dense(vector(1, 0))] == [
        ("a", 1.0),
        ("c", 0.707),
    ]


def test_a_vector_that_arrives_later_joins_the_card_in_place() -> None:
    shelf = Shelf()
    shelf.put([card("a", "x")])
    shelf.put([card("a", "x", vector=vector(1, 0))])
    assert (len(shelf), shelf.rows, len(shelf.dense(vector(1, 0)))) == (1, 1, 1)


def test_a_vector_of_another_length_is_left_out() -> None:
    shelf = Shelf()
    shelf.put([card("a", "x", vector=vector(1, 0)), card("b", "x", vector=vector(1, 0, 0))])
    assert [row for row, _ in shelf.dense(vector(1, 0))] == [0]
    assert [score for _, score in shelf.dense(vector(1, 0, 0))] == [0.0]


def test_a_replaced_text_is_found_by_its_new_words_only() -> None:
    shelf = Shelf()
    shelf.put([card("a", "old word")])
    shelf.put([card("a", "new word")])
    assert shelf.lexical(["old"]) == []
    assert [shelf.card(row).terms for row, _ in shelf.lexical(["new"])] == ["new word"]


def test_masks_restrict_both_legs() -> None:
    shelf = Shelf()
    shelf.put([card("a", "tea", vector=vector(1, 0)), card("b", "tea", vector=vector(1, 0))])
    only_b = shelf.mask(lambda each: each.id == "b")
    assert (
        [row for row, _ in shelf.lexical(["tea"], only_b)]
        == [row for row, _ in shelf.dense(vector(1, 0), only_b)]
        == [1]
    )


def test_neighbours_follow_position_whatever_the_order_of_arrival() -> None:
    shelf = Shelf()
    shelf.put([card("c", "z", position=3), card("a", "x", position=1), card("b", "y", position=2)])
    near = shelf.surroundings()
    chain = {shelf.card(row).id: shelf.card(after).id if after >= 0 else None for row, after in enumerate(near.after)}
    assert chain == {"a": "b", "b": "c", "c": None}
    shelf.drop([("message", "b")])
    assert shelf.surroundings().after.tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("voices", "talk"),
    [("ABABAB", True), ("AABBBAAB", True), ("AAAAAA", False), ("ABCDEFGHABCDEFGH", False), ("A", False)],
)
def test_talk_is_known_by_rhythm_and_cast(voices: str, talk: bool) -> None:
    shelf = Shelf()
    shelf.put(card(str(i), "x", position=i, speaker=voice) for i, voice in enumerate(voices))
    assert shelf.threads.is_dialogue is talk


changes = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.sampled_from(["tea", "tea time", "coffe", "moon tea"]),
        st.integers(0, 5),
        st.booleans(),
        st.booleans(),
    ),
    max_size=150,
)


@settings(max_examples=60, deadline=None)
@given(changes)
def test_however_it_was_filled_it_answers_as_if_filled_at_once(steps: list[tuple[int, str, int, bool, bool]]) -> None:
    grown, cards = Shelf(), dict[str, Card]()
    for id, terms, position, keep, embedded in steps:
        cards.pop(str(id), None)
        if keep:
            unit = vector(1, position) if embedded else None
            cards[str(id)] = card(str(id), terms, session="s", position=position, vector=unit, speaker="AB"[id % 2])
            grown.put([cards[str(id)]])
        else:
            grown.drop([("message", str(id))])
    fresh = Shelf()
    fresh.put(cards.values())
    assert len(grown) == len(fresh) == len(cards)
    assert grown.threads.is_dialogue == fresh.threads.is_dialogue
    for shelf in (grown, fresh):
        assert {shelf.card(row).id for row, _ in shelf.lexical(["tea"])} == {
            i for i, c in cards.items() if "tea" in c.terms
        }
        assert {shelf.card(row).id for row, _ in shelf.dense(vector(1, 2))} == {
            i for i, c in cards.items() if c.vector is not None
        }


def test_rows_do_not_pile_up() -> None:
    shelf = Shelf()
    for i in range(2000):
        shelf.put([card("same", f"word{i}", created_at=START + timedelta(days=i))])
    assert shelf.rows < 200
    assert shelf.nbytes > 0


def test_rows_that_hold_every_term() -> None:
    shelf = Shelf()
    shelf.put([card("a", "green tea leaves"), card("b", "tea"), card("c", "green green tea"), card("d", "green")])
    assert [shelf.card(row).id for row in shelf.holding(["green", "tea"])] == ["a", "c"]
    assert len(shelf.holding(["green", "absent"])) == len(shelf.holding([])) == 0
    shelf.drop([("message", "a")])
    assert [shelf.card(row).id for row in shelf.holding(["green", "tea"])] == ["c"]


def test_several_queries_at_once_are_what_each_is_alone() -> None:
    random = np.random.default_rng(5)
    vectors, queries = random.normal(size=(700, 24)), list(random.normal(size=(3, 24)))
    shelf = Shelf()
    shelf.put(card(str(i), "x", vector=each if i % 7 else None) for i, each in enumerate(vectors))
    together = shelf.vectors.similarities_to(queries, shelf.rows)
    for query, (plain, centred) in zip(queries, together, strict=True):
        alone = shelf.vectors.similarities(query, shelf.rows)
        cosine = vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))
        assert plain == pytest.approx(np.where(np.arange(700) % 7, cosine, 0), abs=1e-5)
        assert plain == pytest.approx(alone[0], abs=1e-6)
        assert centred == pytest.approx(alone[1], abs=1e-6)
