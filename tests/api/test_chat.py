"""Chatting through the library: the reply as it is said or at once, waited for or not, kept either way."""

from __future__ import annotations

from typing import Any

import pytest

from recollect import AsyncMemory, InvalidInput, Unavailable
from recollect.model.talk import Done, Remembered, Said, Started
from tests.api.homes import Home
from tests.providers.chat_wire import Act, ChatServer

STANDUP = "The standup is at 9:30 in the Maple room"


def test_memory_alone_answers_where_no_model_is_configured(home: Home) -> None:
    with home.memory() as memory:
        memory.add(STANDUP)
        reply = memory.chat("when is the standup?", session_id="s").whole()
        assert STANDUP in reply.text
        assert "No chat model is configured" in reply.text
        assert [each.content for each in reply.remembered.used] == [STANDUP]
        assert [line["role"] for line in memory.export() if line.get("kind") == "message"] == ["user", "assistant"]


def test_orders_are_carried_out_and_a_message_told_twice_is_one(home: Home) -> None:
    with home.memory() as memory:
        told = [memory.chat("I keep bees on the roof.", session_id="s", message_id="one").whole() for _ in range(2)]
        assert {reply.started.message_id for reply in told} == {"one"}
        reply = memory.chat("what do you remember about bees?", session_id="s").whole()
        assert reply.done is not None
        assert reply.done.command == "ask"
        assert memory.chat("turn memory off", session_id="s").whole().done is not None
        assert memory.chat("I keep hens, too.", session_id="s").whole().started.reason == "memory_off"


def test_a_message_sent_again_is_no_answer_to_itself(home: Home) -> None:
    """Nor is what was learnt from it the first time."""
    with home.memory() as memory:
        memory.add(STANDUP)
        for told in ("I keep bees on the roof.", "The standup is in the Maple room, and I like standups."):
            once, again = (memory.chat(told, session_id="s", message_id=told[:5]).whole() for _ in range(2))
            assert [each.id for each in again.remembered.used] == [each.id for each in once.remembered.used]


def test_as_many_memories_are_used_as_was_set(home: Home) -> None:
    with home.memory(max_results=2) as memory:
        for number in range(4):
            memory.add(f"Meeting room {number + 1} has {number + 5} chairs")
        used = memory.chat("how many chairs do the meeting rooms have?").whole().remembered.used
        assert len(used) == 2


def test_a_turn_can_be_followed_event_by_event_and_collected_afterwards(home: Home) -> None:
    with home.memory() as memory:
        talk = memory.chat("anything about ferries?")
        events = list(talk)
        assert [type(each) for each in events] == [Started, Remembered, Said, Done]
        assert list(talk) == []
        assert talk.whole().text == "".join(each.text for each in events if isinstance(each, Said))


def test_nobody_needs_to_listen(home: Home) -> None:
    with home.memory() as memory:
        memory.chat("the lighthouse is red", session_id="s")
        talk = memory.chat("nobody hears the answer", session_id="s")
        talk.leave()
        assert talk.whole().started.message_id is not None
    with home.memory() as memory:
        said = [line for line in memory.export() if line.get("kind") == "message" and line["role"] == "user"]
        assert [line["content"] for line in said] == ["the lighthouse is red", "nobody hears the answer"]


async def test_a_model_answers_word_by_word(home: Home) -> None:
    server = ChatServer()
    server.acts.append(Act(text="At half past nine [m1]."))
    with server.running():
        about: dict[str, Any] = {
            "embedder": "off",
            "pool_size": 2,
            "chat_url": server.url,
            "chat_model": "scripted",
            "worker": False,
        }
        async with AsyncMemory(home.url, user="ana", **about) as memory:
            await memory.add(STANDUP)
            talk = await memory.chat("when is the standup?")
            words = [piece async for piece in talk.words()]
            reply = await talk.whole()
    assert len(words) > 1
    assert "".join(words) == reply.text == "At half past nine [m1]."
    assert reply.done is not None
    assert (reply.done.model, reply.done.cited, reply.done.partial) == ("scripted", ("m1",), False)


def test_what_is_wrong_is_raised_at_once(home: Home) -> None:
    memory = home.memory()
    with pytest.raises(InvalidInput):
        memory.chat("")
    memory.close()
    with pytest.raises(Unavailable):
        memory.chat("too late")
