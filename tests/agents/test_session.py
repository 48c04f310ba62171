"""The SDK's session, side by side with the SDK's own: whatever one does, the other does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession
from agents.memory import Session, SessionSettings

from recollect import AsyncMemory
from recollect.doors.agents_sdk import RecollectSession
from recollect.errors import InvalidInput
from tests.agents.conftest import home_of, opened_memory
from tests.api.homes import KINDS, Home

Open = Callable[..., Session]

TALK: list[Any] = [
    {"role": "user", "content": "Which package manager should I use?"},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "query_memory", "arguments": '{"query":"x"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": '{"memories": []}'},
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "They like uv."}],
        "encrypted_content": "gAAAAABo4KsP9nTq2xVbLw8YcD4eR6uZ1mJ5hG7fQ0aXkN3iC==",
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Use uv.", "annotations": [], "logprobs": []}],
    },
]


@pytest.fixture(params=["theirs", *KINDS])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    if request.param == "theirs":
        async with AsyncExitStack() as stack:

            def theirs(id: str = "chat", **more: Any) -> SQLiteSession:
                session = SQLiteSession(id, tmp_path / "theirs.db", **more)
                stack.callback(session.close)
                return session

            yield theirs
    else:
        async with opened_memory(home_of(request.param, request, tmp_path)) as memory:
            yield lambda id="chat", **more: RecollectSession(id, memory, **more)


def said(*words: str) -> list[Any]:
    return [{"role": "user", "content": word} for word in words]


async def test_it_is_a_session(opened: Open) -> None:
    assert isinstance(opened(), Session)


async def test_an_empty_session_has_nothing(opened: Open) -> None:
    session = opened()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([])
    assert await session.get_items() == []
    await session.clear_session()


async def test_items_come_back_exactly_and_in_order(opened: Open) -> None:
    session = opened()
    await session.add_items(TALK[:2])
    await session.add_items(TALK[2:])
    assert await session.get_items() == TALK
    assert await opened().get_items() == TALK, "another object for the same session sees the same"


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "\n",
        "a\x00b",
        "a\x1b[31mred",
        "\ud800 alone",
        "𝄞 你好 \u202e",
        "x" * 200_000,
        '{"role": "user"}',
        "\x85",
    ],
    ids=["empty", "space", "line", "nul", "escape", "surrogate", "scripts", "long", "json", "next-line"],
)
async def test_odd_texts_come_back_exactly(opened: Open, content: str) -> None:
    session = opened()
    items: list[Any] = [
        {"role": "user", "content": content},
        {"role": "developer", "content": [{"type": "input_text", "text": content}, {"type": "input_image", "n": 1.5}]},
        {"type": "function_call_output", "call_id": "c", "output": content},
    ]
    await session.add_items(items)
    assert await session.get_items() == items


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 6, 100, None])
async def test_a_limit_gives_the_last_items_oldest_first(opened: Open, limit: int | None) -> None:
    session = opened()
    await session.add_items(said(*"abcdef"))
    expected = said(*"abcdef") if limit is None else said(*"abcdef")[max(6 - limit, 0) :]
    assert await session.get_items(limit=limit) == expected


async def test_settings_limit_where_the_call_does_not(opened: Open) -> None:
    session = opened(session_settings=SessionSettings(limit=2))
    await session.add_items(said(*"abcd"))
    assert await session.get_items() == said("c", "d")
    assert await session.get_items(limit=3) == said("b", "c", "d")


async def test_popping_takes_the_last_item_back(opened: Open) -> None:
    session = opened()
    await session.add_items(TALK)
    assert [await session.pop_item() for _ in range(6)] == [*reversed(TALK), None]
    assert await session.get_items() == []


async def test_after_popping_the_order_goes_on(opened: Open) -> None:
    session = opened()
    await session.add_items(said("a", "b", "c"))
    await session.pop_item()
    await session.add_items(said("d", "e"))
    assert await session.get_items() == said("a", "b", "d", "e")
    assert await session.pop_item() == said("e")[0]


async def test_clearing_ends_one_session_and_no_other(opened: Open) -> None:
    one, other = opened("one"), opened("other")
    await one.add_items(said("a"))
    await other.add_items(said("b"))
    await one.clear_session()
    await one.clear_session()
    assert await one.get_items() == []
    assert await other.get_items() == said("b")
    await one.add_items(said("c"))
    assert await one.get_items() == said("c")


async def test_batches_stay_together_whoever_else_writes(opened: Open) -> None:
    batches = [said(*(f"{writer}-{place}" for place in range(5))) for writer in range(8)]
    await asyncio.gather(*(opened().add_items(batch) for batch in batches))
    items = await opened().get_items()
    assert len(items) == 40
    runs = [items[start : start + 5] for start in range(0, 40, 5)]
    assert sorted(map(json.dumps, runs)) == sorted(map(json.dumps, batches))


async def test_each_item_is_popped_once(opened: Open) -> None:
    await opened().add_items(said(*map(str, range(12))))
    popped: list[Any] = await asyncio.gather(*(opened().pop_item() for _ in range(15)))
    assert sorted(int(each["content"]) for each in popped if each) == list(range(12))


async def test_a_batch_with_an_impossible_item_leaves_nothing(opened: Open) -> None:
    session = opened()
    await session.add_items(said("a"))
    with pytest.raises((TypeError, InvalidInput)):
        await session.add_items([*said("b"), {"role": "user", "content": object()}])  # type: ignore[list-item, misc]
    assert await session.get_items() == said("a")


# What only ours does


async def test_it_outlives_the_process_that_wrote_it(home: Home) -> None:
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=4) as memory:
        await RecollectSession("chat", memory).add_items(TALK)
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=4) as memory:
        assert await RecollectSession("chat", memory).get_items() == TALK


async def test_nobody_sees_the_session_of_another(memory: AsyncMemory) -> None:
    await RecollectSession("chat", memory).add_items(said("Ana's secret garden"))
    eva = RecollectSession("chat", await memory.at(user="eva"))
    assert await eva.get_items() == []
    assert await eva.pop_item() is None
    await eva.clear_session()
    assert len(await RecollectSession("chat", memory).get_items()) == 1


async def test_what_was_said_is_found_and_what_tools_said_is_not(memory: AsyncMemory) -> None:
    await RecollectSession("chat", memory).add_items(
        [
            {"role": "user", "content": "My greenhouse has tomatoes"},
            {"type": "function_call_output", "call_id": "c", "output": "the greenhouse of the neighbour"},
        ]
    )
    assert [hit.content for hit in await memory.search("greenhouse")] == ["My greenhouse has tomatoes"]


async def test_what_was_taken_back_is_found_no_more(memory: AsyncMemory) -> None:
    session = RecollectSession("chat", memory)
    await session.add_items(said("My greenhouse has tomatoes", "My greenhouse has cucumbers"))
    await session.pop_item()
    assert [hit.content for hit in await memory.search("greenhouse")] == ["My greenhouse has tomatoes"]


async def test_a_session_learns_from_its_users_when_told_to(memory: AsyncMemory) -> None:
    said: list[Any] = [
        {"role": "user", "content": "I live in Lisbon and I prefer tea over coffee."},
        {"type": "function_call_output", "call_id": "c", "output": "I live in Oslo."},
        {"role": "assistant", "content": "I live in a computer."},
    ]
    await RecollectSession("quiet", memory).add_items(said)
    assert len(await memory.list()) == 0
    await RecollectSession("chat", memory, learn=True).add_items(said)
    learnt = " ".join(each.content for each in await memory.list())
    assert "Lisbon" in learnt
    assert "Oslo" not in learnt
    assert "computer" not in learnt


async def test_turns_from_elsewhere_are_plain_items(memory: AsyncMemory) -> None:
    await memory.add_turns("chat", [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    session = RecollectSession("chat", memory)
    await session.add_items(said("Again"))
    assert await session.get_items() == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Again"},
    ]


async def test_secrets_are_masked_wherever_they_stand(memory: AsyncMemory, home: Home) -> None:
    session = RecollectSession("chat", memory)
    await session.add_items(
        [
            {"role": "user", "content": "my password is hunter2xyz"},
            {"type": "function_call", "call_id": "c", "name": "login", "arguments": '{"password": "hunter2xyz"}'},
        ]
    )
    told = json.dumps(await session.get_items())
    assert "hunter2xyz" not in told
    assert told.count("[password removed]") == 2
    assert home.count("SELECT count(*) FROM messages WHERE content LIKE ?", ["%hunter2xyz%"]) == 0


@pytest.mark.parametrize("how", ["memory_off", "incognito"])
async def test_where_nothing_may_be_kept_the_session_lives_in_the_process(
    memory: AsyncMemory, home: Home, how: str
) -> None:
    engine = (await memory._open()).engine
    if how == "memory_off":
        await engine.change_settings(memory.scope, {"memory_enabled": False})
    else:
        await engine.start_incognito(memory.scope, "chat")
    session = RecollectSession("chat", memory)
    await session.add_items(said("a", "b", "c"))
    assert await session.get_items() == said("a", "b", "c")
    assert await session.get_items(limit=1) == said("c")
    assert await session.pop_item() == said("c")[0]
    assert await RecollectSession("chat", memory).get_items() == []
    assert home.count("SELECT count(*) FROM messages") == home.count("SELECT count(*) FROM conversations") == 0
    await session.clear_session()
    assert await session.get_items() == []


async def test_export_and_import_keep_items_whole(memory: AsyncMemory) -> None:
    large: list[Any] = [{"type": "function_call_output", "call_id": "c", "output": "long " * 50_000}]
    await RecollectSession("chat", memory).add_items(TALK + large)
    lines = [line async for line in memory.export()]
    other = await memory.at(user="eva")
    await memory.forget(everything=True)
    await other.load(lines)
    assert await RecollectSession("chat", other).get_items() == TALK + large
