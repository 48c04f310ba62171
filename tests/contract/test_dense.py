"""The dense leg: nearest first by cosine, over ready vectors of one generation, under the same filters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recollect.model import Filter, Target
from recollect.ports import Store
from tests.contract.samples import (
    ANA,
    T0,
    at,
    dense,
    embed,
    entry,
    found_ids,
    generation,
    of,
    shelve,
    unit,
)
from tests.contract.test_lexical import FILTERS, SHELF

EAST, NORTH, UP = unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)


async def test_nearest_first_with_the_cosine_as_score(vector_store: Store) -> None:
    vectors = {"same": EAST, "close": unit(3, 1, 0), "far": NORTH, "opposite": -EAST}
    await shelve(vector_store, ANA, *(entry(id) for id in vectors), vectors=vectors)
    found = await dense(vector_store, ANA, EAST)
    assert found_ids(found) == ["same", "close", "far", "opposite"]
    np.testing.assert_allclose([each.score for each in found], [1, 3 / 10**0.5, 0, -1], atol=2e-3)
    assert found_ids(await dense(vector_store, ANA, EAST, limit=2)) == ["same", "close"]


async def test_ties_break_by_kind_and_id(vector_store: Store) -> None:
    shelf = [entry(id) for id in "cab"] + [entry(id, kind="message") for id in "ba"]
    await shelve(vector_store, ANA, *shelf, vectors=dict.fromkeys("abc", EAST))
    found = [each.target for each in await dense(vector_store, ANA, EAST)]
    assert found == [*of("memory", "a", "b", "c"), *of("message", "a", "b")]
    assert [each.target for each in await dense(vector_store, ANA, EAST, limit=2)] == found[:2]


async def test_filters(vector_store: Store) -> None:
    await shelve(vector_store, ANA, *SHELF, vectors={each.target.id: EAST for each in SHELF})
    for filter, expected in FILTERS:
        found = await dense(vector_store, ANA, NORTH, filter=filter)
        assert sorted(found_ids(found)) == list(expected), filter


async def test_a_filter_does_not_make_results_go_missing(vector_store: Store) -> None:
    crowd = {f"m{n:03}": unit(1, n / 1000, 0) for n in range(80)}
    shelf = [entry(id) for id in crowd]
    await shelve(vector_store, ANA, *shelf, entry("z", tags=("x",)), vectors={**crowd, "z": -EAST})
    assert found_ids(await dense(vector_store, ANA, EAST, filter=Filter(tags=("x",)), limit=1)) == ["z"]


async def test_the_expired_never_appear(vector_store: Store) -> None:
    await shelve(vector_store, ANA, entry("a", expires_at=at(1)), entry("b"), vectors={"a": EAST, "b": EAST})
    assert found_ids(await dense(vector_store, ANA, EAST, now=T0)) == ["a", "b"]
    assert found_ids(await dense(vector_store, ANA, EAST, now=at(1))) == ["b"]


async def test_without_vectors_there_is_nothing_to_find(vector_store: Store) -> None:
    assert list(await dense(vector_store, ANA, EAST)) == []
    await shelve(vector_store, ANA, entry("a"))
    assert list(await dense(vector_store, ANA, EAST)) == []


async def test_a_vector_without_an_entry_is_invisible(vector_store: Store) -> None:
    await shelve(vector_store, ANA, entry("a"), vectors={"a": EAST})
    await vector_store.write(ANA, lambda tx: tx.index.drop(of("memory", "a")))
    assert list(await dense(vector_store, ANA, EAST)) == []


async def test_a_vector_of_changed_text_no_longer_serves(vector_store: Store) -> None:
    await shelve(vector_store, ANA, entry("a"), entry("b"), vectors={"a": EAST, "b": NORTH})
    await vector_store.write(ANA, lambda tx: tx.embeddings.queue({Target("memory", "a"): "new"}, "g1", at(1)))
    assert found_ids(await dense(vector_store, ANA, EAST)) == ["b"]


async def test_generations_of_different_dimensions_live_side_by_side(vector_store: Store) -> None:
    store = vector_store
    await store.system(lambda system: system.add_generation(generation("g2", 5, "building")))
    await shelve(store, ANA, entry("a"), entry("b"), vectors={"a": EAST, "b": NORTH})
    five = {"a": unit(1, 0, 0, 0, 1), "b": unit(0, 0, 0, 0, 1)}
    await store.write(ANA, lambda tx: embed(tx, {Target("memory", id): v for id, v in five.items()}, "g2"))
    assert found_ids(await dense(store, ANA, unit(0, 0, 0, 0, 1), generation="g2")) == ["b", "a"]
    assert found_ids(await dense(store, ANA, EAST)) == ["a", "b"]
    assert list(await dense(store, ANA, EAST, generation="absent")) == []


async def test_an_edited_entry_keeps_its_vector_and_gets_its_new_filters(vector_store: Store) -> None:
    await shelve(vector_store, ANA, entry("a", tags=("x",)), vectors={"a": EAST})
    await vector_store.write(ANA, lambda tx: tx.index.put([replace(entry("a"), tags=("y",))]))
    assert found_ids(await dense(vector_store, ANA, EAST, filter=Filter(tags=("y",)))) == ["a"]
    assert found_ids(await dense(vector_store, ANA, EAST, filter=Filter(tags=("x",)))) == []


async def test_the_order_is_exact_cosine_over_many_vectors(vector_store: Store) -> None:
    random = np.random.default_rng(7)
    vectors = {f"m{n:03}": unit(*random.normal(size=3)) for n in range(120)}
    await shelve(vector_store, ANA, *(entry(id) for id in vectors), vectors=vectors)
    query = unit(*random.normal(size=3))
    found = await dense(vector_store, ANA, query, limit=20)
    exact = sorted((float(vector @ query) for vector in vectors.values()), reverse=True)[:20]
    np.testing.assert_allclose([each.score for each in found], exact, atol=2e-3)
    for each in found:
        assert abs(each.score - float(vectors[each.target.id] @ query)) < 2e-3
