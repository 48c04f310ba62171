"""forget: permanent, counted, and proof against a quiet return.

One transaction removes the rows, their index entries and vectors, everything derived from them that has no other source, and
their pending jobs; it leaves a digest tombstone and an audit fact. Then the store scrubs what deleting leaves behind in files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.browse import missing
from recollect.engine.conversations import working
from recollect.engine.embedding import elsewhere
from recollect.engine.forgetting.debts import with_files
from recollect.engine.remembering.merging import forget_tellings
from recollect.engine.remembering.themes import drop_empty_themes
from recollect.engine.upkeep.archive import revive_in, reword_in, stands_for
from recollect.model import ForgetReceipt, Memory, Scope, Status, Target, Tombstone
from recollect.policy.digest import grave_digest, twin_digest
from recollect.policy.duplicates import fingerprint
from recollect.policy.rollup import MARK, is_roll_up, without
from recollect.ports import System, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

SCOPES_AT_ONCE = 100
MEMORIES_AT_ONCE = 500


async def forget(engine: Engine, scope: Scope, ids: Sequence[str]) -> ForgetReceipt:
    """Remove memories for good. An id that isn't here raises NotFound and nothing is removed."""
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> ForgetReceipt:
        found = tx.memories.get(ids)
        for id in ids:
            if id not in found:
                raise missing("memory", id)
        working.blank(tx, (memory.source_conversation_id for memory in found.values()))
        return removed_in(engine, tx, list(found.values()), generations)

    return await settled(engine, scope, await engine.store.write(scope, work))


async def clear(engine: Engine, scope: Scope) -> ForgetReceipt:
    """Remove every memory of this space, in any status. Conversations and working memory stay."""
    total = ForgetReceipt()

    def work(tx: Tx) -> ForgetReceipt:
        return removed_in(engine, tx, tx.memories.scan(None, MEMORIES_AT_ONCE), ())

    while (gone := await engine.store.write(scope, work)).memories:
        total = add(total, gone)
    return await settled(engine, scope, total)


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
        receipt = removed_in(engine, tx, tx.memories.from_messages(told), generations)
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
        tx.owe_scrub(engine.clock.now())
        audit.record(tx, engine.occasion, engine.clock.now(), "conversation.forgotten", messages=len(messages))
        return receipt

    left = await elsewhere.leave(engine, scope, [session_id])
    receipt = await settled(engine, scope, await engine.store.write(scope, work))
    await elsewhere.left(engine, scope, left)
    return receipt


async def erase_user(
    engine: Engine, tenant: str, user: str, progress: Callable[[ForgetReceipt], None] | None = None
) -> ForgetReceipt:
    """Remove everything of one user, in every space, settings and audit trail included."""
    total = ForgetReceipt()
    for scope in await scopes_of(engine, tenant, user):
        write = partial(engine.store.write, scope, partial(erased_in, engine))
        total = add(total, await elsewhere.erase(engine, scope, write))
        engine.shelves.discard(scope)
        engine.notes.discard(scope)
        engine.sessions.forget(scope)
        if progress:
            progress(total)
    return await with_files(engine, total)


def erased_in(engine: Engine, tx: Tx) -> ForgetReceipt:
    tx.owe_scrub(engine.clock.now())
    return tx.erase()


def add(a: ForgetReceipt, b: ForgetReceipt) -> ForgetReceipt:
    counts = {each.name: getattr(a, each.name) + getattr(b, each.name) for each in fields(ForgetReceipt)}
    return ForgetReceipt(
        **{**counts, "scrubbed": a.scrubbed and b.scrubbed, "scrub_owed": a.scrub_owed or b.scrub_owed}
    )


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


def removed_in(
    engine: Engine,
    tx: Tx,
    memories: Sequence[Memory],
    generations: Sequence[str],
    *,
    action: str = "memory.forgotten",
    bury: bool = True,
) -> ForgetReceipt:
    """Remove memories with all that hangs on them. Only what is buried is kept from coming back."""
    at = engine.clock.now()
    pepper = engine.config.pepper
    doomed = {memory.id: memory for memory in memories}
    derived = _orphans(tx, doomed | (hidden := _rolled_up(tx, doomed))) | hidden
    doomed |= derived
    for relative in tx.memories.descendants(doomed):
        if relative.id not in doomed:
            after = _without(tx, relative, doomed)
            tx.memories.replace(after, twin_digest(tx.scope, after.content, pepper))
            if after.content != relative.content:
                reword_in(tx, after, generations, at)
    graves = [
        Tombstone(
            digest=grave_digest(tx.scope, memory.content, pepper),
            created_at=at,
            expires_at=at + engine.config.tombstone,
        )
        for memory in doomed.values()
        if bury and engine.config.tombstone
    ]
    targets = [Target("memory", id) for id in doomed]
    if doomed:
        tx.owe_scrub(at)
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
        audit.record(tx, engine.occasion, at, action, target)
    _bring_back(engine, tx, [memory for memory in doomed.values() if is_roll_up(memory)], generations)
    return receipt


def _rolled_up(tx: Tx, doomed: dict[str, Memory]) -> dict[str, Memory]:
    """The originals behind roll-ups among the doomed: to their owner the one that is shown is all of them."""
    behind = [id for memory in doomed.values() if is_roll_up(memory) for id in memory.source_ids if id not in doomed]
    found = tx.memories.get(behind) if behind else {}
    return {id: memory for id, memory in found.items() if memory.status is Status.ARCHIVED}


def _orphans(tx: Tx, doomed: dict[str, Memory]) -> dict[str, Memory]:
    """What was derived from the doomed and from nothing else, down to the last generation of it."""
    orphans: dict[str, Memory] = {}
    wave: Iterable[str] = doomed
    while True:
        gone = doomed | orphans
        born = {
            memory.id: memory
            for memory in tx.memories.descendants(wave)
            if memory.id not in gone and _hangs_on(tx, memory, gone)
        }
        if not born:
            return orphans
        orphans |= born
        wave = born


def _hangs_on(tx: Tx, memory: Memory, gone: dict[str, Memory]) -> bool:
    """Whether nothing remains of a memory without those that are gone."""
    if not memory.source_ids:
        return False
    return gone.keys() >= set(memory.source_ids) or (is_roll_up(memory) and _left_of(tx, memory, gone) is None)


def _without(tx: Tx, memory: Memory, gone: dict[str, Memory]) -> Memory:
    """A survivor that no longer names what is gone. A roll-up says nothing of it any more, either."""
    survivor = replace(
        memory,
        source_ids=tuple(id for id in memory.source_ids if id not in gone),
        supersedes=None if memory.supersedes in gone else memory.supersedes,
    )
    if not is_roll_up(memory) or survivor.source_ids == memory.source_ids:
        return survivor
    content = _left_of(tx, memory, gone) or ""
    return replace(survivor, content=content, simhash=fingerprint(content), value={**memory.value, MARK: "extract"})


def _left_of(tx: Tx, summary: Memory, gone: dict[str, Memory]) -> str | None:
    known = tx.memories.get([id for id in summary.source_ids if id not in gone])
    left = [known[id] for id in summary.source_ids if id in known]
    return without(summary, [gone[id] for id in summary.source_ids if id in gone], left)


def _bring_back(engine: Engine, tx: Tx, fallen: Sequence[Memory], generations: Sequence[str]) -> None:
    """What a roll-up stood for that fell with one of its originals is remembered for itself again."""
    for memory in tx.memories.get([id for summary in fallen for id in summary.source_ids]).values():
        if memory.status is Status.ARCHIVED and stands_for(tx, engine, memory) is None:
            revive_in(engine, tx, memory, generations)


async def settled(engine: Engine, scope: Scope, receipt: ForgetReceipt) -> ForgetReceipt:
    """Copies and files follow."""
    engine.shelves.discard(scope)
    return await with_files(engine, receipt)
