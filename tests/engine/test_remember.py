"""What becomes of a draft: stored, merged, superseded or refused, and never anything else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.errors import Conflict, InvalidInput, TooLarge
from recollect.model import EmbeddingState, Listing, Occasion, Query, Scope, SpaceSettings, Status
from recollect.ports import Store
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, anywhere, engine_over


async def contents(engine: Engine, scope: Scope = ANA, **filters: object) -> list[str]:
    page = await engine.list(scope, Listing(**filters))  # type: ignore[arg-type]
    return [memory.content for memory in page]


async def test_a_new_thing_is_stored_and_found_at_once(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "Ana's cat is called Miso"})
    assert (receipt.outcome, receipt.embedding) == ("stored", EmbeddingState.PENDING)
    (hit,) = await engine.recall(ANA, Query(text="what is the cat called?"))
    assert hit.memory is not None
    assert hit.memory.id == receipt.id


async def test_an_exact_repeat_strengthens_what_is_there(engine: Engine) -> None:
    first = await engine.remember(ANA, {"content": "I like green tea", "tags": ["drinks"]})
    second = await engine.remember(ANA, {"content": "I  like\tgreen tea ", "tags": ["tea"], "pinned": True})
    assert (second.outcome, second.id) == ("merged", first.id)
    memory = await engine.get(ANA, first.id or "")
    assert (memory.repeat_count, memory.tags, memory.pinned) == (1, ("drinks", "tea"), True)
    assert memory.importance > memory.base_importance
    assert await contents(engine) == ["I like green tea"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("the meeting is at 3pm", "the meeting is at 4pm"),
        ("I like tea", "I don't like tea"),
        ("see https://a.example/1", "see https://a.example/2"),
        ("我喜欢茶", "我不喜欢茶"),
        ("US election", "us election"),
    ],
)
@anywhere
async def test_a_merge_never_drops_a_difference(engine: Engine, before: str, after: str) -> None:
    await engine.remember(ANA, {"content": before})
    assert (await engine.remember(ANA, {"content": after})).outcome in ("stored", "superseded")
    assert sorted(await contents(engine, statuses=tuple(Status))) == sorted([before, after])


async def test_the_same_words_with_another_value_are_not_a_repeat(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "favourite colour", "value": {"colour": "red"}})
    receipt = await engine.remember(ANA, {"content": "favourite colour", "value": {"colour": "blue"}})
    assert receipt.outcome == "stored"


async def test_a_new_value_under_a_known_key_supersedes_the_old(engine: Engine) -> None:
    nine = await engine.remember(ANA, {"content": "The standup is at 9", "key": "standup"})
    ten = await engine.remember(ANA, {"content": "The standup is at 10", "key": "standup"})
    assert (ten.outcome, ten.replaces) == ("superseded", nine.id)
    assert await contents(engine) == ["The standup is at 10"]
    assert await contents(engine, statuses=(Status.SUPERSEDED,)) == ["The standup is at 9"]
    found = await engine.recall(ANA, Query(text="when is the standup?"))
    assert [hit.content for hit in found] == ["The standup is at 10"]


async def test_what_was_forgotten_does_not_slip_back_for_a_day(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    receipt = await engine.remember(ANA, {"content": "My salary is 70k"})
    await engine.forget(ANA, [receipt.id or ""])
    again = await engine.remember(ANA, {"content": "my  SALARY is 70k"})
    assert (again.outcome, again.reason, again.id) == ("refused", "tombstone", None)
    assert again.until == clock.now() + timedelta(hours=24)
    other = await engine.remember(Scope("acme", "bo"), {"content": "My salary is 70k"})
    assert other.outcome == "stored", "one person's tombstone must not bind another"
    clock.advance(timedelta(hours=24, seconds=1))
    assert (await engine.remember(ANA, {"content": "My salary is 70k"})).outcome == "stored"


async def test_memory_off_refuses_writes_and_recalls(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "stored before"})
    await engine.store.write(ANA, lambda tx: tx.space.save_settings(SpaceSettings(memory_enabled=False)))
    receipt = await engine.remember(ANA, {"content": "told while off"})
    assert (receipt.outcome, receipt.reason) == ("refused", "memory_off")
    found = await engine.recall(ANA, Query(text="stored before"))
    assert (found.hits, found.trace.degraded) == ((), ("memory_off",))


async def test_write_modes(store: Store) -> None:
    read_only = engine_over(store, config=EngineConfig(write_mode="read_only"))
    assert (await read_only.remember(ANA, {"content": "x", "source": "user_stated"})).reason == "read_only"
    assert (await read_only.remember(ANA, {"content": "x", "source": "import"})).reason == "read_only"
    assert (await read_only.remember(ANA, {"content": "x"}, as_admin=True)).outcome == "stored"
    explicit = engine_over(store, config=EngineConfig(write_mode="explicit"))
    assert (await explicit.remember(ANA, {"content": "y", "source": "inferred"})).reason == "read_only"
    assert (await explicit.remember(ANA, {"content": "y", "manually_saved": True})).outcome == "stored"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"content": ""}, "empty"),
        ({"content": " \n\t"}, "empty"),
        ({"content": "a\x00b"}, "NUL"),
        ({"content": "broken \ud800"}, "Unicode"),
        ({"content": 7}, "text"),
        ({"content": "x", "type": "opinion"}, "fact, preference"),
        ({"content": "x", "confidence": 1.5}, "0 to 1"),
        ({"content": "x", "tags": "python"}, "list"),
        ({"content": "x", "tags": ["a\x00"]}, "NUL"),
        ({"content": "x", "colour": "red"}, "colour"),
        ({"content": "x", "value": float("nan")}, "JSON"),
        ({"content": "x", "value": {"a": {1, 2}}}, "JSON"),
        ({"content": "x", "expires_at": "tomorrow"}, "expires_at"),
        ({"content": "x", "id": "a\nb"}, "control"),
        ({"content": "x", "id": "i" * 256}, "255"),
        ({"content": "x", "theme": "!!!"}, "theme"),
    ],
)
@anywhere
async def test_bad_input_is_named_and_nothing_is_stored(store: Store, fields: dict[str, object], names: str) -> None:
    engine = engine_over(store)
    with pytest.raises(InvalidInput, match=names):
        await engine.remember(ANA, fields)
    assert await contents(engine) == []


@pytest.mark.parametrize("text", ["🎉" * 50, "naïve café ‮txet", "你好，世界", "a" * 100_000, "tab\there\nand there"])
async def test_unusual_text_is_kept_as_it_is(engine: Engine, text: str) -> None:
    receipt = await engine.remember(ANA, {"content": text})
    assert (await engine.get(ANA, receipt.id or "")).content == text


async def test_too_large_is_refused_with_the_limit(engine: Engine) -> None:
    with pytest.raises(TooLarge, match="1,048,576"):
        await engine.remember(ANA, {"content": "x" * 1_100_000})


async def test_an_id_in_use_is_a_conflict(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "one", "id": "m1"})
    with pytest.raises(Conflict):
        await engine.remember(ANA, {"content": "two", "id": "m1"})
    assert await contents(engine) == ["one"]


async def test_twenty_writers_of_one_fact_leave_one_record(engine: Engine) -> None:
    receipts = await asyncio.gather(*(engine.remember(ANA, {"content": "We ship on Friday"}) for _ in range(20)))
    assert sorted(receipt.outcome for receipt in receipts) == ["merged"] * 19 + ["stored"]
    (memory,) = await engine.list(ANA, Listing())
    assert memory.repeat_count == 19


async def test_every_write_leaves_an_audit_fact_without_content(engine: Engine) -> None:
    receipt = await engine.on(Occasion(correlation_id="c-1")).remember(ANA, {"content": "secret plan"})
    page = await engine.store.read(ANA, lambda tx: tx.space.audit(10, 0))
    (event,) = page.items
    assert (event.action, event.target_id, event.correlation_id) == ("memory.stored", receipt.id, "c-1")
    assert "secret" not in repr(event)


async def test_pinning_adds_to_what_rules_weighed_and_leaves_an_owners_figure_alone(store: Store) -> None:
    engine = engine_over(store)
    weighed = await engine.remember(ANA, {"content": "the bins are emptied at dawn"})
    given = await engine.remember(ANA, {"content": "the gate code changed", "importance": 0.3})
    assert weighed.id
    assert given.id
    await engine.remember(ANA, {"content": "The bins are emptied at dawn!"})
    before = (await engine.get(ANA, weighed.id)).importance
    assert (await engine.revise(ANA, weighed.id, {"pinned": True})).importance == pytest.approx(before + 0.5)
    await engine.remember(ANA, {"content": "the bins are emptied at dawn."})
    told = await engine.get(ANA, weighed.id)
    assert told.repeat_count == 2
    assert told.importance == pytest.approx(before + 0.55), "telling it again still counts"
    assert (await engine.revise(ANA, weighed.id, {"pinned": False})).importance == pytest.approx(before + 0.05)
    assert (await engine.revise(ANA, given.id, {"pinned": True})).importance == 0.3
    assert (await engine.revise(ANA, weighed.id, {"pinned": True, "importance": 0.1})).importance == 0.1
