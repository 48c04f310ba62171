"""The native ranking: each kind of evidence, shown by a case it decides, and by its absence when switched off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.policy.native import DEFAULT, NativeWeights, rank
from recollect.policy.question import prepare
from recollect.policy.shelf import Card, Shelf
from recollect.policy.text import analyse

NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)
OFF = NativeWeights(
    lexical_window=0, dense_window=0, session=0, time=0, speaker=0, question=0, assistant=0,
    twins=False, guard=False,
)  # fmt: skip


def said(id: str, text: str, *, position: int = 0, session: str | None = "s", days: int = 0, **fields: object) -> Card:
    plain = Card(
        "message", id, session, position, None, "user", NOW - timedelta(days=days), True,
        " ".join(analyse(text)), len(text), text.endswith("?"),
    )  # fmt: skip
    return replace(plain, **fields)  # type: ignore[arg-type]


def shelf_of(*cards: Card) -> Shelf:
    shelf = Shelf()
    shelf.put(cards)
    return shelf


def asked(shelf: Shelf, text: str, vectors: Sequence[Sequence[float]] = (), **options: object) -> list[str]:
    question = prepare(text, NOW, shelf.speakers)
    hits = rank(shelf, question, [np.array(v, np.float32) for v in vectors], **options)  # type: ignore[arg-type]
    return [shelf.card(hit.index).id for hit in hits]


def chat(*turns: tuple[str, str]) -> Shelf:
    return shelf_of(*(said(str(i), text, position=i, speaker=who) for i, (who, text) in enumerate(turns)))


def test_what_holds_a_quote_comes_first_whatever_else_speaks_for_the_rest() -> None:
    texts = {"apart": "budget review: the annual budget review", "quote": "an annual dinner, a review, budget annual"}
    shelf = shelf_of(*(said(id, text, vector=np.eye(2)[n]) for n, (id, text) in enumerate(texts.items())))
    assert asked(shelf, 'which "budget annual" review?', [(1.0, 0.0)]) == ["quote", "apart"]
    assert (
        asked(shelf, 'which "budget annual" review?', [(1.0, 0.0)], weights=replace(DEFAULT, phrase=0.0))[0] == "apart"
    )


TURTLES = chat(
    ("Nate", "The weather was grey all week here."),
    ("Jo", "How long have you had your turtles?"),
    ("Nate", "Three years now, and they bring me joy."),
    ("Jo", "That is lovely to hear."),
    ("Nate", "My team won the chess match yesterday."),
    ("Jo", "Well played, all of you!"),
)


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    assert asked(TURTLES, "How long has Nate had turtles?")[0] == "2"
    assert asked(TURTLES, "How long has Nate had turtles?", weights=OFF)[0] == "1"


def test_the_named_speaker_comes_first() -> None:
    shelf = chat(("Ana", "I moved to Lisbon in spring."), ("Bo", "I moved to Lisbon in spring, too."))
    assert asked(shelf, "When did Bo move to Lisbon?")[0] == "1"
    assert asked(shelf, "When did Ana move to Lisbon?")[0] == "0"


def test_a_time_expression_prefers_what_was_said_then() -> None:
    shelf = shelf_of(
        said("may", "We had dinner at the harbour.", days=30, session=None),
        said("june", "We had dinner at the harbour again.", days=3, session=None),
    )
    assert asked(shelf, "Where did we have dinner last May?")[0] == "may"
    assert asked(shelf, "Where did we have dinner this month?")[0] == "june"


@pytest.mark.parametrize(
    ("question", "told", "days"),
    [
        ("What did I do last Monday? Did I see the dentist?", "I saw the dentist", 5),
        ("我上周一去看牙医了吗？", "今天看了牙医", 12),
    ],
)
def test_what_was_told_then_need_not_say_when(question: str, told: str, days: int) -> None:
    shelf = shelf_of(said("then", told, days=days), said("before", told, days=40))
    share = {shelf.card(hit.index).id: hit.signals["coverage"] for hit in rank(shelf, prepare(question, NOW))}
    assert share["then"] > 2 * share["before"]


def test_only_where_words_are_all_there_is_the_wording_of_a_question_does_not_count() -> None:
    plain = said("plain", "姑妈四点到虹桥机场")
    embedded = replace(plain, id="embedded", vector=np.array([1.0, 0.0]))
    shelf = shelf_of(plain, embedded, said("other", "舅舅住在苏州"))
    hits = rank(shelf, prepare("姑妈什么时候到?", NOW), [np.array([1.0, 0.0], np.float32)])
    share = {shelf.card(hit.index).id: hit.signals.get("coverage", 0.0) for hit in hits}
    assert share["plain"] == 1.0
    assert share["embedded"] < 0.5


def test_meaning_finds_what_words_do_not() -> None:
    shelf = shelf_of(
        said("a", "I enjoy hiking.", session=None, vector=np.array([1, 0.2])),
        said("b", "The invoice is due.", session=None, vector=np.array([0.1, 1])),
    )
    assert asked(shelf, "outdoor activities", [[1, 0.1]])[0] == "a"


def test_repeats_step_back_and_the_newest_stays() -> None:
    repeats = [said(f"old{i}", "My phone is a Fairphone.", days=9 - i, session=None) for i in range(5)]
    shelf = shelf_of(*repeats, said("other", "My phone was stolen on the train to the harbour.", session=None))
    assert asked(shelf, "Which phone is mine?", limit=2) == ["old4", "other"]
    assert asked(shelf, "Which phone is mine?", limit=2, weights=replace(DEFAULT, twins=False)) == ["old0", "old1"]


def test_a_rare_word_is_never_lost() -> None:
    noise = [said(f"n{i}", f"deploy number {i}", session=None, vector=np.array([1.0, i / 100])) for i in range(300)]
    target = said(
        "target", "ticket XK-9041 is about something else entirely", session=None, vector=np.array([-1.0, 0.1])
    )
    shelf = shelf_of(*noise, target)
    question = "please suggest how to deploy XK-9041"
    assert "target" in asked(shelf, question, [[1, 0]], limit=5)
    assert "target" not in asked(shelf, question, [[1, 0]], limit=5, weights=replace(DEFAULT, guard=False, advice=50.0))


def test_without_vectors_words_decide() -> None:
    assert asked(TURTLES, "chess match")[0] == "4"


def test_allowed_and_limit_are_kept() -> None:
    allowed = TURTLES.mask(lambda card: card.speaker == "Jo")
    assert set(asked(TURTLES, "turtles", allowed=allowed)) == {"1", "3", "5"}
    assert len(asked(TURTLES, "turtles", limit=2)) == 2
    assert asked(Shelf(), "turtles") == []


def test_signals_say_why() -> None:
    (first, *_) = rank(TURTLES, prepare("How long has Nate had turtles?", NOW, TURTLES.speakers))
    assert first.signals["lexical"] > 0
    assert first.signals["speaker"] == pytest.approx(DEFAULT.speaker)
    assert "time" not in first.signals


words = st.sampled_from(["tea", "time", "moon", "river", "train", "ann", "bob", "上周三", "喝茶", "?"])
texts = st.lists(words, max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(texts, st.booleans()), max_size=30), texts, st.integers(1, 12))
def test_every_shelf_ranks_without_repeats_best_first(cards: list[tuple[str, bool]], query: str, limit: int) -> None:
    shelf = shelf_of(
        *(
            said(str(i), text, position=i, speaker="AB"[i % 2], vector=np.array([1.0, i]) if embedded else None)
            for i, (text, embedded) in enumerate(cards)
        )
    )
    question = prepare(query, NOW, shelf.speakers)
    hits = rank(shelf, question, [np.array([1.0, 1.0])] * len(question.texts), limit=limit)
    assert len({hit.index for hit in hits}) == len(hits) == min(limit, len(cards))
    assert all(np.isfinite(hit.score) for hit in hits)


def test_a_filter_that_lets_nothing_through_finds_nothing() -> None:
    shelf = shelf_of(said("a", "the harbour"), said("b", "the harbour too", position=1))
    assert rank(shelf, prepare("harbour"), allowed=np.zeros(shelf.rows, np.bool_)) == []
