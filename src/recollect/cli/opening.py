"""Opening a memory for the length of one command.

No background thread is started: a command either does its own embedding before it ends, within a bounded time, or leaves it
pending and says so. Commands that only look don't ask for a model at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

import typer

from recollect.cli.options import Call
from recollect.client import AsyncMemory
from recollect.engine import Engine
from recollect.errors import Unavailable
from recollect.model import Backlog, Scope
from recollect.settings import Settings

Wait = Annotated[float, typer.Option("--wait", min=0, metavar="SECONDS", help="How long to wait for embeddings.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Leave embeddings to whoever comes next.")]

PROVIDER_ATTEMPTS = 4
"""A provider that stumbles is asked this often, so each attempt gets its share of the time there is."""


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
        if seconds > 0:
            with suppress(Unavailable):  # Time is up, and what is left is counted below.
                await self.memory.flush(seconds)
        return await self.engine.store.read(self.scope, lambda tx: tx.embeddings.backlog(serving.id))


@asynccontextmanager
async def opened(call: Call, *, embeds: bool = True, wait: float | None = None) -> AsyncIterator[Opened]:
    """The memory that `call` means. `wait` shortens the patience with a slow embedding server accordingly."""
    settings = call.settings()
    overrides: dict[str, object] = {}
    if not embeds:
        overrides["embedder"] = "off"
    elif wait:
        overrides["embedder_timeout_s"] = max(1, min(settings.embedder_timeout_s, int(wait) // PROVIDER_ATTEMPTS))
    memory = AsyncMemory(call.store, call.user, call.space, tenant=call.tenant, worker=False, **overrides)
    async with memory:
        yield Opened(memory, (await memory._open()).engine, settings)
