"""What the data chat may be told, and whom it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from recollect.ports import Answerer, Archive, Chat, Permissions, Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRules:
    """The contract's settings, with its defaults."""

    enabled: bool = True
    rollout: int = 100
    """The share of users, of a hundred, whose questions have a memory."""
    history: int = 10
    similar: int = 3
    context_tokens: int = 4000
    summaries: bool = True
    summarise_after: int = 15
    stored_rows: int = 20
    may_export: bool = True
    may_delete: bool = True


@dataclass
class Desk:
    """Those who work for the data chat, one for all views of an engine."""

    answerer: Answerer | None = None
    permissions: Permissions | None = None
    """Without it everybody may use everything that the answerer reaches."""
    summariser: Chat | None = None
    archive: Archive | None = None
    tracer: Tracer | None = None
    _under_way: set[asyncio.Task[Any]] = field(default_factory=set)

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something nobody waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def settle(self) -> None:
        here = asyncio.get_running_loop()
        while tasks := [task for task in self._under_way if task.get_loop() is here]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        async with AsyncExitStack() as parting:
            for each in (self.answerer, self.permissions, self.summariser, self.tracer):
                if each is not None:
                    parting.push_async_callback(each.close)
            await self.settle()
