"""What the doctor and `reembed` want to know about embeddings across all scopes: ids, counts and reasons, never content."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial

from recollect.engine import Engine
from recollect.model import EmbeddingState, Generation, Scope, Target
from recollect.ports import System, Tx

SCOPES_AT_ONCE = 100
TARGETS_AT_ONCE = 200
QUEUED_AT_ONCE = 500
MOST_EXAMINED = 5_000
LATEST_MESSAGES = 1_000


async def scopes(engine: Engine) -> AsyncIterator[Scope]:
    after: Scope | None = None
    while True:
        page: Sequence[Scope] = await engine.store.system(partial(_page, after))
        for scope in page:
            yield scope
        if len(page) < SCOPES_AT_ONCE:
            return
        after = page[-1]


async def entries(engine: Engine) -> int:
    """How many texts there are to embed, in all scopes together."""
    return sum([await engine.store.read(scope, _size) async for scope in scopes(engine)])


async def queue_missing(engine: Engine, generation: Generation) -> None:
    """Put everything that `generation` lacks into its queue, so that what is left to do can be counted."""

    def work(tx: Tx) -> int:
        return tx.embeddings.enqueue_missing(generation.id, engine.clock.now(), QUEUED_AT_ONCE)

    async for scope in scopes(engine):
        while await engine.store.write(scope, work):
            pass


async def reasons(engine: Engine, generation: Generation, failed: int) -> Counter[str]:
    """Why embeddings failed, with how often; looks at a bounded number of texts, scope after scope."""
    found: Counter[str] = Counter()
    examined = 0
    async for scope in scopes(engine):
        backlog = await engine.store.read(scope, lambda tx: tx.embeddings.backlog(generation.id))
        if not backlog.error:
            continue
        for targets in await engine.store.read(scope, _targets):
            statuses = await engine.store.read(
                scope,
                lambda tx, targets=targets: tx.embeddings.status(targets, generation.id),  # type: ignore[misc]
            )
            found.update(
                status.error or "no reason was recorded"
                for status in statuses.values()
                if status.state is EmbeddingState.ERROR
            )
            examined += len(targets)
            if found.total() >= failed or examined >= MOST_EXAMINED:
                return found
    return found


def _page(after: Scope | None, system: System) -> Sequence[Scope]:
    return system.scopes(after, SCOPES_AT_ONCE)


def _size(tx: Tx) -> int:
    return tx.index.changes(0, None, 0).size


def _targets(tx: Tx) -> list[list[Target]]:
    """Targets of a scope in portions: its memories, then the latest messages of its conversations."""
    ids: list[Target] = []
    after: str | None = None
    while (memories := tx.memories.scan(after, TARGETS_AT_ONCE)) and len(ids) < MOST_EXAMINED:
        ids += [Target("memory", memory.id) for memory in memories]
        after = memories[-1].id
    for conversation in tx.conversations.list(TARGETS_AT_ONCE, 0):
        ids += [Target("message", message.id) for message in tx.conversations.history(conversation.id, LATEST_MESSAGES)]
    return [ids[at : at + TARGETS_AT_ONCE] for at in range(0, len(ids), TARGETS_AT_ONCE)]
