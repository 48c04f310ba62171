"""remember: decide, in one transaction, what a draft becomes, and say so in a receipt.

Nothing is lost and nothing is invented: a repeat strengthens what is there, a new value under a known key or for
what a sentence says supersedes the old record (which stays as history), everything else is a new memory. Where it isn't sure
that a new value replaces the old one, both stay and the receipt asks. What was forgotten doesn't slip back in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import write_refusal
from recollect.engine.remembering.disputes import Claims, claims_of, file_as_history, flag, retire, rulings, weigh
from recollect.engine.remembering.drafts import draft_from
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.merging import tell_again
from recollect.engine.remembering.screening import LONGEST_AT_ONCE, screened_aside
from recollect.engine.remembering.themes import open_theme
from recollect.engine.remembering.twins import twins, unite
from recollect.model import (
    Draft,
    EmbeddingState,
    Memory,
    Occasion,
    Receipt,
    Refusal,
    Scope,
    Source,
    Target,
)
from recollect.policy.digest import grave_digest, twin_digest
from recollect.policy.duplicates import fingerprint
from recollect.policy.ids import new_id
from recollect.policy.importance import base_importance
from recollect.policy.metadata import described
from recollect.policy.text import analyse
from recollect.ports import Judgement, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine


@dataclass(frozen=True, slots=True)
class Remembering:
    """A draft with everything that can be worked out before the transaction."""

    draft: Draft
    memory: Memory
    terms: Sequence[str]
    twin: str
    grave: str
    claims: Claims
    pepper: bytes
    at: datetime
    occasion: Occasion
    rulings: Mapping[str, Judgement] = field(default_factory=dict)
    generations: tuple[str, ...] = ()

    @property
    def embedding(self) -> EmbeddingState:
        return EmbeddingState.PENDING if self.generations else EmbeddingState.OFF


async def remember(engine: Engine, scope: Scope, fields: Mapping[str, Any], *, as_admin: bool = False) -> Receipt:
    found = await screened_aside(fields, engine.config.screening, engine.config.max_content_bytes)
    draft = draft_from(found.fields, engine.config.max_content_bytes)
    read = partial(_read, scope, draft, engine.clock.now(), engine.config.pepper, engine.occasion)
    # A long text takes seconds to read: on a thread, because everybody else is answered from this one.
    todo = await asyncio.to_thread(read) if len(draft.content) > LONGEST_AT_ONCE else read()
    todo = replace(
        todo,
        rulings=await rulings(engine, scope, draft, todo.claims),
        generations=await engine.generations.to_fill(),
    )
    explicit = draft.manually_saved or draft.pinned or draft.source in (Source.MANUAL, Source.USER_STATED)

    def work(tx: Tx) -> Receipt:
        about = draft.source_conversation_id
        refusal = write_refusal(tx, engine, explicit=explicit, as_admin=as_admin, about=about) or found.refusal
        return _refused(tx, todo, refusal) if refusal else _decide(tx, todo)

    receipt = await engine.store.write(scope, work)
    if receipt.outcome == "refused":
        return receipt
    engine.wake()
    if receipt.conflicts and engine.reviewer is not None:
        engine.debts.disputed.add(scope)
        engine.sessions.called()
    return replace(receipt, masked=found.masked, warnings=found.warnings)


def _read(scope: Scope, draft: Draft, at: datetime, pepper: bytes, occasion: Occasion) -> Remembering:
    """What can be told from the text alone."""
    return Remembering(
        draft=draft,
        memory=_memory_from(draft, fingerprint(draft.content), at),
        terms=analyse(draft.content),
        twin=twin_digest(scope, draft.content, pepper),
        grave=grave_digest(scope, draft.content, pepper),
        claims=claims_of(scope, draft.content, pepper),
        pepper=pepper,
        at=at,
        occasion=occasion,
    )


def _memory_from(draft: Draft, simhash: int, at: datetime) -> Memory:
    sure = described(draft.content).confidence
    explicit = draft.manually_saved or draft.pinned or draft.source is Source.MANUAL
    importance = draft.importance
    if importance is None:
        importance = base_importance(draft.content, type=draft.type, explicit=explicit, metadata_confidence=sure)
    created = draft.created_at or at
    return Memory(
        id=draft.id or new_id(at),
        content=draft.content,
        type=draft.type,
        theme=draft.theme,
        key=draft.key,
        value=draft.value,
        role=draft.role,
        source=draft.source,
        confidence=draft.confidence,
        importance=importance,
        base_importance=importance,
        pinned=draft.pinned,
        manually_saved=draft.manually_saved,
        tags=draft.tags,
        source_ids=draft.source_ids,
        source_conversation_id=draft.source_conversation_id,
        source_message_id=draft.source_message_id,
        metadata_confidence=sure,
        simhash=simhash,
        created_at=created,
        updated_at=max(created, at),
        expires_at=draft.expires_at,
    )


def _decide(tx: Tx, todo: Remembering) -> Receipt:
    buried = tx.space.buried(todo.grave, todo.at)
    if buried is not None:
        return _refused(tx, todo, "tombstone", until=buried.expires_at)
    same = twins(tx, todo.draft, todo.memory.simhash, todo.twin)
    if same:
        return _merge(tx, todo, same)
    weighed = weigh(tx, todo.draft, todo.claims, todo.rulings)
    keyed = tx.memories.keyed(todo.draft.key) if todo.draft.key else ()
    # Only a date that somebody gave can be earlier: one from our own clock means now, wherever the clock was set since.
    told = todo.draft.created_at
    later = [*weighed.later, *(each for each in keyed if told and each.created_at > told)]
    if later:
        return _store_as_history(tx, todo, later)
    previous = {each.id: each for each in (*keyed, *weighed.replaced)}
    return _store(tx, todo, list(previous.values()), [each for each in weighed.unsure if each.id not in previous])


def _merge(tx: Tx, todo: Remembering, same: Sequence[Memory]) -> Receipt:
    twin, *others = same
    digest = twin_digest(tx.scope, twin.content, todo.pepper)
    merged, name = tell_again(tx, twin, todo.memory, todo.at, digest)
    for other in others:
        merged = unite(tx, merged, other, digest)
    _record(tx, todo, "memory.merged", twin.id)
    return Receipt(id=twin.id, outcome="merged", embedding=_state_of(tx, twin, todo), repeat=name)


def _state_of(tx: Tx, memory: Memory, todo: Remembering) -> EmbeddingState:
    """How far the embedding of what was there already has come."""
    target = Target("memory", memory.id)
    for generation in todo.generations[:1]:
        status = tx.embeddings.status([target], generation).get(target)
        return status.state if status else EmbeddingState.PENDING
    return EmbeddingState.OFF


def _store_as_history(tx: Tx, todo: Remembering, later: Sequence[Memory]) -> Receipt:
    """An older statement that arrives late doesn't replace a newer one: it is kept as what was true before."""
    memory = file_as_history(tx, todo.memory, later, todo.pepper)
    tx.memories.insert(memory, todo.twin)
    _record(tx, todo, "memory.stored_as_history", memory.id)
    return Receipt(id=memory.id, outcome="stored", embedding=EmbeddingState.OFF)


def _store(tx: Tx, todo: Remembering, previous: Sequence[Memory], unsure: Sequence[Memory]) -> Receipt:
    newest = max(previous, key=lambda each: each.created_at, default=None)
    memory = replace(todo.memory, supersedes=newest.id if newest else None)
    tx.memories.insert(memory, todo.twin)
    index_memory(tx, memory, todo.generations, todo.at, todo.terms)
    if todo.claims.filed:
        tx.links.state(memory.id, todo.claims.filed)
    if memory.theme:
        open_theme(tx, memory.theme, todo.at)
    for each in previous:
        retire(tx, each, todo.at, todo.pepper)
    receipt = Receipt(
        id=memory.id,
        outcome="superseded" if newest else "stored",
        embedding=todo.embedding,
        replaces=newest.id if newest else None,
        conflicts=tuple(each.id for each in unsure),
        confirm=flag(tx, memory, unsure, todo.at),
    )
    _record(tx, todo, f"memory.{receipt.outcome}", memory.id, **({"replaces": newest.id} if newest else {}))
    return receipt


def _refused(tx: Tx, todo: Remembering, reason: Refusal, until: datetime | None = None) -> Receipt:
    if reason != "incognito":  # of which nothing is to remain but that it began and ended
        _record(tx, todo, "memory.refused", None, reason=reason)
    return Receipt(id=None, outcome="refused", embedding=EmbeddingState.OFF, reason=reason, until=until)


def _record(tx: Tx, todo: Remembering, action: str, id: str | None, **facts: str) -> None:
    audit.record(tx, todo.occasion, todo.at, action, Target("memory", id) if id else None, **facts)
