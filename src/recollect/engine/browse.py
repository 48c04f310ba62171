"""Looking without searching: get, list, themes, embedding states, audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.errors import NotFound
from recollect.model import (
    AuditEvent,
    Conversation,
    EmbeddingState,
    EmbeddingStatus,
    Listing,
    Memory,
    Message,
    Page,
    Scope,
    Target,
    Theme,
)

if TYPE_CHECKING:
    from recollect.engine import Engine


def missing(what: str, id: str) -> NotFound:
    """Absent, forgotten and foreign look the same."""
    return NotFound(f"no {what} has the id {id!r} here", id=id)


async def get(engine: Engine, scope: Scope, id: str) -> Memory:
    found = await engine.store.read(scope, lambda tx: tx.memories.get([id]).get(id))
    if found is None or found.deleted_at is not None:
        raise missing("memory", id)
    return found


async def list_memories(engine: Engine, scope: Scope, listing: Listing) -> Page[Memory]:
    return await engine.store.read(scope, lambda tx: tx.memories.list(listing))


async def themes(engine: Engine, scope: Scope) -> Sequence[Theme]:
    return await engine.store.read(scope, lambda tx: tx.space.themes())


async def embedding_status(engine: Engine, scope: Scope, targets: Sequence[Target]) -> dict[Target, EmbeddingStatus]:
    """How far each has come in the generation that serves; `off` where nothing is to come."""
    serving = await engine.generations.serving()
    off = {t: EmbeddingStatus(target=t, generation="", state=EmbeddingState.OFF) for t in targets}
    if serving is None:
        return off
    return off | await engine.store.read(scope, lambda tx: tx.embeddings.status(targets, serving.id))


async def conversation(
    engine: Engine, scope: Scope, session_id: str, limit: int
) -> tuple[Conversation, Sequence[Message]]:
    """A conversation and its last messages, oldest first."""
    found, history = await engine.store.read(
        scope,
        lambda tx: (tx.conversations.get(session_id), tx.conversations.history(session_id, limit)),
    )
    if found is None:
        raise missing("conversation", session_id)
    return found, history


async def audit_trail(engine: Engine, scope: Scope, limit: int, offset: int) -> Page[AuditEvent]:
    return await engine.store.read(scope, lambda tx: tx.space.audit(limit, offset))
