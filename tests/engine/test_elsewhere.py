"""Vectors of the data chat in an index outside the store: copied, used, done without, and removed with what they stand for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.bootstrap import open_elsewhere
from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding import elsewhere, embed
from recollect.engine.embedding.elsewhere import WHOLE_FOR, Elsewhere
from recollect.errors import InvalidInput, Unavailable
from recollect.model import AskData, DataAnswer, DataQuestion, Query
from recollect.ports import Point
from recollect.providers.indexes.chroma import ChromaIndex
from recollect.settings import Settings
from recollect.stores.sqlite import SqliteStore
from recollect.testing import FaultyIndex, HashEmbedder, ManualClock, ReferenceIndex, files_containing
from recollect.worker import jobs
from tests.engine.conftest import ANA, engine_over

DOWN = Unavailable("the index is down")
DATA = ANA.data


class Echo:
    """Answers that nothing is in the way of."""

    name = "echo"

    async def answer(self, question: DataQuestion) -> DataAnswer:
        return DataAnswer(answer=f"answer to {question.question}", sql="SELECT 1 FROM sales", tables=("sales",))

    async def close(self) -> None: ...


@dataclass
class Home:
    engine: Engine
    kept: ReferenceIndex
    index: FaultyIndex
    clock: ManualClock

    async def ask(self, *questions: str, session: str = "s1") -> list[str]:
        """Asked one after another; the ids under which the answers are found."""
        talk = None
        for question in questions:
            talk = (await self.engine.ask_data(ANA, AskData(question=question, session_id=session))).talk
        assert talk is not None
        return [f"{each.message_id}.answer" for each in talk.exchanges]

    async def found(self, text: str) -> tuple[list[str], tuple[str, ...]]:
        recalled = await self.engine.recall(DATA, Query(text=text, recipe="datachat", min_relevance=0.0))
        return [hit.target.id for hit in recalled], recalled.trace.degraded

    def held(self) -> set[str]:
        return {id for (scope, _), points in self.kept.points.items() if scope == DATA for id in points}


@pytest.fixture
async def home() -> AsyncIterator[Home]:
    clock, kept = ManualClock(), ReferenceIndex()
    engine = engine_over(
        await SqliteStore.open(":memory:"), clock=clock, config=EngineConfig(chat_retention=timedelta(days=7))
    )
    index = FaultyIndex(kept)
    engine.elsewhere = Elsewhere(index)
    engine.desk.answerer = Echo()
    yield Home(engine, kept, index, clock)
    await engine.close()


async def test_what_is_embedded_is_copied_with_its_conversation(home: Home) -> None:
    ids = await home.ask("sales of the north", "and of the south")
    await home.engine.add_turns(ANA, "chat", [{"role": "user", "content": "sales talk outside the data chat"}])
    await home.engine.flush(DATA)
    assert home.held() == set(ids)
    assert {scope for scope, _ in home.kept.points} == {DATA}
    labels = [point.labels for points in home.kept.points.values() for point in points.values()]
    assert labels == [{"session": "s1"}, {"session": "s1"}]


async def test_a_whole_copy_is_searched_and_what_it_brings_is_checked_against_the_store(home: Home) -> None:
    first, second = await home.ask("turnover of the north", "zebra crossings")
    await home.engine.flush(DATA)
    await home.found("north")  # not known to be whole before anybody asked
    await home.engine.flush(DATA)
    (((_, generation), points),) = home.kept.points.items()
    await home.index.add(DATA, generation, [Point("not-in-the-store", points[second].vector, {})])
    del points[second]
    query = Query(text="zebra crossings", recipe="datachat", min_relevance=0.0)
    recalled = await home.engine.recall(DATA, query)
    assert recalled.trace.candidates["dense"] == 1  # neither the one it lacks, nor the one nobody knows
    assert {hit.target.id for hit in recalled} == {first, second}


async def test_a_question_is_answered_from_the_store_while_the_index_is_down(home: Home) -> None:
    ids = await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    await home.found("turnover")
    await home.engine.flush(DATA)
    home.index.fail_with = DOWN
    hits, degraded = await home.found("turnover of the north")
    assert (hits, degraded) == (ids, ("vectors",))
    reply = await home.engine.ask_data(ANA, AskData(question="turnover of the north again", session_id="s2"))
    assert reply.answer.answered
    assert reply.used.similar == 1
    await home.engine.flush(DATA)
    home.index.fail_with = None
    await home.engine.flush(DATA)  # what was asked meanwhile is made up for
    assert len(home.held()) == 2
    assert (await home.found("turnover of the north"))[1] == ()


async def test_vectors_from_before_the_index_was_configured_are_copied(home: Home) -> None:
    there, home.engine.elsewhere = home.engine.elsewhere, None
    ids = await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    home.engine.elsewhere = there
    assert home.held() == set()
    assert (await home.found("turnover"))[0] == ids
    await home.engine.flush(DATA)
    assert home.held() == set(ids)


async def test_a_copy_is_not_taken_to_be_whole_forever(home: Home) -> None:
    ids = await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    await home.found("turnover")
    await home.engine.flush(DATA)
    home.kept.points.clear()  # another process failed, and told nobody
    home.clock.advance(WHOLE_FOR)
    assert (await home.found("turnover of the north"))[0] == ids
    await home.engine.flush(DATA)
    assert home.held() == set(ids)


async def test_forgetting_a_conversation_removes_its_vectors_there(home: Home) -> None:
    await home.ask("turnover of the north")
    kept = await home.ask("zebra crossings", session="s2")
    await home.engine.flush(DATA)
    await home.engine.forget_data_conversation(ANA, "s1")
    assert home.held() == set(kept)


async def test_nothing_is_forgotten_here_while_it_can_not_be_forgotten_there(home: Home) -> None:
    ids = await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    home.index.fail_with = DOWN
    for forgetting in (
        home.engine.forget_data_conversation(ANA, "s1"),
        home.engine.erase_data(ANA),
        home.engine.erase_user(ANA.tenant, ANA.user),
    ):
        with pytest.raises(Unavailable):
            await forgetting
    assert (await home.found("turnover of the north"))[0] == ids
    home.index.fail_with = None
    assert (await home.engine.forget_data_conversation(ANA, "s1")).conversations == 1
    assert home.held() == set()


async def test_what_has_reached_its_end_goes_there_too_and_waits_while_it_can_not(home: Home) -> None:
    await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    home.clock.advance(timedelta(days=8))
    home.index.fail_with = DOWN
    assert "drop_conversation" not in (await home.engine.maintain(DATA)).done
    home.index.fail_with = None
    assert (await home.engine.maintain(DATA)).done["drop_conversation"] == 1
    assert home.held() == set()


@pytest.mark.parametrize("erase", ["erase_data", "erase_user"])
async def test_erasing_removes_everything_there(home: Home, erase: str) -> None:
    await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    await (home.engine.erase_data(ANA) if erase == "erase_data" else home.engine.erase_user(ANA.tenant, ANA.user))
    assert home.held() == set()
    await home.engine.flush(DATA)
    assert home.held() == set()


async def test_what_is_forgotten_while_it_is_embedded_does_not_stay_there(home: Home) -> None:
    class Slow(ReferenceIndex):
        """Somebody forgets the conversation at the very moment its vectors arrive."""

        async def add(self, *given: object) -> None:
            await super().add(*given)  # type: ignore[arg-type]
            await home.engine.store.write(DATA, lambda tx: tx.erase())

    slow = Slow()
    home.engine.elsewhere = Elsewhere(slow)
    await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    assert not any(slow.points.values())


async def test_a_model_that_serves_no_more_is_removed_there(home: Home) -> None:
    await home.ask("turnover of the north")
    await home.engine.flush(DATA)
    await home.index.add(DATA, "gone", [])
    await elsewhere.retire(home.engine, ["gone"])
    assert {generation for _, generation in home.kept.points} == {(await home.engine.generations.alive())[0].id}


async def test_a_server_that_leaves_the_work_to_others_settles_what_only_it_knows(home: Home) -> None:
    there = home.engine.elsewhere
    assert there is not None
    ids = await home.ask("turnover of the north")
    await embed.drain(home.engine)
    await home.found("turnover")
    (generation,) = await home.engine.generations.alive()
    assert not there.holds(DATA, generation.id, home.clock.now())
    await jobs.settle_own(home.engine)
    assert there.holds(DATA, generation.id, home.clock.now()), "it may be searched"
    home.index.fail_with = DOWN
    await elsewhere.left(home.engine, DATA, ids)
    home.index.fail_with = None
    await jobs.settle_own(home.engine)
    assert home.held() == set(), "what could not be removed in time is removed later"
    home.clock.advance(WHOLE_FOR)
    await jobs.settle_own(home.engine)
    assert not there.whole, "what is out of date is not kept in mind"


async def test_chroma_holds_no_word_of_what_was_asked(home: Home, tmp_path: Path) -> None:
    home.engine.elsewhere = Elsewhere(ChromaIndex("canaries", folder=tmp_path))
    ids = await home.ask("how many kestrelcanary were sold")
    await home.engine.flush(DATA)
    await home.found("kestrelcanary")
    await home.engine.flush(DATA)
    assert (await home.found("kestrelcanary"))[0] == ids
    assert files_containing(tmp_path, "kestrelcanary") == []
    await home.engine.forget_data_conversation(ANA, "s1")
    generation = (await home.engine.generations.alive())[0]
    vector = (await HashEmbedder().embed(["kestrelcanary"]))[0]
    assert await home.engine.elsewhere.index.search(DATA, generation.id, vector, 10) == []


@pytest.mark.parametrize(("name", "url"), [("chroma", ""), ("opensearch", "http://127.0.0.1:9200")])
def test_the_settings_say_where(name: str, url: str, tmp_path: Path) -> None:
    given = {"MEMORY_VECTOR_STORE": name, "RECOLLECT_VECTOR_URL": url}
    there = open_elsewhere(Settings.load(given, data_dir=tmp_path))
    assert there is not None
    assert type(there.index).__name__.lower() == f"{name}index"


def test_the_store_itself_goes_by_its_own_names_only(tmp_path: Path) -> None:
    for name in ("store", "sqlite"):
        assert open_elsewhere(Settings.load({"MEMORY_VECTOR_STORE": name}, data_dir=tmp_path)) is None
    with pytest.raises(InvalidInput, match="pgvector"):
        open_elsewhere(Settings.load({"MEMORY_VECTOR_STORE": "pgvector"}, data_dir=tmp_path))
    on_postgres = Settings.load({"MEMORY_VECTOR_STORE": "pgvector"}, store="postgresql://somewhere/db")
    assert open_elsewhere(on_postgres) is None
