"""Working memory, scenario by scenario of the long-term contract, over every store; and what incognito makes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.conversations import sweep, working
from recollect.engine.conversations.copies import Copied
from recollect.errors import NotFound
from recollect.model import Filter, Listing, Message, Occasion, Query, WorkingMemory
from recollect.ports import Store
from recollect.providers.caches.hashes import RedisHashes
from recollect.stores.sqlite import SqliteStore
from recollect.testing.clock import ManualClock
from tests.contract.stores import OPENERS, Ground
from tests.engine.conftest import ANA, engine_over
from tests.services.valkey import ValkeyServer


@pytest.fixture(params=[*sorted(OPENERS), "redis"])
async def store(request: pytest.FixtureRequest, ground: Ground) -> AsyncIterator[Store]:
    """Every store, and one whose sessions are copied to a Redis: the same rules hold for both."""
    if request.param != "redis":
        async with OPENERS[request.param](ground) as opened:
            yield opened
        return
    server: ValkeyServer = request.getfixturevalue("valkey")
    copied = Copied(await SqliteStore.open(":memory:"), RedisHashes(server.url, wait_s=10), b"")
    yield copied
    await copied.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(store: Store, clock: ManualClock) -> Engine:
    return engine_over(store, clock=clock)


def turn(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


async def stored(engine: Engine, session_id: str = "s1") -> WorkingMemory | None:
    return await engine.store.read(ANA, lambda tx: tx.space.working(session_id))


async def test_working_memory_creation_on_new_session(engine: Engine, clock: ManualClock) -> None:
    await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    found = await engine.working(ANA, "s1")
    assert (found.session_id, found.turn_count) == ("s1", 1)
    assert found.created_at == found.updated_at == clock.now()


async def test_working_memory_update_on_each_turn(engine: Engine, clock: ManualClock) -> None:
    await engine.take_in(ANA, "s1", [turn("I'm planning a cycling trip to Norway with Ben.")])
    first = await engine.working(ANA, "s1")
    clock.advance(timedelta(minutes=5))
    await engine.take_in(
        ANA, "s1", [turn("How lovely!", "assistant"), turn("I'm so worried about the ferry timetable.")]
    )
    second = await engine.working(ANA, "s1")
    assert (first.turn_count, second.turn_count) == (1, 2)
    assert second.created_at == first.created_at
    assert second.updated_at == clock.now()
    assert (first.current_topic, second.current_topic) == ("cycling trip Norway", "ferry timetable")
    assert first.context_variables["places"] == ["Norway"]
    assert second.context_variables["people"] == ["Ben"], "what was said stays until something else is"
    assert (first.last_emotion, second.last_emotion) == ("neutral", "fear")


async def test_a_follow_up_and_a_word_of_thanks_leave_the_topic(engine: Engine) -> None:
    await engine.take_in(ANA, "s1", [turn("My sourdough starter died.")])
    before = (await engine.working(ANA, "s1")).current_topic
    await engine.take_in(ANA, "s1", [turn("Why did that happen?"), turn("Thanks!")])
    assert (await engine.working(ANA, "s1")).current_topic == before == "sourdough starter died"


async def test_working_memory_auto_cleanup(engine: Engine, clock: ManualClock) -> None:
    await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    clock.advance(timedelta(minutes=30))
    assert (await sweep.sweep(engine)).removed == 0
    assert (await engine.working(ANA, "s1")).turn_count == 1
    clock.advance(timedelta(seconds=1))
    with pytest.raises(NotFound):
        await engine.working(ANA, "s1")
    assert await sweep.sweep(engine) == working.Cleaned(removed=1, archived=0)
    assert await stored(engine) is None


async def test_what_mattered_of_a_session_is_archived(engine: Engine, clock: ManualClock) -> None:
    await engine.take_in(ANA, "s1", [turn("I want to run the Oslo marathon in September.")])
    await engine.take_in(ANA, "s1", [turn("How long should the long runs be?"), turn("And the last week before it?")])
    clock.advance(timedelta(minutes=31))
    assert await sweep.sweep(engine) == working.Cleaned(removed=1, archived=1)
    archived = [each for each in await engine.list(ANA, Listing()) if each.source == "system"]
    assert [(each.type, each.source_conversation_id, each.tags) for each in archived] == [("note", "s1", ("session",))]
    assert "goal: run the Oslo marathon in September" in archived[0].content


@pytest.mark.parametrize("mode", ["explicit", "read_only"])
async def test_nothing_is_archived_where_nothing_is_written_by_itself(store: Store, mode: str) -> None:
    clock = ManualClock()
    engine = engine_over(store, config=EngineConfig(write_mode=mode), clock=clock)  # type: ignore[arg-type]
    await engine.take_in(ANA, "s1", [turn("I want to run a marathon."), turn("How?"), turn("When?")])
    clock.advance(timedelta(hours=1))
    assert await sweep.sweep(engine) == working.Cleaned(removed=1, archived=0)


async def test_a_session_taken_up_again_after_silence_begins_anew(engine: Engine, clock: ManualClock) -> None:
    await engine.take_in(ANA, "s1", [turn("I want to learn the cello."), turn("How?"), turn("Where?")])
    clock.advance(timedelta(hours=2))
    await engine.take_in(ANA, "s1", [turn("hello")])
    found = await engine.working(ANA, "s1")
    assert (found.turn_count, found.created_at, found.current_topic) == (1, clock.now(), None)
    assert any("cello" in each.content for each in await engine.list(ANA, Listing()) if each.source == "system")


async def test_another_process_finds_what_an_earlier_one_left(store: Store, clock: ManualClock) -> None:
    await engine_over(store, clock=clock).take_in(ANA, "s1", [turn("I live in Lyon.")])
    later = engine_over(store, clock=clock)
    assert (await sweep.sweep(later)).removed == 0
    clock.advance(timedelta(minutes=31))
    assert (await sweep.sweep(later)).removed == 1


async def test_get_working_memory_for_session(engine: Engine) -> None:
    with pytest.raises(NotFound):
        await engine.working(ANA, "nowhere")
    await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    await engine.shown(ANA, "s1", ["Ana lives in Lyon."])
    assert not [name for name in (await engine.working(ANA, "s1")).context_variables if name.startswith("_")]


async def test_plain_turns_are_counted_and_a_retry_is_not(engine: Engine) -> None:
    turns = [{**turn("one"), "id": "m1"}, {**turn("two", "assistant"), "id": "m2"}]
    await engine.add_turns(ANA, "s1", turns)
    await engine.add_turns(ANA, "s1", turns)
    await engine.take_in(ANA, "s1", turns)
    assert (await engine.working(ANA, "s1")).turn_count == 1


async def test_old_turns_that_are_imported_begin_no_session(engine: Engine, clock: ManualClock) -> None:
    long_ago = clock.now() - timedelta(days=30)
    await engine.add_turns(ANA, "s1", [{**turn("one"), "created_at": long_ago}])
    assert await stored(engine) is None


async def test_an_assistant_alone_begins_no_session(engine: Engine) -> None:
    await engine.add_turns(ANA, "s1", [turn("Welcome!", "assistant")])
    assert await stored(engine) is None


async def test_working_memory_context_boost(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "The ferry to Bergen leaves at six", "type": "fact"})
    await engine.remember(ANA, {"content": "The bakery opens at six", "type": "fact"})
    await engine.take_in(ANA, "s1", [turn("The ferry timetable for Bergen has changed.")])
    plain = Query(text="what happens at six", recipe="longterm", filter=Filter(kinds=("memory",)))
    topical = await engine.on_topic(ANA, "s1", plain)
    assert topical.topic is not None
    assert "ferry" in topical.topic
    before, after = await engine.recall(ANA, plain), await engine.recall(ANA, topical)
    assert "ferry" in after.hits[0].content.casefold()
    ferry = {hit.content: hit.score for hit in before}["The ferry to Bergen leaves at six"]
    assert after.hits[0].score > ferry


async def test_a_topic_of_ones_own_and_no_session_are_left_alone(engine: Engine) -> None:
    await engine.take_in(ANA, "s1", [turn("The ferry timetable has changed.")])
    for session, query in (("s1", Query(text="x", topic="own")), (None, Query(text="x")), ("other", Query(text="x"))):
        assert await engine.on_topic(ANA, session, query) == query


async def test_an_incognito_session_works_in_this_process_alone(engine: Engine, store: Store) -> None:
    session = await engine.start_incognito(ANA)
    within = engine.on(Occasion(session_id=session))
    taken = await within.take_in(ANA, session, [turn("I live in Lyon and I'm so happy.")])
    assert (taken.turns, taken.reason, taken.extractions) == (None, "incognito", ())
    await within.shown(ANA, session, ["a memory"])
    found = await within.working(ANA, session)
    assert (found.turn_count, found.last_emotion, found.context_variables["places"]) == (1, "joy", ["Lyon"])
    assert await stored(engine, session) is None
    assert (await engine.list(ANA, Listing())).total == 0
    with pytest.raises(NotFound):
        await engine_over(store).on(Occasion(session_id=session)).working(ANA, session)
    await engine.end_incognito(ANA, session)
    with pytest.raises(NotFound):
        await within.working(ANA, session)


async def test_where_memory_is_off_a_session_still_counts_its_turns(engine: Engine) -> None:
    await engine.change_settings(ANA, {"memory_enabled": False})
    taken = await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    assert (taken.turns, taken.reason) == (None, "memory_off")
    assert (await engine.working(ANA, "s1")).turn_count == 1
    assert await stored(engine) is None


async def test_forgetting_the_conversation_takes_its_working_memory(engine: Engine) -> None:
    await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    await engine.forget_conversation(ANA, "s1")
    with pytest.raises(NotFound):
        await engine.working(ANA, "s1")


async def test_what_is_kept_of_shown_memories_cannot_be_read(engine: Engine) -> None:
    await engine.take_in(ANA, "s1", [turn("hello there, nice to see you")])
    memory = await engine.remember(ANA, {"content": "Ana keeps bees in Lyon", "key": "hobby", "value": "bees"})
    await engine.shown(ANA, "s1", [await engine.get(ANA, str(memory.id)), "Ana prefers tea"])
    kept = await stored(engine)
    assert kept is not None
    marks = kept.context_variables["_shown"]
    assert len(marks) == 3
    assert not any(word in str(marks).casefold() for word in ("bees", "lyon", "tea", "hobby"))


def test_messages_and_memories_leave_the_same_footprints(clock: ManualClock) -> None:
    message = Message(id="m", session_id="s", order=0, role="user", content="I like tea", created_at=clock.now())
    assert list(working._marks(message, b"k")) == list(working._marks("I like tea", b"k"))


async def test_erasing_somebody_ends_their_private_sessions_too(engine: Engine) -> None:
    await engine.take_in(ANA, "s0", [turn("I live in Lyon.")])
    await engine.start_incognito(ANA, "s1")
    await working.change(engine, ANA, "s1", lambda found: replace(found, current_topic="cheese"))
    assert (await engine.on(Occasion(session_id="s1")).working(ANA, "s1")).current_topic == "cheese"
    await engine.erase_user(ANA.tenant, ANA.user)
    assert engine.sessions.private(ANA, "s1") is None
