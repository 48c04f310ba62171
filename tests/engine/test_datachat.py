"""The data chat's memory over every store: its contract's methods, its end, its archive, and what it is found by."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.doors.datachat.memory import MemoryManager
from recollect.engine import Engine
from recollect.engine.datachat.pairs import answer_id
from recollect.engine.datachat.recalling import MOST_MESSAGES
from recollect.engine.embedding import embed
from recollect.engine.upkeep import maintain
from recollect.errors import NotFound, Unavailable
from recollect.model import AskData, DataAccess, DataAnswer, Scope, Target
from recollect.policy.datachat import CURRENT, RECENT
from recollect.ports import Tx
from recollect.providers.archives import FolderArchive
from recollect.providers.permissions.file import FilePermissions
from recollect.testing import ManualClock, ReferenceStore, ScriptedAnswerer
from recollect.testing.embedder import HashEmbedder
from tests.engine.conftest import ANA, anywhere, engine_over

FIRST = "Show me total sales by region for 2024"
SALES = DataAnswer(answer="North 2.5M", sql="SELECT region FROM sales WHERE year = 2024", tables=("sales",))
DATA: dict[str, Any] = {"answer": "North 2.5M", "sql_query": SALES.sql, "tables_used": ["sales"]}


def later(engine: Engine, **time: int) -> None:
    assert isinstance(engine.clock, ManualClock)
    engine.clock.advance(timedelta(**time))


async def asked(engine: Engine, question: str, session: str = "talk", scope: Scope = ANA) -> None:
    await engine.ask_data(scope, AskData(question=question, session_id=session))


async def test_the_contracts_methods(engine: Engine) -> None:
    engine.config = replace(engine.config, data=replace(engine.config.data, history=1))
    memory = MemoryManager(engine, ANA)
    talk = await memory.get_or_create_conversation("ana", None)
    assert (await memory.get_or_create_conversation("ana", talk.id)).id == talk.id
    assert await memory.get_conversation_history(talk.id) == []
    await memory.store_interaction(talk.id, "ana", FIRST, DATA)
    await memory.store_interaction(talk.id, "ana", "How many people work in Rome?", {"answer": "12"})
    history = await memory.get_conversation_history(talk.id)
    assert [(each.question, each.sql) for each in history] == [
        (FIRST, SALES.sql),
        ("How many people work in Rome?", None),
    ]
    assert [each.answer for each in await memory.get_conversation_history(talk.id, 1)] == ["12"]
    (similar,) = await memory.semantic_search_memory("ana", "total sales by region for 2023")
    assert similar.question == FIRST
    assert await memory.semantic_search_memory("ana", "total sales by region", conversation_id="another") == []
    assert await memory.semantic_search_memory("bob", "total sales by region for 2023") == []
    context = memory.build_augmented_context("What about 2023?", history, [similar])
    assert RECENT in context
    assert f"{CURRENT}\nWhat about 2023?" in context
    assert "sales" in await memory.summarize_conversation(talk.id)
    exported = await memory.export_user_memory("ana")
    assert [each["question"] for each in exported["conversations"][0]["messages"]] == [
        each.question for each in history
    ]
    assert await memory.cleanup_expired_conversations() == 0
    assert (await memory.delete_user_memory("ana")).messages == 4
    with pytest.raises(NotFound):
        await memory.get_conversation_history(talk.id)


@anywhere
async def test_what_is_shown_comes_with_its_rows_however_little_there_is(engine: Engine) -> None:
    answerer = ScriptedAnswerer(*(replace(SALES, result={"rows": [[year]]}) for year in range(2010, 2018)))
    engine.desk.answerer = answerer
    for year in range(2010, 2018):
        await asked(engine, f"And {year}?")
        shown = [each.result and each.result["rows"] for each in answerer.asked[-1].history]
        assert shown == [[[earlier]] for earlier in range(2010, year)]


async def test_what_one_user_may_use_opens_nothing_for_another(engine: Engine, tmp_path: Path) -> None:
    await MemoryManager(engine, replace(ANA, user="bob")).store_interaction("bobs", "bob", FIRST, DATA)
    memory = MemoryManager(engine, ANA, DataAccess())
    assert await memory.semantic_search_memory("bob", FIRST) == []
    assert (await memory.export_user_memory("bob"))["conversations"] == []
    (tmp_path / "grants.toml").write_text('[users.bob]\ntables = ["sales"]\n')
    engine.desk.permissions = FilePermissions(tmp_path / "grants.toml", tenant="acme")
    assert [each.question for each in await memory.semantic_search_memory("bob", FIRST)] == [FIRST]
    assert await MemoryManager(engine, ANA).semantic_search_memory("ana", FIRST) == []


async def test_what_may_not_be_seen_is_not_there_for_its_methods(engine: Engine) -> None:
    talk = (await MemoryManager(engine, ANA).get_or_create_conversation("ana", "talk")).id
    await MemoryManager(engine, ANA).store_interaction(talk, "ana", FIRST, DATA)
    memory = MemoryManager(engine, ANA, DataAccess(tables=frozenset({"staff"})))
    assert await memory.get_conversation_history(talk) == []
    assert await memory.semantic_search_memory("ana", FIRST) == []
    assert (await memory.export_user_memory("ana"))["conversations"] == []
    assert (await memory.get_or_create_conversation("ana", talk)).title is None


async def test_where_nothing_may_be_recalled_its_methods_recall_nothing(engine: Engine) -> None:
    engine.config = replace(engine.config, data=replace(engine.config.data, history=0))
    memory = MemoryManager(engine, ANA)
    await memory.get_or_create_conversation("ana", "talk")
    await memory.store_interaction("talk", "ana", FIRST, DATA)
    assert "sales" in await memory.summarize_conversation("talk")
    silent = await engine.start_incognito(ANA)
    hidden = MemoryManager(engine.on(replace(engine.occasion, session_id=silent)), ANA)
    await engine.change_settings(ANA, {"memory_enabled": False})
    for each in (memory, hidden):
        assert await each.get_conversation_history("talk") == []
        assert await each.semantic_search_memory("ana", FIRST) == []
        assert await each.summarize_conversation("talk") == ""
        opened = await each.get_or_create_conversation("ana", "talk")
        assert (opened.title, opened.message_count, opened.summary) == (None, 0, None)
        await engine.change_settings(ANA, {"memory_enabled": True})
    assert len(await memory.get_conversation_history("talk")) == 1


async def test_a_repeat_is_found_once_even_where_nothing_similar_was_to_be_shown(engine: Engine) -> None:
    engine.desk.answerer = ScriptedAnswerer(SALES, SALES, SALES)
    for session in ("one", "two", "three"):
        await engine.ask_data(ANA, AskData(question=FIRST, session_id=session, similar=0))
    (found,) = await MemoryManager(engine, ANA).semantic_search_memory("ana", FIRST, k=10)
    assert found.session_id == "three"


async def test_however_long_a_conversation_is_it_is_taken_along_whole() -> None:
    engine = engine_over(ReferenceStore())
    engine.desk.answerer = ScriptedAnswerer(SALES)
    await asked(engine, FIRST)
    more = MOST_MESSAGES // 2

    def grow(tx: Tx) -> None:
        talk, (question, answer) = tx.conversations.get("talk"), tx.conversations.history("talk", 2)
        assert talk is not None
        for number in range(more):
            said = replace(question, id=f"q{number}", order=2 + 2 * number)
            tx.conversations.append([said, replace(answer, id=answer_id(said.id), order=said.order + 1)])
        tx.conversations.replace(replace(talk, message_count=2 + 2 * more))

    await engine.store.write(ANA.data, grow)
    (taken,) = (await engine.export_data(ANA, AskData(question="")))["conversations"]
    assert (taken["message_count"], len(taken["messages"]), taken["session_name"]) == (more + 1, more + 1, FIRST)
    assert (await engine.data_conversations(ANA, AskData(question=""), 10, 0)).items[0].count == more + 1
    last = more + 1 + 5 - (more + 1) % 5
    for number in range(more + 2, last + 1):
        engine.desk.answerer = ScriptedAnswerer(SALES)
        reply = await engine.ask_data(ANA, AskData(question=f"What about year {number}?", session_id="talk"))
        assert reply.talk is not None
        assert reply.talk.count == number, "a long one goes on being counted"
    await engine.desk.settle()
    talk = await engine.store.read(ANA.data, lambda tx: tx.conversations.get("talk"))
    assert talk is not None
    assert talk.is_summarized, "and summed up"


async def test_an_answer_is_embedded_by_question_query_and_tables(engine: Engine) -> None:
    embedder = HashEmbedder()
    engine.desk.answerer = ScriptedAnswerer(SALES)
    await asked(engine, FIRST)
    await engine.flush(ANA, 120)
    (serving,) = await engine.generations.alive()

    def changed(tx: Tx) -> dict[Target, Any]:
        return {each.entry.target: each.vector for each in tx.index.changes(0, serving.id, 100).items}

    (vector,) = (await engine.store.read(ANA.data, changed)).values()
    text = f"Question: {FIRST}\nSQL: {SALES.sql}\nTables: sales\nResult summary: North 2.5M"
    (expected,) = await embedder.embed([text])
    assert abs(float(vector @ expected) - 1.0) < 0.01


async def test_ended_conversations_go_and_are_put_away_first(engine: Engine, tmp_path: Path) -> None:
    heard: list[tuple[str, Any]] = []
    engine.heard = lambda what, facts: heard.append((what, facts["outcome"])) if what == "data_cleanup" else None
    engine.desk.answerer = ScriptedAnswerer(SALES, SALES, SALES)
    await asked(engine, FIRST)
    later(engine, days=3)
    await asked(engine, "How many people work in Rome?", "newer")
    later(engine, days=4)
    (tmp_path / "taken").write_text("a file, where a folder should be")
    engine.desk.archive = FolderArchive(tmp_path / "taken")
    assert await MemoryManager(engine, ANA).cleanup_expired_conversations() == 0, "what can't be put away stays"
    engine.desk.archive = FolderArchive(tmp_path / "archive")
    assert await MemoryManager(engine, ANA).cleanup_expired_conversations() == 1
    path = tmp_path / "archive" / "acme" / "ana" / "default"
    (file,) = list(path.rglob("*.json.gz"))
    put_away = json.loads(gzip.decompress(file.read_bytes()))
    assert (put_away["conversation_id"], put_away["messages"][0]["question"]) == ("talk", FIRST)
    assert heard == [("data_cleanup", "not_archived"), ("data_cleanup", "removed")]
    left = await engine.store.read(ANA.data, lambda tx: [each.id for each in tx.conversations.list(10, 0)])
    assert left == ["newer"]
    assert (await engine.store.read(ANA.data, lambda tx: tx.index.changes(0, None, 100))).size == 1


@pytest.mark.parametrize("name", ["..", ".", "x" * 255, "数" * 255, "a/../../b"])
async def test_whatever_somebody_is_called_it_is_put_away_within_the_archive(tmp_path: Path, name: str) -> None:
    engine = engine_over(ReferenceStore())
    engine.desk.archive = FolderArchive(tmp_path / "outer" / "archive")
    engine.desk.answerer = ScriptedAnswerer(SALES)
    await asked(engine, FIRST, name, Scope(name, name, name))
    later(engine, days=8)
    assert await MemoryManager(engine, ANA).cleanup_expired_conversations() == 1
    (file,) = [each for each in await asyncio.to_thread(lambda: list(tmp_path.rglob("*"))) if each.suffix == ".gz"]
    assert len(file.relative_to(tmp_path / "outer" / "archive").parts) == 5
    assert json.loads(gzip.decompress(file.read_bytes()))["conversation_id"] == name


async def test_the_periodic_round_ends_them_too(engine: Engine) -> None:
    engine.desk.answerer = ScriptedAnswerer(SALES)
    await asked(engine, FIRST)
    await maintain.tend(engine)
    later(engine, days=8)
    await maintain.tend(engine)
    assert await engine.store.read(ANA.data, lambda tx: tx.conversations.get("talk")) is None


async def test_what_waits_to_be_embedded_waits_while_memory_is_off(engine: Engine) -> None:
    engine.desk.answerer = ScriptedAnswerer(SALES)
    await asked(engine, FIRST)
    await engine.change_settings(ANA, {"memory_enabled": False})
    assert (await embed.drain(engine)).embedded == 0
    await engine.change_settings(ANA, {"memory_enabled": True})
    assert (await embed.drain(engine)).embedded == 1


async def test_two_questions_at_once_keep_their_own_answers(engine: Engine) -> None:
    """However their halves lie in the conversation."""
    memory = MemoryManager(engine, ANA)

    class Slow(ScriptedAnswerer):
        async def answer(self, question: Any) -> DataAnswer:
            await memory.store_interaction("talk", "ana", "second?", {"answer": "second!"})
            return DataAnswer(answer="first!")

    engine.desk.answerer = Slow()
    await asked(engine, "first?")
    history = await memory.get_conversation_history("talk")
    assert [f"{each.question} {each.answer}" for each in history] == ["first? first!", "second? second!"]


async def test_a_conversation_that_was_deleted_meanwhile_stays_deleted() -> None:
    engine = engine_over(ReferenceStore())

    class Deleting(ScriptedAnswerer):
        async def answer(self, question: Any) -> DataAnswer:
            await engine.forget_data_conversation(ANA, "talk")
            return SALES

    engine.desk.answerer = Deleting()
    reply = await engine.ask_data(ANA, AskData(question=FIRST, session_id="talk"))
    assert (reply.answer, reply.talk) == (SALES, None)
    assert await engine.store.read(ANA.data, lambda tx: tx.conversations.get("talk")) is None


async def test_a_summary_that_fails_costs_nothing() -> None:
    engine = engine_over(ReferenceStore())
    engine.config = replace(engine.config, data=replace(engine.config.data, summarise_after=1, history=1))
    engine.desk.answerer = ScriptedAnswerer(SALES, SALES, SALES)

    class Failing:
        model = "failing"

        async def complete(self, messages: Any, **_: Any) -> Any:
            raise Unavailable("the model is down")

        def stream(self, messages: Any, **_: Any) -> Any:
            raise Unavailable("the model is down")

        async def close(self) -> None:
            pass

    engine.desk.summariser = Failing()
    for question in (FIRST, "And in 2023?"):
        await asked(engine, question)
    await engine.desk.settle()
    talk = await engine.data_conversation(ANA, AskData(question=""), "talk")
    assert (talk.conversation.is_summarized, "sales" in (talk.conversation.summary or "")) == (True, True)
