"""Somebody with very long memories keeps nobody else waiting: what takes long is read beside the loop that all share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from recollect import AsyncMemory
from recollect.policy.budget import count_tokens
from tests.api.homes import Home
from tests.api.turns import longest_turn

LONG = 500_000
LONGEST_TURN_S = 0.5


@pytest.fixture
async def memory(home: Home) -> AsyncIterator[AsyncMemory]:
    count_tokens("who counts first reads the table of words")
    async with AsyncMemory(home.url, user="ana", embedder="off", pool_size=2) as opened:
        for number in range(4):
            await opened.add((f"zebra{number} and zebra " * LONG)[:LONG])
        yield opened


async def test_they_are_read_beside_the_loop(memory: AsyncMemory) -> None:
    async def asked(text: str) -> None:
        talk = await memory.chat(text, session_id="talk")
        reply = await talk.whole()
        assert len(reply.remembered.used) == 4
        await talk.task  # it goes on to learn from the turn

    assert await longest_turn(memory.context("zebra")) < LONGEST_TURN_S
    assert await longest_turn(asked("what about the zebra?")) < LONGEST_TURN_S
    assert await longest_turn(asked("what do you know about me?")) < LONGEST_TURN_S
