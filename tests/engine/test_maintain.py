"""Upkeep over every store: the plan says what will happen, and exactly that happens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.upkeep import maintain
from recollect.errors import Conflict, NotFound
from recollect.model import Conversation, Listing, Memory, Query, Scope, Source, Status
from recollect.ports import Store, Tx
from recollect.testing.clock import ManualClock
from recollect.worker.embedded import EmbeddedWorker
from tests.engine.conftest import ANA, both, engine_over

DAY = timedelta(days=1)


def advance(engine: Engine, by: timedelta) -> None:
    assert isinstance(engine.clock, ManualClock)
    engine.clock.advance(by)


async def capture(engine: Engine, content: str, **fields: Any) -> str:
    """Something that came in by itself."""
    receipt = await engine.remember(ANA, {"content": content, "source": "inferred", **fields})
    assert receipt.id is not None
    return receipt.id


async def statuses(engine: Engine, scope: Scope = ANA) -> dict[str, str]:
    listing = Listing(statuses=(), limit=1000)
    return {memory.content: memory.status.value for memory in await engine.list(scope, listing)}


async def trail(engine: Engine, scope: Scope = ANA) -> list[str]:
    return [event.action for event in await engine.audit_trail(scope, 1000, 0)]


async def found(engine: Engine, question: str) -> list[str]:
    return [hit.content for hit in await engine.recall(ANA, Query(text=question))]


async def crowded(engine: Engine, cap: int = 3, many: int = 5) -> list[str]:
    """More than the cap allows, the oldest first."""
    await engine.change_settings(ANA, {"soft_cap": cap})
    ids = []
    for number in range(many):
        ids.append(await capture(engine, f"the parcel number {number} stands in the hall"))
        advance(engine, DAY)
    return ids


# Seed 003: Capacity Trimming


async def test_when_the_soft_cap_is_exceeded_the_lowest_totals_are_archived(engine: Engine) -> None:
    ids = await crowded(engine)
    dry = await engine.maintain(ANA, dry_run=True)
    assert [step.id for step in dry.plan.steps] == ids[:2]
    assert dry.done == {}
    assert set((await statuses(engine)).values()) == {"active"}, "a dry run does nothing"
    upkeep = await engine.maintain(ANA)
    assert upkeep.plan == dry.plan, "what was announced is what is done"
    assert (upkeep.done, upkeep.passed_over) == ({"archive": 2}, 0)
    assert list((await statuses(engine)).values()) == ["active", "active", "active", "archived", "archived"]
    assert (await engine.maintain(ANA)).plan.steps == ()


async def test_what_is_archived_is_out_of_recall_but_there_to_see_and_to_restore(engine: Engine) -> None:
    ids = await crowded(engine)
    await engine.flush(ANA)
    await engine.maintain(ANA)
    assert not [text for text in await found(engine, "parcel number 0") if "number 0" in text]
    assert (await engine.get(ANA, ids[0])).status is Status.ARCHIVED
    restored = await engine.restore(ANA, ids[0])
    assert restored.status is Status.ACTIVE
    assert "the parcel number 0 stands in the hall" in await found(engine, "parcel number 0")
    assert (await engine.maintain(ANA)).plan.steps == (), "what somebody restored is not taken again"
    actions = await trail(engine)
    assert (actions.count("memory.archived"), actions.count("memory.restored")) == (2, 1)


async def test_entries_that_are_pinned_or_manually_saved_are_excluded_from_trimming(engine: Engine) -> None:
    await engine.change_settings(ANA, {"soft_cap": 1})
    for number in range(3):
        await capture(engine, f"pinned {number}", pinned=True)
        await capture(engine, f"saved {number}", manually_saved=True)
        await capture(engine, f"manual {number}", source="manual")
    advance(engine, 400 * DAY)
    assert (await engine.maintain(ANA)).plan.steps == ()
    await capture(engine, "one that came by itself")
    assert (await engine.maintain(ANA)).plan.steps == ()


async def test_one_that_is_pinned_between_plan_and_act_is_not_trimmed(engine: Engine) -> None:
    ids = await crowded(engine)
    heard: list[tuple[str, Mapping[str, Any]]] = []
    engine.heard = lambda what, facts: heard.append((what, facts))
    plan = await maintain.planned(engine, ANA)

    def pin_quietly(tx: Tx) -> None:
        tx.memories.replace(replace(tx.memories.get([ids[0]])[ids[0]], pinned=True), "digest")

    await engine.store.write(ANA, pin_quietly)
    await engine.revise(ANA, ids[1], {"tags": ["touched"]})
    upkeep = await maintain.carry_out(engine, ANA, plan)
    assert (upkeep.done, upkeep.passed_over) == ({}, 2)
    assert set((await statuses(engine)).values()) == {"active"}
    assert ("trim_guarded", {"count": 1}) in heard, "an alert can be made of it"


# Seed 003: Score Persistence


@pytest.mark.parametrize("recipe", ["native", "recall", "longterm", "companion", "nova"])
async def test_retrieval_writes_the_latest_scores_of_each_fetched_entry(engine: Engine, recipe: str) -> None:
    id = await capture(engine, "Ana keeps bees on the roof", type="preference", importance=0.7)
    await engine.flush(ANA)
    advance(engine, 7 * DAY)
    recalled = await engine.recall(ANA, Query(text="bees on the roof", recipe=recipe))
    assert len(recalled) == 1
    await engine.settle_debts()
    memory = await engine.get(ANA, id)
    scores = memory.last_scores
    assert scores is not None
    assert scores.relevance == pytest.approx(recalled.hits[0].relevance)
    assert scores.recency == pytest.approx(0.36788, abs=1e-4)
    assert scores.importance == memory.importance
    assert scores.total == pytest.approx(scores.relevance + scores.recency + scores.importance)
    assert scores.computed_at == engine.clock.now()
    assert (memory.access_count, memory.last_accessed) == (1, engine.clock.now())


async def test_capacity_enforcement_recomputes_missing_and_stale_scores_and_keeps_them(engine: Engine) -> None:
    ids = await crowded(engine, cap=4)
    await engine.flush(ANA)
    await engine.recall(ANA, Query(text="the parcel number 0 stands in the hall", limit=1))
    await engine.settle_debts()
    left = {memory.id: memory for memory in await engine.list(ANA, Listing(statuses=()))}
    assert left[ids[1]].status is Status.ARCHIVED, "the oldest was looked for a moment ago; the next one goes instead"
    first, last = left[ids[0]].last_scores, left[ids[4]].last_scores
    assert first is not None
    assert first.relevance > 0
    assert last is not None
    assert (last.relevance, last.computed_at) == (0.0, engine.clock.now())


# Where it is enforced


async def test_the_write_itself_never_trims_and_the_background_does(engine: Engine) -> None:
    await crowded(engine)
    assert set((await statuses(engine)).values()) == {"active"}
    await engine.settle_debts()
    assert sorted((await statuses(engine)).values()) == ["active"] * 3 + ["archived"] * 2


async def test_a_worker_in_its_own_thread_keeps_the_cap_while_others_write(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(notes_every=timedelta(0)))
    await engine.change_settings(ANA, {"soft_cap": 3})
    worker = EmbeddedWorker(engine)
    worker.start()
    try:
        for number in range(12):
            await capture(engine, f"the parcel number {number} stands in the hall")
        for _ in range(1_200):
            if list((await statuses(engine)).values()).count("active") == 3:
                break
            await asyncio.sleep(0.05)
    finally:
        await asyncio.to_thread(worker.stop)
    assert sorted((await statuses(engine)).values()) == ["active"] * 3 + ["archived"] * 9


async def test_what_was_handed_over_in_person_is_never_capped(engine: Engine) -> None:
    await engine.change_settings(ANA, {"soft_cap": 2})
    for number in range(6):
        await engine.remember(ANA, {"content": f"note number {number}"})
    await engine.settle_debts()
    assert (await engine.maintain(ANA)).plan.steps == ()
    assert set((await statuses(engine)).values()) == {"active"}


async def test_the_round_reaches_every_scope_when_it_is_time(engine: Engine) -> None:
    scopes = [ANA, ANA.within("work"), Scope("acme", "bo"), Scope("other", "ana")]
    over = engine.clock.now() + DAY
    for scope in scopes:
        await engine.remember(scope, {"content": "only for today", "expires_at": over})
    await engine.settle_debts()
    advance(engine, timedelta(hours=25))
    await engine.settle_debts()
    for scope in scopes:
        assert (await engine.list(scope, Listing(statuses=()))).total == 0
        assert "memory.expired" in await trail(engine, scope)
    await engine.remember(ANA, {"content": "only for today", "expires_at": engine.clock.now() + timedelta(hours=1)})
    advance(engine, timedelta(hours=2))
    await engine.settle_debts()
    assert (await engine.list(ANA, Listing())).total == 1, "not before it is time again"


async def test_where_memory_is_off_or_read_only_nothing_is_put_away_but_ends_are_kept(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    await crowded(engine)
    await engine.remember(ANA, {"content": "over soon", "expires_at": clock.now() + DAY})
    advance(engine, 2 * DAY)
    reader = engine_over(store, config=EngineConfig(write_mode="read_only"), clock=clock)
    assert [step.action for step in (await reader.maintain(ANA, dry_run=True)).plan.steps] == ["expire"]
    await engine.change_settings(ANA, {"memory_enabled": False})
    assert (await engine.maintain(ANA)).done == {"expire": 1}
    assert set((await statuses(engine)).values()) == {"active"}


# Seed 001: Memory Lifecycle Management


@both
async def test_memory_storage_capacity_there_is_no_limit_of_our_own(engine: Engine) -> None:
    await engine.change_settings(ANA, {"soft_cap": 0})
    for number in range(250):
        await capture(engine, f"fact number {number}")
    await engine.settle_debts()
    assert (await engine.list(ANA, Listing(limit=1))).total == 250


async def test_optional_memory_eviction_for_performance(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(eviction_threshold=3))
    await engine.change_settings(ANA, {"soft_cap": 0})
    await engine.remember(ANA, {"content": "sure and old", "confidence": 0.9})
    await engine.remember(ANA, {"content": "doubtful", "confidence": 0.3})
    await engine.remember(ANA, {"content": "used long ago", "confidence": 0.5})
    advance(engine, DAY)
    await engine.remember(ANA, {"content": "used lately", "confidence": 0.5})
    await engine.remember(ANA, {"content": "doubtful but pinned", "confidence": 0.0, "pinned": True})
    await engine.settle_debts()
    gone = {text for text, status in (await statuses(engine)).items() if status == "archived"}
    assert gone == {"doubtful", "used long ago"}


async def test_eviction_is_not_enabled_by_default(engine: Engine) -> None:
    for number in range(20):
        await engine.remember(ANA, {"content": f"fact number {number}", "confidence": 0.0})
    await engine.settle_debts()
    assert (await engine.maintain(ANA)).plan.steps == ()


async def test_user_delete_specific_memory(engine: Engine) -> None:
    id = await capture(engine, "to be deleted")
    assert (await engine.forget(ANA, [id])).memories == 1
    with pytest.raises(NotFound):
        await engine.get(ANA, id)
    with pytest.raises(NotFound):
        await engine.restore(ANA, id)


async def test_user_clear_all_memories(engine: Engine) -> None:
    await crowded(engine)
    await engine.maintain(ANA)
    await engine.add_turns(ANA, "s", [{"role": "user", "content": "what is on today?"}])
    assert (await engine.clear(ANA)).memories == 5, "the archived ones too"
    assert (await engine.list(ANA, Listing(statuses=()))).total == 0
    assert (await engine.working(ANA, "s")).turn_count == 1, "working memory stays until its session ends"


# Expiry and retention


async def test_what_has_expired_is_really_removed_and_may_be_told_again(engine: Engine) -> None:
    over = engine.clock.now() + DAY
    id = await capture(engine, "Ana is in Rome this week", expires_at=over, theme="travel")
    await engine.remember(ANA, {"content": "Ana travels a lot", "source_ids": [id]})
    await engine.flush(ANA)
    assert (await engine.maintain(ANA)).plan.steps == ()
    advance(engine, DAY)
    upkeep = await engine.maintain(ANA)
    assert [(step.action, step.id, step.why) for step in upkeep.plan.steps] == [
        ("expire", id, f"expired on {over:%Y-%m-%d}")
    ]
    assert (await engine.list(ANA, Listing(statuses=()))).total == 0, "with what was derived from it alone"
    assert await engine.themes(ANA) == []
    again = await engine.remember(ANA, {"content": "Ana is in Rome this week", "expires_at": over + 8 * DAY})
    assert again.outcome == "stored", "there is no tombstone"


async def test_hard_delete_non_pinned_items_180_days_after_they_were_archived(engine: Engine) -> None:
    ids = await crowded(engine, cap=3)
    await engine.maintain(ANA)
    advance(engine, 179 * DAY)
    assert (await engine.maintain(ANA)).plan.steps == ()
    advance(engine, DAY)
    upkeep = await engine.maintain(ANA)
    assert upkeep.done == {"remove": 2}
    assert upkeep.plan.steps[0].why == "archived 180 days ago; the archive keeps things for 180"
    with pytest.raises(NotFound):
        await engine.get(ANA, ids[0])
    assert (await trail(engine)).count("memory.purged") == 2


async def expiring(engine: Engine, id: str, **fields: Any) -> None:
    now = engine.clock.now()
    talk = Conversation(id=id, created_at=now, updated_at=now, **fields)
    await engine.store.write(ANA, lambda tx: tx.conversations.open(talk))


async def test_an_expired_conversation_goes_and_what_was_learnt_from_it_stays_and_says_so(engine: Engine) -> None:
    await expiring(engine, "chat", expires_at=engine.clock.now() + 7 * DAY)
    turns = await engine.add_turns(ANA, "chat", [{"role": "user", "content": "my favourite tea is oolong"}])
    learnt = await capture(
        engine, "prefers oolong", source_message_id=turns.ids[0], source_conversation_id="chat", source="user_stated"
    )
    await engine.add_turns(ANA, "other", [{"role": "user", "content": "a talk without an end"}])
    await engine.flush(ANA)
    advance(engine, 7 * DAY)
    assert (await engine.maintain(ANA)).done == {"drop_conversation": 1, "end_sessions": 2}
    with pytest.raises(NotFound):
        await engine.conversation(ANA, "chat", 10)
    assert "prefers oolong" in await found(engine, "prefers oolong")
    assert not [text for text in await found(engine, "my favourite tea is oolong") if text.startswith("my")]
    memory = await engine.get(ANA, learnt)
    assert memory.source_expired_at == engine.clock.now()
    assert (await engine.why(ANA, learnt)).message is None
    assert len((await engine.conversation(ANA, "other", 10))[1]) == 1
    assert "conversation.expired" in await trail(engine)


async def test_a_spaces_retention_ends_conversations_that_nobody_goes_on_with(engine: Engine) -> None:
    await engine.add_turns(ANA, "old", [{"role": "user", "content": "long ago"}])
    advance(engine, 20 * DAY)
    await engine.add_turns(ANA, "new", [{"role": "user", "content": "lately"}])
    advance(engine, 11 * DAY)
    done = (await engine.maintain(ANA)).done
    assert done == {"end_sessions": 2}, "there is no retention unless somebody wants one"
    await engine.change_settings(ANA, {"retention_days": 30})
    upkeep = await engine.maintain(ANA)
    assert [step.id for step in upkeep.plan.steps] == ["old"]
    assert [each.id for each in await engine.conversations(ANA, 10, 0)] == ["new"]


async def test_quiet_sessions_end_and_are_archived_announced_first(engine: Engine) -> None:
    heard: list[tuple[str, object]] = []
    engine.heard = lambda what, facts: heard.append((what, dict(facts)))
    for text in ("I want to learn the cello.", "How?", "Where?"):
        await engine.take_in(ANA, "s1", [{"role": "user", "content": text}])
    assert (await engine.maintain(ANA, dry_run=True)).plan.steps == ()
    advance(engine, timedelta(minutes=31))
    (step,) = (await engine.maintain(ANA, dry_run=True)).plan.steps
    assert (step.action, step.count, "30 minutes" in step.why) == ("end_sessions", 1, True)
    assert await engine.store.read(ANA, lambda tx: tx.space.working("s1")) is not None
    upkeep = await engine.maintain(ANA)
    assert (upkeep.done, upkeep.passed_over) == ({"end_sessions": 1}, 0)
    assert any("cello" in each.content for each in await engine.list(ANA, Listing()) if each.source == "system")
    assert ("upkeep", {"action": "end_sessions", "count": 1}) in heard
    assert (await engine.maintain(ANA)).plan.steps == ()


async def test_tombstones_and_marks_of_sessions_go_when_their_time_is_over(engine: Engine) -> None:
    id = await capture(engine, "to be forgotten")
    await engine.forget(ANA, [id])
    await engine.start_incognito(ANA, "quiet")
    assert (await engine.maintain(ANA)).plan.steps == ()
    advance(engine, timedelta(hours=25))
    assert (await engine.maintain(ANA)).done == {"drop_tombstones": 1}
    assert await engine.is_incognito(ANA, "quiet")
    advance(engine, 181 * DAY)
    assert (await engine.maintain(ANA)).done == {"drop_sessions": 1}
    assert not await engine.is_incognito(ANA, "quiet")


async def test_a_plan_names_no_content(engine: Engine) -> None:
    await crowded(engine)
    upkeep = await engine.maintain(ANA)
    events = await engine.audit_trail(ANA, 1000, 0)
    assert "parcel" not in repr(upkeep.plan)
    assert "parcel" not in repr([event.facts for event in events])


# Restoring


async def test_only_what_is_archived_can_be_restored_and_only_where_nothing_took_its_place(engine: Engine) -> None:
    id = await capture(engine, "the meeting is on Monday", key="meeting")
    with pytest.raises(Conflict):
        await engine.restore(ANA, id)
    await engine.archive(ANA, [id])
    await engine.archive(ANA, [id])
    newer = await capture(engine, "the meeting is on Friday", key="meeting")
    with pytest.raises(Conflict) as refused:
        await engine.restore(ANA, id)
    assert refused.value.details["instead"] == newer
    with pytest.raises(NotFound):
        await engine.archive(ANA, [newer, "unknown"])
    assert (await engine.get(ANA, newer)).status is Status.ACTIVE


def test_the_definition_of_captured_is_the_contracts() -> None:
    def made(**fields: Any) -> Memory:
        now = ManualClock().now()
        return Memory(id="m", content="m", created_at=now, updated_at=now, **fields)

    assert made(source=Source.INFERRED).captured
    assert made(source=Source.USER_STATED, source_conversation_id="s").captured
    assert not made(source=Source.USER_STATED).captured
    assert not made(source=Source.INFERRED, manually_saved=True).captured
    assert not made(source=Source.MANUAL, source_conversation_id="s").captured
