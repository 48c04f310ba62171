"""Looking without searching: get, list, themes, conversations, working memory, where something comes from, the audit trail.

A session that is incognito sees nothing of it: what is there looks as if it weren't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from recollect.engine import audit
from recollect.engine.boundary import unseen
from recollect.errors import NotFound, Unavailable
from recollect.model import (
    AuditEvent,
    Conversation,
    EmbeddingState,
    EmbeddingStatus,
    Listing,
    Memory,
    Message,
    Page,
    Provenance,
    Scope,
    Target,
    Theme,
    Use,
)
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

LONGEST_HISTORY = 100
MOST_USES = 20
MOST_SHOWN = 1000


def missing(what: str, id: str) -> NotFound:
    """Absent, forgotten and foreign look the same."""
    return NotFound(f"no {what} has the id {id!r} here", id=id)


async def get(engine: Engine, scope: Scope, id: str) -> Memory:
    await _settle(engine, scope)
    found = await engine.store.read(scope, lambda tx: _memory(tx, engine, id))
    note(engine, scope, "memory.read", Target("memory", id))
    return found


async def list_memories(engine: Engine, scope: Scope, listing: Listing) -> Page[Memory]:
    await _settle(engine, scope)
    nothing: Page[Memory] = Page(items=(), total=0, limit=listing.limit, offset=listing.offset)
    return await _shown(engine, scope, "memory.listed", lambda tx: tx.memories.list(listing), nothing)


async def themes(engine: Engine, scope: Scope) -> Sequence[Theme]:
    return await _shown(engine, scope, "themes.listed", lambda tx: tx.space.themes(), ())


async def embedding_status(engine: Engine, scope: Scope, targets: Sequence[Target]) -> dict[Target, EmbeddingStatus]:
    """How far each has come in the generation that serves; `off` where nothing is to come."""
    serving = await engine.generations.serving()
    off = {t: EmbeddingStatus(target=t, generation="", state=EmbeddingState.OFF) for t in targets}
    if serving is None:
        return off
    return off | await engine.store.read(scope, lambda tx: tx.embeddings.status(targets, serving.id))


async def why(engine: Engine, scope: Scope, id: str) -> Provenance:
    """Where a memory comes from, what it replaced, what came of it, and how it fared, a moment ago included."""
    with suppress(Unavailable):  # a store that takes no writes now still tells what it knows
        await engine.notes.write(engine.store, engine.clock, scope)

    def work(tx: Tx) -> Provenance:
        memory = _memory(tx, engine, id)
        source = memory.source_message_id
        message = tx.conversations.messages([source]).get(source) if source else None
        session = message.session_id if message else memory.source_conversation_id
        return Provenance(
            memory=memory,
            message=message,
            conversation=tx.conversations.get(session) if session else None,
            history=tuple(_replaced(tx, memory)),
            derived=tuple(tx.memories.descendants([id])),
            uses=tuple(_uses(tx, id)),
            embedding=EmbeddingStatus(target=Target("memory", id), generation="", state=EmbeddingState.OFF),
        )

    found = await engine.store.read(scope, work)
    states = await embedding_status(engine, scope, [found.embedding.target])
    note(engine, scope, "memory.read", found.embedding.target)
    return replace(found, embedding=states[found.embedding.target])


async def conversations(engine: Engine, scope: Scope, limit: int, offset: int) -> Page[Conversation]:
    nothing: Page[Conversation] = Page(items=(), total=0, limit=limit, offset=offset)
    return await _shown(engine, scope, "conversation.listed", lambda tx: tx.conversations.list(limit, offset), nothing)


async def conversation(
    engine: Engine, scope: Scope, session_id: str, limit: int
) -> tuple[Conversation, Sequence[Message]]:
    """A conversation and its last messages, oldest first."""

    def work(tx: Tx) -> tuple[Conversation, Sequence[Message]]:
        found = None if unseen(tx, engine) else tx.conversations.get(session_id)
        if found is None:
            raise missing("conversation", session_id)
        return found, tx.conversations.history(session_id, limit)

    found = await engine.store.read(scope, work)
    note(engine, scope, "conversation.read", messages=len(found[1]))
    return found


async def used(engine: Engine, scope: Scope, session_id: str) -> Sequence[tuple[Use, Memory]]:
    """The memories that the replies of a conversation were made with, by reply."""

    def work(tx: Tx) -> Sequence[tuple[Use, Memory]]:
        found = None if unseen(tx, engine) else tx.conversations.get(session_id)
        if found is None:
            raise missing("conversation", session_id)
        said = tx.conversations.history(session_id, MOST_SHOWN)
        uses = tx.links.used_by(each.id for each in said if each.role == "assistant")
        memories = tx.memories.get({each.memory_id for each in uses})
        there = {id for id, memory in memories.items() if memory.deleted_at is None}
        return [(each, memories[each.memory_id]) for each in uses if each.memory_id in there]

    found = await engine.store.read(scope, work)
    note(engine, scope, "conversation.read", uses=len(found))
    return found


async def audit_trail(engine: Engine, scope: Scope, limit: int, offset: int) -> Page[AuditEvent]:
    """Newest first, what was noted a moment ago included, and what was done with the data chat of this space."""
    pages = []
    for each in dict.fromkeys((scope, scope.data)):
        await engine.notes.write(engine.store, engine.clock, each)
        pages.append(await engine.store.read(each, lambda tx: tx.space.audit(limit + offset, 0)))
    events = sorted((event for page in pages for event in page), key=lambda event: (event.at, event.id), reverse=True)
    total = sum(page.total for page in pages)
    return Page(items=tuple(events[offset : offset + limit]), total=total, limit=limit, offset=offset)


async def _settle(engine: Engine, scope: Scope) -> None:
    """Memories are shown as they fared up to a moment ago: who was just told of one finds it counted."""
    if engine.notes.tell(scope):
        with suppress(Unavailable):
            await engine.notes.write(engine.store, engine.clock, scope)


def _memory(tx: Tx, engine: Engine, id: str) -> Memory:
    found = None if unseen(tx, engine) else tx.memories.get([id]).get(id)
    if found is None or found.deleted_at is not None:
        raise missing("memory", id)
    return found


def _replaced(tx: Tx, memory: Memory) -> Sequence[Memory]:
    """What it superseded, and what that had superseded, newest first."""
    chain: dict[str, Memory] = {}
    previous = memory.supersedes
    while previous is not None and previous not in chain and len(chain) < LONGEST_HISTORY:
        found = tx.memories.get([previous]).get(previous)
        if found is None:
            break
        chain[previous] = found
        previous = found.supersedes
    return list(chain.values())


def _uses(tx: Tx, id: str) -> Sequence[tuple[Use, Message]]:
    uses = tx.links.uses(id, MOST_USES)
    replies = tx.conversations.messages(each.message_id for each in uses)
    return [(each, replies[each.message_id]) for each in uses if each.message_id in replies]


S = TypeVar("S", bound=Sized)


async def _shown(engine: Engine, scope: Scope, action: str, look: Callable[[Tx], S], nothing: S) -> S:
    """A list of something, or nothing of it in a session that must not see it; that somebody looked is noted."""

    def work(tx: Tx) -> S | None:
        return None if unseen(tx, engine) else look(tx)

    seen = await engine.store.read(scope, work)
    if seen is None:
        return nothing
    note(engine, scope, action, count=len(seen))
    return seen


def note(engine: Engine, scope: Scope, action: str, target: Target | None = None, **facts: int) -> None:
    """A fact for the audit trail about somebody who only looked."""
    if engine.config.audit_reads:
        engine.notes.read(scope, audit.event(engine.occasion, engine.clock.now(), action, target, **facts))
