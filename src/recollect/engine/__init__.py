"""The engine: one file per verb, and this class to hold what they share.

Verbs are functions over (engine, scope, …); the methods here only name them. Everything an embedder, a clock or a database
does for them comes in through `recollect.ports`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from recollect.engine import browse, converse, embed, export, forget, recall, remember, revise
from recollect.engine.accesses import Accesses
from recollect.engine.config import EngineConfig
from recollect.engine.drafts import draft_from
from recollect.engine.generations import Generations
from recollect.engine.shelves import Shelves
from recollect.errors import RecollectError
from recollect.model import (
    ForgetReceipt,
    ImportReceipt,
    Listing,
    Memory,
    Page,
    Query,
    Recall,
    Receipt,
    Scope,
    Theme,
    TurnsReceipt,
)
from recollect.ports import Clock, Store

__all__ = ["Engine", "EngineConfig"]


def _nothing() -> None:
    pass


class Engine:
    def __init__(self, store: Store, clock: Clock, config: EngineConfig, generations: Generations) -> None:
        self.store = store
        self.clock = clock
        self.config = config
        self.generations = generations
        self.shelves = Shelves(config.exact_below, config.index_bytes)
        self.accesses = Accesses()
        self.wake: Callable[[], None] = _nothing
        """Called after a write that left work for the background; a runner puts itself here."""
        self.owes_scrub = False
        """A text was corrected: its old words are out of every index, but not yet out of the files."""

    async def remember(
        self,
        scope: Scope,
        fields: Mapping[str, Any],
        correlation_id: str | None = None,
        *,
        as_admin: bool = False,
    ) -> Receipt:
        draft = draft_from(fields, self.config.max_content_bytes)
        return await remember.remember(self, scope, draft, correlation_id, as_admin=as_admin)

    async def recall(self, scope: Scope, query: Query) -> Recall:
        return await recall.recall(self, scope, query)

    async def get(self, scope: Scope, id: str) -> Memory:
        return await browse.get(self, scope, id)

    async def list(self, scope: Scope, listing: Listing) -> Page[Memory]:
        return await browse.list_memories(self, scope, listing)

    async def themes(self, scope: Scope) -> Sequence[Theme]:
        return await browse.themes(self, scope)

    async def revise(self, scope: Scope, id: str, changes: Mapping[str, Any]) -> Memory:
        return await revise.revise(self, scope, id, changes)

    async def forget(self, scope: Scope, ids: Sequence[str]) -> ForgetReceipt:
        return await forget.forget(self, scope, ids)

    async def forget_conversation(self, scope: Scope, session_id: str) -> ForgetReceipt:
        return await forget.forget_conversation(self, scope, session_id)

    async def erase_user(
        self, tenant: str, user: str, progress: Callable[[ForgetReceipt], None] | None = None
    ) -> ForgetReceipt:
        return await forget.erase_user(self, tenant, user, progress)

    async def add_turns(self, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TurnsReceipt:
        return await converse.add_turns(self, scope, session_id, turns)

    def export(self, scope: Scope) -> AsyncIterator[dict[str, Any]]:
        return export.export(self, scope)

    async def import_lines(self, scope: Scope, lines: Iterable[Mapping[str, Any]]) -> ImportReceipt:
        return await export.import_lines(self, scope, lines)

    async def flush(self, scope: Scope, timeout: float | None = None) -> None:
        await embed.flush(self, scope, timeout)
        with suppress(RecollectError):
            await self.accesses.write(self.store, self.clock)

    async def settle_debts(self) -> None:
        """What may wait until nobody does: noted accesses, and cleaning up after corrections."""
        await self.accesses.write(self.store, self.clock)
        if self.owes_scrub:
            self.owes_scrub = False
            await self.store.scrub()

    async def close(self) -> None:
        """Let go of everything, whatever goes wrong on the way; accesses that can't be written any more are dropped."""
        async with AsyncExitStack() as parting:
            parting.push_async_callback(self.store.close)
            parting.push_async_callback(self.generations.close)
            with suppress(RecollectError):
                await self.settle_debts()
