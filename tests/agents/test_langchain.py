"""LangChain's chat history over a memory: every kind of message comes back as it was, for whoever it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from recollect import Memory
from recollect.doors.agents_sdk import RecollectSession
from recollect.doors.langchain import RecollectChatHistory
from recollect.errors import InvalidInput
from tests.agents.conftest import opened_memory
from tests.api.homes import Home

CALL: Any = {"name": "query_memory", "args": {"query": "tea", "n": 1}, "id": "call_1", "type": "tool_call"}
TALK: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("What do I drink?", id="h-1", name="ana"),
    AIMessage("", tool_calls=[CALL], response_metadata={"model": "scripted"}),
    ToolMessage('{"memories": []}', tool_call_id="call_1", artifact={"raw": [1, 2]}, status="error"),
    AIMessage(
        [{"type": "text", "text": "Green tea."}, {"type": "image_url", "image_url": {"url": "data:,x"}}],
        usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    ),
    ChatMessage(content="An aside", role="narrator"),
    FunctionMessage(content="42", name="answer"),
    HumanMessage("Odd \x00 text \x1b[31m and 你好", additional_kwargs={"mood": "curious"}),
]


@pytest.fixture
def memory(home: Home) -> Iterator[Memory]:
    with home.memory() as memory:
        yield memory


def test_messages_come_back_as_they_were(memory: Memory) -> None:
    history = RecollectChatHistory("chat", memory)
    assert history.messages == []
    history.add_messages(TALK[:3])
    history.add_messages(TALK[3:])
    assert history.messages == TALK
    assert [type(each) for each in history.messages] == [type(each) for each in TALK]
    assert RecollectChatHistory("chat", memory).messages == TALK
    assert RecollectChatHistory("other", memory).messages == []


def test_the_kits_own_conveniences_work(memory: Memory) -> None:
    history = RecollectChatHistory("chat", memory)
    history.add_user_message("Hello")
    history.add_ai_message(AIMessage("Hi"))
    history.add_message(HumanMessage("How are you?"))
    assert [each.content for each in history.messages] == ["Hello", "Hi", "How are you?"]
    assert str(history) == "Human: Hello\nAI: Hi\nHuman: How are you?"
    history.clear()
    history.clear()
    assert history.messages == []


async def test_it_works_asynchronously(memory: Memory) -> None:
    history = RecollectChatHistory("chat", memory)
    await history.aadd_messages(TALK)
    assert await history.aget_messages() == TALK
    await history.aclear()
    assert await history.aget_messages() == []


def test_what_was_said_is_found_and_nobody_else_sees_it(memory: Memory) -> None:
    RecollectChatHistory("chat", memory).add_messages(TALK)
    assert "Green tea." in [hit.content for hit in memory.search("green tea").hits]
    assert RecollectChatHistory("chat", memory.at(user="eva")).messages == []


def test_turns_of_other_kits_are_plain_messages(memory: Memory) -> None:
    memory.add_turns("chat", [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    assert RecollectChatHistory("chat", memory).messages == [HumanMessage("Hello"), AIMessage("Hi")]


async def test_two_kits_read_the_talk_of_each_other_and_not_the_tools(home: Home) -> None:
    async with opened_memory(home) as memory:
        await RecollectSession("chat", memory).add_items(
            [
                {"role": "user", "content": "Hello"},
                {"type": "function_call", "call_id": "c", "name": "query_memory", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "nothing"},
            ]
        )
    with home.memory() as waiting:
        history = RecollectChatHistory("chat", waiting)
        history.add_messages(
            [AIMessage("", tool_calls=[CALL]), ToolMessage("x", tool_call_id="call_1"), AIMessage("Hi")]
        )
        assert [each.content for each in history.messages] == ["Hello", "", "x", "Hi"]
    async with opened_memory(home) as memory:
        session = RecollectSession("chat", memory)
        items = await session.get_items()
        assert [each.get("content", each.get("type")) for each in items] == [
            "Hello",
            "function_call",
            "function_call_output",
            "Hi",
        ]
        assert await session.pop_item() == {"role": "assistant", "content": "Hi"}


def test_incognito_lives_in_the_process_only(memory: Memory, home: Home) -> None:
    engine = memory._portal.call(memory._memory._open()).engine
    memory._portal.call(engine.start_incognito(memory.scope, "chat"))
    history = RecollectChatHistory("chat", memory)
    history.add_messages(TALK)
    assert history.messages == TALK
    assert RecollectChatHistory("chat", memory).messages == []
    assert home.count("SELECT count(*) FROM messages") == 0


def test_a_batch_that_can_not_be_kept_leaves_nothing(memory: Memory) -> None:
    history = RecollectChatHistory("chat", memory)
    with pytest.raises(InvalidInput, match="JSON"):
        history.add_messages([HumanMessage("Hello"), RemoveMessage(id="x", additional_kwargs={"no": object()})])
    assert history.messages == []
