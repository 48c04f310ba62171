"""How long everybody else on a loop had to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable


async def longest_turn(work: Awaitable[object]) -> float:
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
