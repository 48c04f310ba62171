"""Deleted text is gone from where the bytes lie. The probes read files and tables directly, past the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.errors import Conflict
from recollect.model import Theme, WorkingMemory
from recollect.ports import Capability, Store, Tx
from recollect.stores.sqlite import SqliteStore
from recollect.testing import columns_containing, files_containing
from tests.contract.samples import (
    ANA,
    NEIGHBOURS,
    T0,
    at,
    conversation,
    digest,
    embed,
    entry,
    generation,
    memory,
    message,
    of,
    remember,
    shelve,
    unit,
)
from tests.contract.stores import CAPABILITIES, OPENERS, Ground, shared_database

WORD = "zanzibarisch"
CHINESE = "斑马海岸"


def plant(tx: Tx) -> None:
    text = f"{WORD} {CHINESE}"
    tx.memories.insert(memory("m", text, theme=WORD, key=WORD, value={WORD: [CHINESE]}, tags=(WORD,)), digest(text))
    tx.conversations.open(conversation("talk", title=text, summary=text, databases=(WORD,)))
    tx.conversations.append([message("msg", "talk", content=text, sql_query=text, execution_result=[text])])
    tx.index.put([entry("m", text, theme=WORD, tags=(WORD,)), entry("msg", text, kind="message", speaker=WORD)])
    embed(tx, {target: unit(1, 0, 0) for target in (*of("memory", "m"), *of("message", "msg"))})
    tx.space.save_theme(Theme(slug=WORD, display_name=text, created_at=T0, updated_at=T0))
    tx.space.save_working(
        WorkingMemory(session_id="talk", context_variables={WORD: CHINESE}, created_at=T0, updated_at=T0)
    )


def forget(tx: Tx) -> None:
    targets = [*of("memory", "m"), *of("message", "msg")]
    tx.embeddings.drop(targets)
    tx.index.drop(targets)
    tx.memories.delete(["m"])
    tx.conversations.delete(["talk"])
    tx.space.drop_working(["talk"])


def erase(tx: Tx) -> None:
    tx.erase()


async def fill(store: Store) -> None:
    await store.system(lambda system: system.add_generation(generation()))
    for scope in (ANA, *NEIGHBOURS):
        await shelve(store, scope, *(entry(f"other{n}", f"tea word{n}") for n in range(20)))


@pytest.mark.parametrize("name", sorted(OPENERS))
async def test_each_store_has_the_capabilities_it_is_known_for(name: str, ground: Ground) -> None:
    async with OPENERS[name](ground) as store:
        assert store.capabilities == CAPABILITIES[name]


async def test_scrub_says_whether_it_could(store: Store) -> None:
    assert await store.scrub() is (Capability.SCRUBS in store.capabilities)


async def test_what_is_owed_to_the_files_is_in_writing_until_it_is_paid(store: Store) -> None:
    def forget_one(minute: int) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            tx.memories.delete([f"m{minute}"])
            tx.owe_scrub(at(minute))

        return work

    def fail(tx: Tx) -> None:
        tx.owe_scrub(T0)
        raise Conflict("taken back")

    await remember(store, ANA, memory("m1", "one"), memory("m2", "two"))
    assert await store.system(lambda system: system.scrub_owed()) is None
    for minute in (2, 1):
        await store.write(ANA, forget_one(minute))
    with pytest.raises(Conflict):
        await store.write(ANA, fail)
    assert await store.system(lambda system: system.scrub_owed()) == at(1), (
        "the oldest; nothing for what was taken back"
    )
    assert await store.scrub(however_long=True)
    assert await store.system(lambda system: system.scrub_owed()) is None


async def test_what_a_process_that_died_owed_is_found_by_the_next(tmp_path: Path) -> None:
    for owed in (None, T0):
        store = await SqliteStore.open(tmp_path / "memory.db")
        assert await store.system(lambda system: system.scrub_owed()) == owed
        await store.write(ANA, lambda tx: tx.owe_scrub(T0))
        await store.close()


async def test_files_of_sqlite_hold_no_deleted_word(tmp_path: Path, ground: Ground) -> None:
    async with OPENERS["sqlite-file"](ground) as store:
        await fill(store)
        await store.write(ANA, plant)
        assert files_containing(tmp_path, WORD)
        assert files_containing(tmp_path, CHINESE)
        # The theme keeps the word on purpose until the whole scope goes: first everything else, then that.
        await store.write(ANA, forget)
        await store.write(ANA, erase)
        assert await store.scrub()
        assert files_containing(tmp_path, WORD) == []
        assert files_containing(tmp_path, CHINESE) == []
        assert files_containing(tmp_path, "word7"), "the probe still sees what was kept"


async def test_one_forgotten_memory_leaves_the_files_while_others_stay(tmp_path: Path, ground: Ground) -> None:
    async with OPENERS["sqlite-file"](ground) as store:
        await fill(store)
        await shelve(store, ANA, entry("m", f"tea {WORD} {CHINESE}"))
        await store.write(ANA, lambda tx: (tx.index.drop(of("memory", "m")), tx.memories.delete(["m"])))
        assert await store.scrub()
        assert files_containing(tmp_path, WORD) == []
        assert files_containing(tmp_path, CHINESE) == []


async def test_columns_of_postgres_hold_no_deleted_word(ground: Ground) -> None:
    url = shared_database(ground.postgres()).superuser_url
    async with OPENERS["postgres"](ground) as store:
        await fill(store)
        await store.write(ANA, plant)
        for needle in (WORD, CHINESE):
            planted = {"public.memories.content", "public.messages.content", "public.entries.tsv"}
            assert planted <= set(columns_containing(url, needle))
        await store.write(ANA, forget)
        left = {column.split(".")[1] for needle in (WORD, CHINESE) for column in columns_containing(url, needle)}
        assert left <= {"themes"}, "a theme is its owner's, not the memory's"
        await store.write(ANA, erase)
        assert [columns_containing(url, needle) for needle in (WORD, CHINESE)] == [[], []]
        assert columns_containing(url, "word7"), "the probe still sees what was kept"
