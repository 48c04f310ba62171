"""Things to store, with every detail a test does not care about filled in, and the few acts most tests begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np

from recollect.model import (
    Conversation,
    Entry,
    Filter,
    Found,
    Generation,
    GenerationState,
    Kind,
    Memory,
    Message,
    Scope,
    Target,
)
from recollect.ports import Store, Tx, Vector

T0 = datetime(2025, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
LEASE = timedelta(minutes=5)
ANY = Filter()

ANA = Scope("acme", "ana")
NEIGHBOURS = (Scope("acme", "ben"), Scope("globex", "ana"), Scope("acme", "ana", "work"))
"""One step away from `ANA` in each direction: another user, another tenant, another space."""

HOSTILE = (
    "'; DROP TABLE memories; --",
    '" OR 1=1 --',
    "%",
    "_",
    "a%b_c",
    "\\",
    "\\'",
    "{a,b}",
    '{"a": [1, null]}',
    "NULL",
    "tea AND NOT coffee",
    'NEAR("tea" "milk", 5)',
    "terms:tea",
    "^tea",
    "'tea':1 & !'milk' | x:*",
    "tea <-> milk",
    "$1 %s :name ?",
    "💣\u202e'",
)
"""Text that means something to SQL, LIKE, FTS5, tsquery, arrays or drivers. To a store it is data."""


def at(minutes: float) -> datetime:
    return T0 + timedelta(minutes=minutes)


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=32).hexdigest()


def memory(id: str = "m1", content: str = "likes green tea", **fields: Any) -> Memory:
    created = fields.setdefault("created_at", T0)
    fields.setdefault("updated_at", created)
    return Memory(id=id, content=content, **fields)


def conversation(id: str = "c1", **fields: Any) -> Conversation:
    created = fields.setdefault("created_at", T0)
    fields.setdefault("updated_at", created)
    return Conversation(id=id, **fields)


def message(id: str, session_id: str = "c1", order: int = 0, **fields: Any) -> Message:
    defaults: dict[str, Any] = {"role": "user", "content": f"text of {id}", "created_at": T0}
    return Message(id=id, session_id=session_id, order=order, **{**defaults, **fields})


def entry(id: str, terms: str = "tea", kind: Kind = "memory", **fields: Any) -> Entry:
    defaults: dict[str, Any] = {"chars": len(terms), "created_at": T0}
    defaults |= {"type": "fact"} if kind == "memory" else {"session_id": "c1"}
    return Entry(target=Target(kind, id), terms=tuple(terms.split()), **{**defaults, **fields})


def generation(id: str = "g1", dimensions: int = 3, state: str = "serving", **fields: Any) -> Generation:
    defaults: dict[str, Any] = {"provider": "hash", "model": "hash-1", "created_at": T0}
    return Generation(id=id, dimensions=dimensions, state=GenerationState(state), **{**defaults, **fields})


def unit(*coordinates: float) -> Vector:
    vector = np.array(coordinates, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def found_ids(found: Iterable[Found]) -> list[str]:
    return [each.target.id for each in found]


def of(kind: Kind, *ids: str) -> list[Target]:
    return [Target(kind, id) for id in ids]


# -- acts ----------------------------------------------------------------------------------------------------


async def remember(store: Store, scope: Scope, *memories: Memory) -> None:
    def work(tx: Tx) -> None:
        for each in memories:
            tx.memories.insert(each, digest(each.content))

    await store.write(scope, work)


async def converse(store: Store, scope: Scope, *messages: Message) -> None:
    """Store messages, and the conversations they belong to."""

    def work(tx: Tx) -> None:
        for id in dict.fromkeys(each.session_id for each in messages):
            tx.conversations.open(conversation(id))
        tx.conversations.append(messages)

    await store.write(scope, work)


async def shelve(
    store: Store,
    scope: Scope,
    *entries: Entry,
    vectors: Mapping[str, Vector] | None = None,
    generation: str = "g1",
) -> None:
    """Index entries, with what they stand for, and give those named in `vectors` their vector."""

    def work(tx: Tx) -> None:
        for each in entries:
            _stand_for(tx, each)
        tx.index.put(entries)
        embed(tx, {each.target: (vectors or {})[each.target.id] for each in entries if vectors}, generation)

    await store.write(scope, work)


def embed(tx: Tx, vectors: Mapping[Target, Vector], generation: str = "g1") -> int:
    """Queue, claim and settle in one go: the targets have these vectors now."""
    if not vectors:
        return 0
    tx.embeddings.queue({target: digest(target.id) for target in vectors}, generation, T0)
    jobs = tx.embeddings.claim(generation, T0, LEASE, 1000)
    return tx.embeddings.settle([(job, vectors[job.target]) for job in jobs if job.target in vectors], T0)


def _stand_for(tx: Tx, entry: Entry) -> None:
    id = entry.target.id
    if entry.target.kind == "memory":
        if not tx.memories.get([id]):
            tx.memories.insert(memory(id, content=f"text of {id}"), digest(id))
    elif not tx.conversations.messages([id]):
        talk = tx.conversations.open(conversation(entry.session_id or "c1"))
        tx.conversations.append([message(id, talk.id, talk.message_count)])


async def lexical(
    store: Store, scope: Scope, *terms: str, filter: Filter = ANY, now: datetime = T0, limit: int = 100
) -> Sequence[Found]:
    return await store.read(scope, lambda tx: tx.index.lexical(terms, filter, now, limit))


async def dense(
    store: Store,
    scope: Scope,
    vector: Vector,
    *,
    generation: str = "g1",
    filter: Filter = ANY,
    now: datetime = T0,
    limit: int = 100,
) -> Sequence[Found]:
    return await store.read(scope, lambda tx: tx.index.dense(vector, generation, filter, now, limit))
