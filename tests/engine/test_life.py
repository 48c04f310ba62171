"""Opening, closing, forking, several engines over one store: nothing hangs, nothing is left behind."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.engine import Engine
from recollect.engine.embedding import embed, generations
from recollect.engine.embedding.generations import generation_of
from recollect.errors import Conflict, NotAllowed, RecollectError, Unavailable
from recollect.model import EmbeddingState, Filter, Listing, Query, SpaceSettings, Status
from recollect.ports import Store
from recollect.testing.canary import files_containing
from recollect.testing.embedder import HashEmbedder
from tests.engine.conftest import ANA, engine_over


def test_closing_while_others_search_ends_for_everyone(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path / "m.db"))
    memory.add_turns("s", [{"role": "user", "content": f"line {n} about the harbour"} for n in range(300)])
    ended: list[str] = []

    def ask() -> None:
        try:
            while True:
                memory.search("harbour")
        except Unavailable as closed:
            ended.append(closed.message)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    memory.close()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 4


def test_closing_does_not_wait_for_the_whole_backlog(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    with Memory(path, embedder="off") as memory:
        memory.add_turns("s", [{"role": "user", "content": f"line {n} " + "word " * 60} for n in range(2000)])
    memory = Memory(path)
    time.sleep(1.0)
    memory.close()
    with Memory(path, worker=False) as memory:
        status = memory.search("line 7", kinds=("message",))
        assert len(status) > 0


def _in_a_child(memory: Memory, answers: multiprocessing.SimpleQueue[str]) -> None:
    try:
        memory.search("anything")
    except RecollectError as problem:
        answers.put(type(problem).__name__)
    memory.close()


def test_a_forked_child_is_told_so(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), embedder="off") as memory:
        forking = multiprocessing.get_context("fork")
        answers = forking.SimpleQueue()
        child = forking.Process(target=_in_a_child, args=(memory, answers))
        child.start()
        assert answers.get() == "Unavailable"
        child.join(60)
        assert child.exitcode == 0
        assert memory.search("anything").hits == ()


def _opened(number: str) -> str | None:
    try:
        return f"{number}: {os.readlink(f'/proc/self/fd/{number}')}"
    except FileNotFoundError:  # the one by which they are listed
        return None


def test_a_failed_opening_leaves_nothing_open(tmp_path: Path) -> None:
    def held() -> set[object]:
        """Each by itself, not how many: what earlier tests have left may go meanwhile."""
        return {*threading.enumerate(), *filter(None, map(_opened, os.listdir("/proc/self/fd")))}

    def fail() -> None:
        with pytest.raises(RecollectError):
            Memory(str(tmp_path / "m.db"), embedder="custom_http")

    fail()
    before = held()
    for _ in range(5):
        fail()
    assert not held() - before


async def test_what_is_written_for_the_old_model_during_a_switch_is_not_lost(store: Store) -> None:
    here, elsewhere = engine_over(store, HashEmbedder(64)), engine_over(store, HashEmbedder(64))
    await here.remember(ANA, {"content": "stored before"})
    await here.flush(ANA)
    await elsewhere.generations.alive()
    await embed.reembed(here, HashEmbedder(96))
    late = await elsewhere.remember(ANA, {"content": "stored by one who has not noticed"})
    assert late.outcome == "stored"
    here.generations._retired_since = {
        generation_of(HashEmbedder(64)): time.monotonic() - 2 * generations.GRACE_SECONDS
    }
    await embed.clear_away(here)
    assert len(await store.system(lambda system: system.generations())) == 1
    assert await store.system(lambda system: system.next_due()) is None
    found = await here.recall(ANA, Query(text="who has not noticed"))
    assert "cosine" in found.hits[0].signals


async def test_nobody_works_for_a_retired_generation(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "queued for the old one"})
    await embed.reembed(engine, HashEmbedder(96))
    other = engine_over(engine.store, HashEmbedder(96))
    await other.flush(ANA)
    assert not (await embed.run_once(other)).worked
    assert await engine.store.system(lambda system: system.waiting(engine.clock.now(), 10)) == []


async def test_an_edit_is_no_way_around_a_tombstone(engine: Engine) -> None:
    first = await engine.remember(ANA, {"content": "my old secret"})
    other = await engine.remember(ANA, {"content": "harmless"})
    await engine.forget(ANA, [first.id or ""])
    with pytest.raises(Conflict, match="forgotten"):
        await engine.revise(ANA, other.id or "", {"content": "My  old secret"})
    assert [memory.content for memory in await engine.list(ANA, Listing())] == ["harmless"]


async def test_importance_zero_is_zero(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "hardly matters"})
    assert (await engine.revise(ANA, receipt.id or "", {"importance": 0.0})).importance == 0.0


async def test_what_was_saved_by_hand_outlives_the_conversation_it_also_came_from(engine: Engine) -> None:
    turns = await engine.add_turns(ANA, "s", [{"role": "user", "content": "I moved to Berlin"}])
    inferred = {"content": "lives in Berlin", "source": "inferred", "source_message_id": turns.ids[0]}
    await engine.remember(ANA, inferred)
    await engine.remember(ANA, {"content": "lives in Berlin", "manually_saved": True, "importance": 0.9})
    await engine.forget_conversation(ANA, "s")
    (kept,) = await engine.list(ANA, Listing())
    assert (kept.content, kept.manually_saved) == ("lives in Berlin", True)
    assert kept.importance >= 0.9


async def test_filters_with_a_moment_in_them_are_not_kept(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "the harbour"})
    for minutes in range(40):
        since = engine.clock.now() - timedelta(minutes=minutes + 1)
        await engine.recall(ANA, Query(text="harbour", filter=Filter(since=since)))
    assert len(engine.shelves.of(ANA)._masks) <= 1


async def test_a_cancelled_caller_leaves_the_write_done(engine: Engine) -> None:
    task = asyncio.create_task(engine.remember(ANA, {"content": "said and gone"}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    assert (await engine.list(ANA, Listing())).total in (0, 1)
    assert (await engine.remember(ANA, {"content": "said and gone"})).outcome in ("stored", "merged")


async def test_memory_off_holds_for_edits_and_turns_too(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "stored before"})
    await engine.store.write(ANA, lambda tx: tx.space.save_settings(SpaceSettings(memory_enabled=False)))
    with pytest.raises(NotAllowed, match="switched off"):
        await engine.revise(ANA, receipt.id or "", {"content": "changed while off"})
    with pytest.raises(NotAllowed, match="switched off"):
        await engine.add_turns(ANA, "s", [{"role": "user", "content": "said while off"}])
    assert (await engine.get(ANA, receipt.id or "")).content == "stored before"


async def test_an_older_statement_that_arrives_late_is_history(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "lives in Rome", "key": "city", "created_at": "2024-10-01"})
    late = await engine.remember(ANA, {"content": "lives in Paris", "key": "city", "created_at": "2020-01-01"})
    assert late.outcome == "stored"
    assert [memory.content for memory in await engine.list(ANA, Listing())] == ["lives in Rome"]
    assert [hit.content for hit in await engine.recall(ANA, Query(text="lives in"))] == ["lives in Rome"]
    assert (await engine.get(ANA, late.id or "")).status is Status.SUPERSEDED


async def test_one_new_value_supersedes_all_old_ones(engine: Engine) -> None:
    first = await engine.remember(ANA, {"content": "lives in Oslo", "key": "city"})
    second = await engine.remember(ANA, {"content": "lives in Rome", "key": "home"})
    await engine.revise(ANA, second.id or "", {"key": "city"})
    await engine.remember(ANA, {"content": "lives in Berlin", "key": "city"})
    assert [memory.content for memory in await engine.list(ANA, Listing())] == ["lives in Berlin"]
    assert first.id


async def test_a_repeat_says_how_far_its_embedding_has_come(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "green tea"})
    assert (await engine.remember(ANA, {"content": "green tea"})).embedding is EmbeddingState.PENDING
    await engine.flush(ANA)
    assert (await engine.remember(ANA, {"content": "green tea"})).embedding is EmbeddingState.READY


async def test_a_copy_that_lived_long_finds_as_a_fresh_one_does(engine: Engine) -> None:
    await engine.add_turns(ANA, "s", [{"role": "user", "content": f"line {n} about boats"} for n in range(150)])
    receipt = await engine.remember(ANA, {"content": "the zebrafish tank"})
    await engine.recall(ANA, Query(text="zebrafish"))
    for number in range(40):
        await engine.revise(ANA, receipt.id or "", {"content": f"the zebrafish tank, cleaned {number} times"})
        await engine.recall(ANA, Query(text="zebrafish"))
    fresh = engine_over(engine.store)
    question = Query(text="zebrafish boats")
    old, new = await engine.recall(ANA, question), await fresh.recall(ANA, question)
    assert [(hit.content, hit.relevance) for hit in old] == [(hit.content, hit.relevance) for hit in new]


def test_corrected_words_leave_the_file(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), embedder="off") as memory:
        receipt = memory.add("the password is qzvxcanary")
        memory.update(receipt.id or "", text="the password was changed")
    assert files_containing(tmp_path, "qzvxcanary") == []
