"""documents: JSON values kept at an address, a path and a key, for agent kits that want a store rather than a memory.

A document is a memory like any other: its text is recalled, its owner sees, exports and forgets it. But its address decides what
it is, not its words: putting replaces what is there, nothing is merged or superseded, and what was deleted may be put again. Only
what the owner has forgotten, by any door, doesn't come back through this one.

The address is kept exactly in the value. The memory's id is a digest of it, so that getting is one look-up, and each beginning of
the path is a tag, so that "everything below" is a filter that recall knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import require_writable, silence
from recollect.engine.remembering.indexing import index_memory
from recollect.engine.remembering.screening import WHY, screened_aside
from recollect.engine.remembering.themes import drop_empty_themes, open_theme
from recollect.errors import Conflict, InvalidInput, NotAllowed
from recollect.model import Filter, Listing, Memory, MemoryType, Query, Scope, Source, Status, Target
from recollect.policy.digest import grave_digest
from recollect.policy.guard import MAX_LABEL_CHARS, checked_text, checked_value, slug
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

AT_ONCE = 1000
MOST_HITS = 1000
DEEPEST = 60
PREFIX = "document-"


@dataclass(frozen=True, slots=True)
class Address:
    path: tuple[str, ...]
    key: str

    @property
    def id(self) -> str:
        return f"{PREFIX}{_digest([*self.path], self.key)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`text` is what it is found by; None keeps it out of every search. `ttl` counts from when it was last put or refreshed."""

    value: Mapping[str, Any]
    text: str | None = None
    ttl: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    address: Address
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime


async def get(engine: Engine, scope: Scope, addresses: Sequence[Address]) -> dict[Address, Kept]:
    """Those that are there now."""
    now = engine.clock.now()

    def work(tx: Tx) -> dict[str, Memory]:
        return {} if silence(tx, engine) else tx.memories.get([each.id for each in addresses])

    found = await engine.store.read(scope, work)
    return {kept.address: kept for each in found.values() if (kept := _kept(each, now)) is not None}


async def below(engine: Engine, scope: Scope, path: Sequence[str]) -> list[Kept]:
    """Every document whose path begins with this one, oldest first."""
    now = engine.clock.now()

    def work(tx: Tx) -> list[Memory]:
        found: list[Memory] = []
        while not silence(tx, engine):
            page = tx.memories.list(Listing(tags=(_tag(path),), limit=AT_ONCE, offset=len(found)))
            found += page
            if len(page) < AT_ONCE:
                break
        return found

    found = await engine.store.read(scope, work)
    return [kept for each in reversed(found) if (kept := _kept(each, now)) is not None]


async def ranked(engine: Engine, scope: Scope, path: Sequence[str], text: str, limit: int) -> list[tuple[Kept, float]]:
    """Documents below a path that have to do with `text`, best first, with their scores."""
    asked = Query(
        text=text,
        limit=min(limit, MOST_HITS),
        filter=Filter(kinds=("memory",), tags=(_tag(path),)),
        min_relevance=0.0,
    )
    now = engine.clock.now()
    hits = await engine.recall(scope, asked)
    found = ((_kept(hit.memory, now), hit.score) for hit in hits if hit.memory is not None)
    return [(kept, score) for kept, score in found if kept is not None]


async def change(engine: Engine, scope: Scope, changes: Mapping[Address, Document | None]) -> None:
    """Put and delete (None) together: all of it or, if one can't be, nothing."""
    at = engine.clock.now()
    drafts: dict[Address, Memory | None] = dict.fromkeys(changes)
    for address, document in changes.items():
        if document is not None:
            drafts[address] = await _draft(engine, address, document, at)
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> bool:
        require_writable(tx, engine)
        known = tx.memories.get([address.id for address in drafts])
        for address, draft in drafts.items():
            if draft is not None:
                _put(tx, engine, draft, known.get(address.id), generations)
        _delete(tx, engine, [known[each.id] for each, draft in drafts.items() if draft is None and each.id in known])
        if known:
            tx.owe_scrub(at)
        return bool(known)

    if await engine.store.write(scope, work):
        _leave_no_trace(engine, scope)
    engine.wake()


async def refresh(engine: Engine, scope: Scope, addresses: Sequence[Address]) -> None:
    """Let the time of those that have one begin anew."""
    at = engine.clock.now()

    def work(tx: Tx) -> None:
        for each in tx.memories.get([address.id for address in addresses]).values():
            if each.expires_at is not None and not silence(tx, engine):
                minutes = _inside(each).get("ttl_minutes")
                later = replace(each, expires_at=at + timedelta(minutes=minutes) if minutes else None)
                tx.memories.replace(later, each.id)
                if _inside(each).get("searched"):
                    index_memory(tx, later, (), at)

    await engine.store.write(scope, work)


async def sweep(engine: Engine, scope: Scope) -> int:
    """Remove those whose time is over; how many they were."""
    listing = Listing(tags=(_tag(()),), expired_at=engine.clock.now(), limit=AT_ONCE)

    def work(tx: Tx) -> int:
        return _delete(tx, engine, list(tx.memories.list(listing)))

    total = 0
    while gone := await engine.store.write(scope, work):
        total += gone
    if total:
        _leave_no_trace(engine, scope)
    return total


def _leave_no_trace(engine: Engine, scope: Scope) -> None:
    """Words that were replaced or deleted are in no index any more; copies and files follow."""
    engine.shelves.discard(scope)
    engine.debts.scrub = True


async def _draft(engine: Engine, address: Address, document: Document, at: datetime) -> Memory:
    """The memory that a document becomes. What is said in it is screened; its address is nobody's words."""
    if len(address.path) > DEEPEST:
        raise InvalidInput(f"a path has at most {DEEPEST} parts")
    most = engine.config.max_content_bytes
    said = {"content": document.text or address.key, "value": dict(document.value)}
    found = await screened_aside(said, engine.config.screening, most)
    if found.refusal is not None:
        raise NotAllowed(WHY, reason=found.refusal)
    content = found.fields["content"]
    draft = filed(
        address,
        found.fields["value"],
        checked_text(content if content.strip() else "-", "the text of a document", most),
        created_at=at,
        updated_at=at,
        ttl=document.ttl,
        searched=document.text is not None,
    )
    return draft if document.ttl is None else replace(draft, expires_at=at + document.ttl)


def filed(
    address: Address,
    value: Mapping[str, Any],
    content: str,
    *,
    created_at: datetime,
    updated_at: datetime,
    expires_at: datetime | None = None,
    ttl: timedelta | None = None,
    searched: bool = True,
    source: Source = Source.INFERRED,
) -> Memory:
    """A document as the memory that it is kept as."""
    inside = {"path": [*address.path], "key": address.key, "value": dict(value)}
    minutes = None if ttl is None else ttl.total_seconds() / 60
    return Memory(
        id=address.id,
        content=content,
        type=MemoryType.NOTE,
        theme=_theme(address.path),
        value=checked_value({**inside, "ttl_minutes": minutes, "searched": searched}),
        source=source,
        manually_saved=True,
        tags=tuple(_tag(address.path[:depth]) for depth in range(len(address.path) + 1)),
        created_at=created_at,
        updated_at=updated_at,
        expires_at=expires_at,
    )


def is_document(memory: Memory) -> bool:
    inside = _inside(memory)
    return memory.id.startswith(PREFIX) and "path" in inside and "key" in inside


def is_found(memory: Memory) -> bool:
    """Whether searches may come upon it: every memory, but not every document."""
    return not is_document(memory) or _inside(memory).get("searched") is not False


def _put(tx: Tx, engine: Engine, draft: Memory, before: Memory | None, generations: Sequence[str]) -> None:
    at, target = draft.updated_at, Target("memory", draft.id)
    buried = tx.space.buried(grave_digest(tx.scope, draft.content, engine.config.pepper), at)
    if buried is not None:
        until = buried.expires_at.isoformat()
        raise Conflict(f"this was forgotten and is not taken back before {until}", until=until)
    if before is None:
        tx.memories.insert(draft, draft.id)
    else:
        draft = replace(draft, created_at=before.created_at, pinned=before.pinned, access_count=before.access_count)
        tx.memories.replace(draft, draft.id)
    if draft.theme:
        open_theme(tx, draft.theme, at)
    if _inside(draft)["searched"]:
        changed = before is None or before.content != draft.content or not _inside(before).get("searched")
        index_memory(tx, draft, generations if changed else (), at)
    elif before is not None:
        tx.index.drop([target])
        tx.embeddings.drop([target])
    audit.record(tx, engine.occasion, at, "document.put", target)


def _delete(tx: Tx, engine: Engine, memories: Sequence[Memory]) -> int:
    targets = [Target("memory", each.id) for each in memories]
    tx.index.drop(targets)
    tx.embeddings.drop(targets)
    gone = tx.memories.delete([each.id for each in memories])
    if gone:
        tx.owe_scrub(engine.clock.now())
    drop_empty_themes(tx, {each.theme for each in memories if each.theme})
    for target in targets:
        audit.record(tx, engine.occasion, engine.clock.now(), "document.deleted", target)
    return gone


def _kept(memory: Memory, now: datetime) -> Kept | None:
    inside = _inside(memory)
    over = memory.expires_at is not None and memory.expires_at <= now
    if over or memory.status is not Status.ACTIVE or memory.deleted_at is not None or "path" not in inside:
        return None
    address = Address(tuple(inside["path"]), inside["key"])
    return Kept(address=address, value=inside["value"], created_at=memory.created_at, updated_at=memory.updated_at)


def _inside(memory: Memory) -> dict[str, Any]:
    return memory.value if isinstance(memory.value, dict) else {}


def _theme(path: Sequence[str]) -> str | None:
    """What people see it under; what can't be read as a name has none."""
    words = " ".join(path)
    return slug(words)[:MAX_LABEL_CHARS] if any(c.isalnum() for c in words) else None


def _tag(path: Sequence[str]) -> str:
    return f"path-{_digest([*path])}"


def _digest(*parts: Any) -> str:
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
