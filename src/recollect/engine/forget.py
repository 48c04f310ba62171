"""forget: permanent, counted, and proof against a quiet return.

One transaction removes the rows, their index entries and vectors, everything derived from them that has no other source, and
their pending jobs; it leaves a digest tombstone and an audit fact. Then the store scrubs what deleting leaves behind in files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.browse import missing
from recollect.engine.merging import forget_tellings
from recollect.engine.themes import drop_empty_themes
from recollect.model import ForgetReceipt, Memory, Scope, Target, Tombstone
from recollect.policy.digest import grave_digest, twin_digest
from recollect.ports import System, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

SCOPES_AT_ONCE = 100
MEMORIES_AT_ONCE = 500


async def forget(engine: Engine, scope: Scope, ids: Sequence[str]) -> ForgetReceipt:
    """Remove memories for good. An id that isn't here raises NotFound and nothing is removed."""

    def work(tx: Tx) -> ForgetReceipt:
        found = tx.memories.get(ids)
        for id in ids:
            if id not in found:
                raise missing("memory", id)
        return _forget_in(engine, tx, list(found.values()))

    return await _scrubbed(engine, scope, await engine.store.write(scope, work))


async def clear(engine: Engine, scope: Scope) -> ForgetReceipt:
    """Remove every memory of this space, in any status. Conversations and working memory stay."""
    total = ForgetReceipt()

    def work(tx: Tx) -> ForgetReceipt:
        return _forget_in(engine, tx, tx.memories.scan(None, MEMORIES_AT_ONCE))

    while (gone := await engine.store.write(scope, work)).memories:
        total = add(total, gone)
    return await _scrubbed(engine, scope, total)


async def forget_conversation(engine: Engine, scope: Scope, session_id: str) -> ForgetReceipt:
    """Remove a conversation, its messages, what was remembered from them alone, and their part in what was told elsewhere too."""
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> ForgetReceipt:
        conversation = tx.conversations.get(session_id)
        if conversation is None:
            raise missing("conversation", session_id)
        messages = tx.conversations.history(session_id, conversation.message_count)
        targets = [Target("message", message.id) for message in messages]
        told = [message.id for message in messages]
        forget_tellings(tx, engine, told, generations)
        receipt = _forget_in(engine, tx, tx.memories.from_messages(told))
        receipt = replace(
            receipt,
            derived=receipt.derived + receipt.memories,
            memories=0,
            messages=len(messages),
            conversations=1,
            index_entries=receipt.index_entries + tx.index.drop(targets),
            vectors=receipt.vectors + tx.embeddings.drop(targets),
        )
        tx.space.drop_working([session_id])
        tx.conversations.delete([session_id])
        audit.record(tx, engine.occasion, engine.clock.now(), "conversation.forgotten", messages=len(messages))
        return receipt

    return await _scrubbed(engine, scope, await engine.store.write(scope, work))


async def erase_user(
    engine: Engine, tenant: str, user: str, progress: Callable[[ForgetReceipt], None] | None = None
) -> ForgetReceipt:
    """Remove everything of one user, in every space, settings and audit trail included."""
    total = ForgetReceipt()
    for scope in await scopes_of(engine, tenant, user):
        total = add(total, await engine.store.write(scope, lambda tx: tx.erase()))
        engine.shelves.discard(scope)
        engine.notes.discard(scope)
        if progress:
            progress(total)
    return replace(total, scrubbed=await engine.store.scrub())


def add(a: ForgetReceipt, b: ForgetReceipt) -> ForgetReceipt:
    counts = {each.name: getattr(a, each.name) + getattr(b, each.name) for each in fields(ForgetReceipt)}
    return ForgetReceipt(**{**counts, "scrubbed": a.scrubbed and b.scrubbed})


async def scopes_of(engine: Engine, tenant: str, user: str) -> list[Scope]:
    found: list[Scope] = []
    after: Scope | None = None
    while True:
        start = after

        def page(system: System, start: Scope | None = start) -> Sequence[Scope]:
            return system.scopes(start, SCOPES_AT_ONCE, tenant, user)

        scopes = await engine.store.system(page)
        found += scopes
        if len(scopes) < SCOPES_AT_ONCE:
            return found
        after = scopes[-1]


def _forget_in(engine: Engine, tx: Tx, memories: Sequence[Memory]) -> ForgetReceipt:
    at = engine.clock.now()
    pepper = engine.config.pepper
    doomed = {memory.id: memory for memory in memories}
    derived = _orphans(tx, doomed)
    doomed |= derived
    for relative in tx.memories.descendants(doomed):
        if relative.id not in doomed:
            tx.memories.replace(_without(relative, doomed), twin_digest(tx.scope, relative.content, pepper))
    graves = [
        Tombstone(
            digest=grave_digest(tx.scope, memory.content, pepper),
            created_at=at,
            expires_at=at + engine.config.tombstone,
        )
        for memory in doomed.values()
        if engine.config.tombstone
    ]
    targets = [Target("memory", id) for id in doomed]
    receipt = ForgetReceipt(
        index_entries=tx.index.drop(targets),
        vectors=tx.embeddings.drop(targets),
        memories=tx.memories.delete(doomed) - len(derived),
        derived=len(derived),
        tombstones=len(graves),
    )
    drop_empty_themes(tx, {memory.theme for memory in doomed.values() if memory.theme})
    tx.space.bury(graves)
    for target in targets:
        audit.record(tx, engine.occasion, at, "memory.forgotten", target)
    return receipt


def _orphans(tx: Tx, doomed: dict[str, Memory]) -> dict[str, Memory]:
    """What was derived from the doomed and from nothing else, down to the last generation of it."""
    orphans: dict[str, Memory] = {}
    wave: Iterable[str] = doomed
    while True:
        gone = doomed.keys() | orphans.keys()
        born = {
            memory.id: memory
            for memory in tx.memories.descendants(wave)
            if memory.id not in gone and memory.source_ids and gone.issuperset(memory.source_ids)
        }
        if not born:
            return orphans
        orphans |= born
        wave = born


def _without(memory: Memory, gone: dict[str, Memory]) -> Memory:
    """A survivor that no longer names what is gone."""
    return replace(
        memory,
        source_ids=tuple(id for id in memory.source_ids if id not in gone),
        supersedes=None if memory.supersedes in gone else memory.supersedes,
    )


async def _scrubbed(engine: Engine, scope: Scope, receipt: ForgetReceipt) -> ForgetReceipt:
    engine.shelves.discard(scope)
    return replace(receipt, scrubbed=await engine.store.scrub())
