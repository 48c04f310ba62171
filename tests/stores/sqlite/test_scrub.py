"""Forgotten is forgotten where the bytes lie: rows, index segments, the log, and the unused middle of pages."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.model import AuditEvent, Target, Theme, Tombstone, WorkingMemory
from recollect.ports import Tx
from recollect.stores.sqlite import SqliteStore
from recollect.testing import files_containing
from tests.contract.samples import ANA, T0, at, conversation, digest, entry, memory, message

WORD = "zanzibarisch"


def plant(tx: Tx) -> None:
    tx.memories.insert(memory("m", WORD, theme=WORD, key=WORD, value={WORD: [WORD]}, tags=(WORD,)), WORD)
    tx.conversations.open(conversation("talk", title=WORD, summary=WORD, databases=(WORD,), database_tags=(WORD,)))
    tx.conversations.append([message("msg", "talk", content=WORD, name=WORD, sql_query=WORD, execution_result=[WORD])])
    tx.index.put(
        [entry("m", f"{WORD} tea", theme=WORD, tags=(WORD,)), entry("msg", WORD, kind="message", speaker=WORD)]
    )
    tx.embeddings.queue({Target("memory", "m"): WORD}, "g1", T0)
    job = tx.embeddings.claim("g1", T0, at(5) - T0, 1)
    tx.embeddings.fail(job, f"refused: {WORD}", None, T0)
    tx.space.save_theme(Theme(slug=WORD, display_name=WORD, created_at=T0, updated_at=T0))
    tx.space.bury([Tombstone(digest=WORD, created_at=T0, expires_at=at(1))])
    tx.space.record(AuditEvent(id="e", at=T0, action=WORD, target_id=WORD, facts={WORD: 1}))
    tx.space.save_working(
        WorkingMemory(session_id=WORD, current_topic=WORD, context_variables={"a": WORD}, created_at=T0, updated_at=T0)
    )


def forget(tx: Tx) -> None:
    targets = [Target("memory", "m"), Target("message", "msg")]
    tx.embeddings.drop(targets)
    tx.index.drop(targets)
    tx.memories.delete(["m"])
    tx.conversations.delete(["talk"])
    tx.space.drop_theme(WORD)
    tx.space.exhume(at(2))
    tx.space.drop_working([WORD])


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def erase(tx: Tx) -> None:
    tx.erase()


def reword(tx: Tx) -> None:
    """Everything stays, under other words; what has no other word goes."""
    forget(tx)
    tx.memories.insert(memory("m", "harmless"), digest("harmless"))
    tx.index.put([entry("m", "harmless")])


@pytest.mark.parametrize("end", [erase, reword], ids=lambda end: end.__name__)
async def test_a_word_is_nowhere_in_the_files(tmp_path: Path, end: Callable[[Tx], None]) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    await store.write(ANA, plant)
    assert files_containing(tmp_path, WORD) != []
    await store.write(ANA, end)
    if end is reword:  # the trail is the owner's record: only erasing everything removes it
        await store.write(ANA, erase)
    assert await store.scrub()
    assert files_containing(tmp_path, WORD) == []
    assert all(finding.ok for finding in await store.checkup())
    await store.close()


async def test_a_word_that_was_replaced_is_nowhere_in_the_files(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    await store.write(ANA, plant)
    secret = memory("m2", f"{WORD}2", key=f"{WORD}2", tags=(f"{WORD}2",))
    await store.write(ANA, lambda tx: tx.memories.insert(secret, "d"))
    await store.write(ANA, lambda tx: tx.index.put([entry("m2", f"{WORD}2", tags=(f"{WORD}2",))]))
    await store.write(ANA, lambda tx: tx.memories.replace(replace(secret, content="x", key=None, tags=()), "d"))
    await store.write(ANA, lambda tx: tx.index.put([entry("m2", "x")]))
    assert await store.scrub()
    assert files_containing(tmp_path, f"{WORD}2") == []
    assert files_containing(tmp_path, WORD) != []  # what was not touched is still there
    await store.close()


@pytest.mark.parametrize("seed", [0, 2])
async def test_nothing_stays_behind_in_pages_that_were_split_and_merged(tmp_path: Path, seed: int) -> None:
    """Rows that move leave copies in the unused part of a page, where overwriting deleted rows doesn't reach."""
    chance = random.Random(seed)
    store = await SqliteStore.open(tmp_path / "memory.db", synchronous="normal")
    words: dict[str, str] = {}

    def write(id: str, generation: int) -> Callable[[Tx], None]:
        fresh = id not in words
        words[id] = word = f"zq{id}q{generation}x"
        text = " ".join([word, *(f"w{chance.randrange(500)}" for _ in range(chance.choice([1, 3, 20, 200, 900])))])

        def work(tx: Tx) -> None:
            kept = memory(id, text, key=word, theme=word, tags=(word,))
            (tx.memories.insert if fresh else tx.memories.replace)(kept, digest(text))
            tx.index.put([entry(id, text, theme=word, tags=(word,))])

        return work

    ids = [f"{chance.getrandbits(48):012x}" for _ in range(800)]
    await asyncio.gather(*(store.write(ANA, write(id, 0)) for id in ids))
    replaced = chance.sample(ids, 300)
    gone = [words[id] for id in replaced]
    await asyncio.gather(*(store.write(ANA, write(id, 1)) for id in replaced))
    deleted = chance.sample(ids, 300)
    gone += [words.pop(id) for id in deleted]

    def drop(tx: Tx) -> None:
        tx.index.drop(Target("memory", id) for id in deleted)
        tx.memories.delete(deleted)

    await store.write(ANA, drop)
    assert await store.scrub()
    raw = bytes_of(tmp_path)
    assert [word for word in gone if word.encode() in raw] == []
    assert [word for word in words.values() if word.encode() not in raw] == []
    assert "file" in {finding.name for finding in await store.checkup() if finding.ok}
    await store.close()


async def test_a_reader_that_stays_makes_scrubbing_say_no(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    await store.write(ANA, plant)
    looking, go = threading.Event(), threading.Event()

    def linger(tx: Tx) -> None:
        tx.memories.get(["m"])
        looking.set()
        go.wait(60)

    reading = asyncio.create_task(store.read(ANA, linger))
    await asyncio.to_thread(looking.wait, 60)
    await store.write(ANA, erase)
    assert not await store.scrub()
    go.set()
    await reading
    assert await store.scrub()
    assert files_containing(tmp_path, WORD) == []
    await store.close()
