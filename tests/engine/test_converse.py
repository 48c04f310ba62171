"""Turns are kept word for word, in order, once, and can be found like memories."""

from __future__ import annotations

import asyncio

import pytest

from recollect.engine import Engine
from recollect.errors import Conflict, InvalidInput
from recollect.model import Filter, Query, Scope
from tests.engine.conftest import ANA, both


async def test_turns_keep_order_speaker_and_time(engine: Engine) -> None:
    receipt = await engine.add_turns(
        ANA,
        "trip",
        [
            {"role": "Maria", "content": "We fly to Lisbon", "created_at": "2024-05-01T10:00:00+02:00", "id": "t1"},
            {"role": "assistant", "content": "When?"},
        ],
    )
    assert (receipt.ids[0], receipt.stored) == ("t1", 2)
    first, second = await engine.store.read(ANA, lambda tx: tx.conversations.history("trip", 10))
    assert (first.role, first.name, first.order, first.dated) == ("user", "Maria", 0, True)
    assert first.created_at.isoformat() == "2024-05-01T08:00:00+00:00"
    assert (second.role, second.name, second.order, second.dated) == ("assistant", None, 1, False)


async def test_messages_are_recalled_beside_memories(engine: Engine) -> None:
    await engine.add_turns(ANA, "s", [{"role": "user", "content": "the harbour was full of boats", "id": "m"}])
    await engine.remember(ANA, {"content": "likes the harbour"})
    both = await engine.recall(ANA, Query(text="harbour"))
    assert {hit.target.kind for hit in both} == {"memory", "message"}
    (only,) = await engine.recall(ANA, Query(text="harbour", filter=Filter(kinds=("message",))))
    assert only.message is not None
    assert (only.message.id, only.message.session_id) == ("m", "s")


async def test_sending_turns_again_changes_nothing(engine: Engine) -> None:
    turns = [{"role": "user", "content": f"line {n}", "id": f"t{n}"} for n in range(5)]
    await engine.add_turns(ANA, "s", turns[:3])
    again = await engine.add_turns(ANA, "s", turns)
    assert (again.stored, again.ids) == (2, ("t0", "t1", "t2", "t3", "t4"))
    history = await engine.store.read(ANA, lambda tx: tx.conversations.history("s", 10))
    assert [message.order for message in history] == [0, 1, 2, 3, 4]


async def test_an_id_of_another_conversation_is_a_conflict_and_nothing_is_stored(engine: Engine) -> None:
    await engine.add_turns(ANA, "a", [{"role": "user", "content": "one", "id": "t"}])
    with pytest.raises(Conflict):
        await engine.add_turns(
            ANA, "b", [{"role": "user", "content": "new"}, {"role": "user", "content": "two", "id": "t"}]
        )
    assert await engine.store.read(ANA, lambda tx: tx.conversations.get("b")) is None


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "user"},
        {"role": "user", "content": ""},
        {"role": "", "content": "x"},
        {"role": "user", "content": "x", "when": "now"},
        {"role": "user", "content": "x", "created_at": "yesterday"},
        {"role": "user", "content": "x\x00"},
    ],
)
@both
async def test_one_bad_turn_stores_none(engine: Engine, turn: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        await engine.add_turns(ANA, "s", [{"role": "user", "content": "fine"}, turn])
    assert await engine.store.read(ANA, lambda tx: tx.conversations.get("s")) is None


async def test_no_turns_is_no_conversation(engine: Engine) -> None:
    assert (await engine.add_turns(ANA, "s", [])).stored == 0
    assert await engine.store.read(ANA, lambda tx: tx.conversations.get("s")) is None


async def test_concurrent_turns_keep_a_total_order(engine: Engine) -> None:
    await asyncio.gather(
        *(
            engine.add_turns(ANA, "s", [{"role": "user", "content": f"{n}"}, {"role": "user", "content": f"{n}!"}])
            for n in range(12)
        )
    )
    history = await engine.store.read(ANA, lambda tx: tx.conversations.history("s", 100))
    assert [message.order for message in history] == list(range(24))
    for first, second in zip(history[::2], history[1::2], strict=True):
        assert second.content == first.content + "!", "a call's turns stay together"


async def test_many_turns_at_once(engine: Engine) -> None:
    turns = [{"role": "user", "content": f"number {n} of many", "id": f"n{n}"} for n in range(1100)]
    receipt = await engine.add_turns(Scope("acme", "many"), "s", turns)
    assert receipt.stored == 1100
    history = await engine.store.read(Scope("acme", "many"), lambda tx: tx.conversations.history("s", 2000))
    assert [message.id for message in history] == [f"n{n}" for n in range(1100)]
