"""The same texts and questions, in English, Chinese and whatever else Unicode holds, find the same on every store.

Texts pass the one analysis; what a store's own tokenizer makes of its terms must change nothing. Scores may differ between
stores, match sets may not, and vectors give the same order wherever half precision can tell them apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect.model import Found, Scope, Target
from recollect.policy.text import analyse, query_terms
from recollect.ports import Store, Tx, Vector
from recollect.testing import HashEmbedder
from tests.contract.samples import ANY, T0, digest, embed, entry, generation, memory
from tests.contract.side_by_side import assert_same_ranking, targets
from tests.contract.stores import OPENERS, Ground

STORES = ("reference", "sqlite-memory", "postgres")
PHRASES = (
    "Ana drinks green tea every morning", "Teapots and teacups", "我喜欢喝绿茶", "她每天早上喝一杯红茶",
    "user_id = getUserName(v1.2.3)", "Write to ana@example.com about C++ and C#", "naïve café résumé", "🍵 tea time 🎉",
    "Встреча в Москве завтра", "오늘은 녹차를 마셨다", "お茶を飲みます", "The budget is $1,200.50, not 1200", "don't can't won't",
    "İstanbul ıssız STRASSE straße ΣΊΣΥΦΟΣ", "ﬁnal ½ ² Ⅻ ①", "今天的会议在3点开始，用 Python 写代码",
)  # fmt: skip
phrases = st.sampled_from(PHRASES)
fragments = phrases.map(lambda text: " ".join(text.split()[:2]) or text)
anything = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
letters = st.text(st.characters(categories=("Ll", "Lu", "Lo", "Lm", "Nd", "Nl", "No", "Mn")), min_size=1, max_size=8)
texts = phrases | st.tuples(phrases, phrases).map(" ".join) | st.tuples(letters, anything).map(" ".join)

numbers = count(1)


class Everywhere:
    """The same content on every store, each example in a scope of its own."""

    def __init__(self, ground: Ground) -> None:
        self._undo = ExitStack()
        self._runner = self._undo.enter_context(asyncio.Runner())
        self._embedder = HashEmbedder(32)
        self.stores = {name: self._open(name, ground) for name in STORES}

    def close(self) -> None:
        self._undo.close()

    def vectors(self, texts: list[str]) -> list[Vector]:
        return list(self._runner.run(self._embedder.embed(texts)))

    def fill(self, scope: Scope, texts: list[str]) -> None:
        shelf = {f"m{number:02}": text for number, text in enumerate(texts)}
        vectors = dict(zip(shelf, self.vectors(texts), strict=True))

        def work(tx: Tx) -> None:
            for id, text in shelf.items():
                tx.memories.insert(memory(id, text), digest(text))
            tx.index.put([replace(entry(id), terms=tuple(analyse(text))) for id, text in shelf.items()])
            embed(tx, {Target("memory", id): vector for id, vector in vectors.items()})

        for store in self.stores.values():
            self._runner.run(store.write(scope, work))

    def ask(self, scope: Scope, terms: list[str]) -> dict[str, set[Target]]:
        return {
            name: targets(self._runner.run(store.read(scope, lambda tx: tx.index.lexical(terms, ANY, T0, 99))))
            for name, store in self.stores.items()
        }

    def count(self, scope: Scope, terms: list[str]) -> list[list[int]]:
        def work(tx: Tx) -> list[int]:
            found = tx.index.frequencies(terms)
            return [found.get(term, 0) for term in terms]

        return [self._runner.run(store.read(scope, work)) for store in self.stores.values()]

    def rank(self, scope: Scope, vector: Vector, limit: int) -> dict[str, list[Found]]:
        return {
            name: list(self._runner.run(store.read(scope, lambda tx: tx.index.dense(vector, "g1", ANY, T0, limit))))
            for name, store in self.stores.items()
        }

    def _open(self, name: str, ground: Ground) -> Store:
        opened = AsyncExitStack()
        store = self._runner.run(opened.enter_async_context(OPENERS[name](ground)))
        self._undo.callback(lambda: self._runner.run(opened.aclose()))
        self._runner.run(store.system(lambda system: system.add_generation(generation(dimensions=32))))
        return store


@pytest.fixture
def everywhere(ground: Ground) -> Iterator[Everywhere]:
    stores = Everywhere(ground)
    yield stores
    stores.close()


def test_the_same_questions_find_the_same(everywhere: Everywhere) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.lists(texts, min_size=1, max_size=8), st.lists(fragments | texts, min_size=1, max_size=3), st.integers(1, 4)
    )
    @example(list(PHRASES), ["绿茶", "teapot", "user_id", "🍵", "straße"], 3)
    def agree(remembered: list[str], questions: list[str], limit: int) -> None:
        scope = Scope("t", f"user{next(numbers)}")
        everywhere.fill(scope, remembered)
        for question, vector in zip(questions, everywhere.vectors(questions), strict=True):
            terms = query_terms(question)
            for asked in (terms, [f"{term}*" for term in terms]):
                found = everywhere.ask(scope, asked)
                assert found["sqlite-memory"] == found["postgres"] == found["reference"], asked
            counts = everywhere.count(scope, terms)
            assert counts[0] == counts[1] == counts[2]
            whole, best = everywhere.rank(scope, vector, 99), everywhere.rank(scope, vector, limit)
            for name in STORES[1:]:
                assert_same_ranking(best[name], best["reference"], whole["reference"])

    agree()


def test_every_text_is_found_by_its_own_words(everywhere: Everywhere) -> None:
    scope = Scope("t", "own words")
    everywhere.fill(scope, list(PHRASES))
    for number, text in enumerate(PHRASES):
        for name, found in everywhere.ask(scope, query_terms(text)).items():
            assert Target("memory", f"m{number:02}") in found, (name, text)


def test_the_nearest_text_is_the_text_itself(everywhere: Everywhere) -> None:
    scope = Scope("t", "nearest")
    everywhere.fill(scope, list(PHRASES))
    for number, vector in enumerate(everywhere.vectors(list(PHRASES))):
        for name, found in everywhere.rank(scope, vector, 1).items():
            assert [each.target.id for each in found] == [f"m{number:02}"], name
            np.testing.assert_allclose(found[0].score, 1, atol=2e-3)
