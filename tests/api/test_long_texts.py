"""Somebody with very long memories keeps nobody else waiting: what takes long is read beside the loop that all share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable

import pytest

from recollect import AsyncMemory
from recollect.policy.budget import count_tokens
from tests.api.homes import Home

LONG = 500_000
LONGEST_TURN_S = 0.5


async def _longest_turn(work: Awaitable[object]) -> float:
    """Processor time of this thread between two turns of somebody else on the same loop, at worst."""
    worst = 0.0

    async def another() -> None:
        nonlocal worst
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            worst = max(worst, time.thread_time() - before)

    waiting = asyncio.create_task(another())
    await asyncio.sleep(0)
    await work
    await asyncio.sleep(0.01)
    waiting.cancel()
    return worst


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

    assert await _longest_turn(memory.context("zebra")) < LONGEST_TURN_S
    assert await _longest_turn(asked("what about the zebra?")) < LONGEST_TURN_S
    assert await _longest_turn(asked("what do you know about me?")) < LONGEST_TURN_S
