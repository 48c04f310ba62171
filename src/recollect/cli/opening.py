"""Opening a memory for the length of one command.

No background thread is started: a command either does its own embedding before it ends, within a bounded time, or leaves it
pending and says so. Commands that only look don't ask for a model at all.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from recollect.cli.options import Call
from recollect.cli.progress import bar
from recollect.client import AsyncMemory
from recollect.engine import Engine
from recollect.errors import Unavailable
from recollect.model import Backlog, Generation, Scope
from recollect.settings import Settings

Wait = Annotated[float, typer.Option("--wait", min=0, metavar="SECONDS", help="How long to wait for embeddings.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Leave embeddings to whoever comes next.")]

PROVIDER_ATTEMPTS = 4
"""A provider that stumbles is asked this often, so each attempt gets its share of the time there is."""
SLICE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Opened:
    memory: AsyncMemory
    engine: Engine
    settings: Settings

    @property
    def scope(self) -> Scope:
        return self.memory.scope

    async def settle(self, seconds: float) -> Backlog | None:
        """Make the embeddings that are due, for about `seconds`. What is left then; None when nothing is embedded here."""
        serving = await self.engine.generations.serving()
        if serving is None or self.settings.embedder == "off":
            return None
        left = await self._left(serving)
        deadline = time.monotonic() + seconds
        most = left.pending
        with bar("embedding", most) as advance:
            while (rest := deadline - time.monotonic()) > 0:
                with suppress(Unavailable):  # Not done within the slice: the next one goes on.
                    await self.memory.flush(min(rest, SLICE_SECONDS))
                left = await self._left(serving)
                most = max(most, left.pending)
                advance(most - left.pending, most)
                if not left.pending:
                    break
        return left

    async def _left(self, generation: Generation) -> Backlog:
        return await self.engine.store.read(self.scope, lambda tx: tx.embeddings.backlog(generation.id))


@asynccontextmanager
async def opened(call: Call, *, embeds: bool = True, wait: float | None = None) -> AsyncIterator[Opened]:
    """The memory that `call` means. `wait` shortens the patience with a slow embedding server accordingly."""
    settings = call.settings()
    overrides: dict[str, object] = {"broker_url": ""}
    if not embeds:
        overrides["embedder"] = "off"
    elif wait:
        overrides["embedder_timeout_s"] = max(1, min(settings.embedder_timeout_s, int(wait) // PROVIDER_ATTEMPTS))
    memory = AsyncMemory(call.store, call.user, call.space, tenant=call.tenant, worker=False, **overrides)
    async with memory:
        yield Opened(memory, (await memory._open()).engine, settings)
