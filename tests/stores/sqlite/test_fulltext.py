"""With FTS5 and without: the same words are found, and a store that has lost its index says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from recollect.model import Filter
from recollect.ports import Capability, Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing import files_containing
from tests.contract.samples import ANA, NEIGHBOURS, T0, entry, shelve

SHELF = {
    "a": "green tea in the morning",
    "b": "black tea tea tea",
    "c": "c_sharp and csharp",
    "d": "绿茶 绿 茶 u1f389",
    "e": "",
}
QUERIES = [["tea"], ["tea", "morning"], ["gre*"], ["c_sharp"], ["cxsharp"], ["绿茶"], ["绿*"], ["u1f389"], ["nothing"]]


async def found(store: Store, terms: Sequence[str]) -> set[str]:
    hits = await store.read(ANA, lambda tx: tx.index.lexical(terms, Filter(), T0, 50))
    assert all(hit.score > 0 for hit in hits)
    return {hit.target.id for hit in hits}


async def filled(path: Path | str, *, full_text: bool | None = None) -> SqliteStore:
    store = await SqliteStore.open(path, full_text=full_text)
    await shelve(store, ANA, *(entry(id, text) for id, text in SHELF.items()))
    await shelve(store, NEIGHBOURS[0], entry("foreign", "green tea"))
    return store


@pytest.mark.parametrize("terms", QUERIES, ids=lambda terms: "+".join(terms))
async def test_without_fts5_the_same_entries_are_found(terms: list[str]) -> None:
    indexed, plain = await filled(":memory:"), await filled(":memory:", full_text=False)
    assert Capability.FULL_TEXT in indexed.capabilities
    assert Capability.FULL_TEXT not in plain.capabilities
    assert await found(plain, terms) == await found(indexed, terms)
    words = [*terms, "tea", "absent", "c_sharp"]
    counts = [await store.read(ANA, lambda tx: tx.index.frequencies(words)) for store in (indexed, plain)]
    assert counts[0] == counts[1]
    await indexed.close()
    await plain.close()


async def test_most_matching_terms_come_first_without_fts5() -> None:
    store = await filled(":memory:", full_text=False)
    hits = await store.read(ANA, lambda tx: tx.index.lexical(["tea", "morning", "green"], Filter(), T0, 1))
    assert [hit.target.id for hit in hits] == ["a"]
    await store.close()


async def test_a_file_may_lose_fts5_and_get_it_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await (await filled(path)).close()
    without = await SqliteStore.open(path, full_text=False)
    await shelve(without, ANA, entry("f", "oolong tea"), entry("a", "coffee now"))
    assert await found(without, ["tea"]) == {"b", "f"}
    await without.scrub()
    await without.close()
    assert files_containing(tmp_path, "morning") == []  # not even in the index that is out of use
    again = await SqliteStore.open(path)
    assert Capability.FULL_TEXT in again.capabilities
    assert await found(again, ["tea"]) == {"b", "f"}
    assert await found(again, ["coffee"]) == {"a"}
    assert all(finding.ok for finding in await again.checkup())
    await again.close()


async def test_a_damaged_index_is_noticed_and_searched_around(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await (await filled(path)).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM entries_fts_data")
        raw.commit()
    store = await SqliteStore.open(path)
    assert "full text" in {finding.name for finding in await store.checkup() if not finding.ok}
    assert await found(store, ["tea"]) == {"a", "b"}
    assert Capability.FULL_TEXT not in store.capabilities
    assert await store.reindex()
    assert Capability.FULL_TEXT in store.capabilities
    assert await found(store, ["tea"]) == {"a", "b"}
    assert all(finding.ok for finding in await store.checkup())
    await store.close()


async def test_the_doctor_sees_an_index_that_disagrees(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await (await filled(path)).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DROP TRIGGER entries_fts_update")
        raw.execute("UPDATE entries SET terms = 'something else' WHERE target_id = 'a'")
        raw.execute("UPDATE spaces SET size = size + 1")
        raw.commit()
    store = await SqliteStore.open(path)  # a trigger is missing, so the index is built anew
    assert await found(store, ["else"]) == {"a"}
    wrong = {finding.name for finding in await store.checkup() if not finding.ok}
    assert wrong == {"entry counts"}
    await store.close()


async def test_three_thousand_terms_are_no_reason_to_give_up() -> None:
    store = await filled(":memory:")
    assert await found(store, ["tea", *(f"word{n}" for n in range(3000))]) == {"a", "b"}
    assert Capability.FULL_TEXT in store.capabilities
    await store.close()
