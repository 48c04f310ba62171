"""Stores full of everything a scope can hold, some told by hand and some by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any

from hypothesis import strategies as st

from recollect.engine import Engine
from recollect.model import (
    Conversation,
    Declaration,
    Flag,
    Memory,
    MemoryType,
    Message,
    Scope,
    Scores,
    Source,
    SpaceSettings,
    Status,
    Theme,
    Tombstone,
    Use,
    WorkingMemory,
)
from recollect.policy.digest import grave_digest, session_digest
from recollect.ports import Tx

T0 = datetime(2025, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
ANA = Scope("acme", "ana")


def at(minutes: float) -> datetime:
    return T0 + timedelta(minutes=minutes)


async def live_a_while(engine: Engine, tenant: str = "acme") -> list[Scope]:
    """Everything by the verbs that people use, in several spaces."""
    ana, ben, off = Scope(tenant, "ana"), Scope(tenant, "ben", "工作"), Scope(tenant, "ben", "off")
    await engine.remember(ana, {"content": "Lunch is at noon", "key": "lunch", "value": {"b": [12, 0.5], "a": None}})
    await engine.remember(ana, {"content": "Lunch is at one 🍜", "key": "lunch", "tags": ["food"], "theme": "Days"})
    await engine.remember(ana, {"content": "Prefers green tea in the morning", "pinned": True})
    await engine.remember(ana, {"content": "prefers green tea in the morning!"})
    gone = await engine.remember(ana, {"content": "A word nobody may find again"})
    assert gone.id
    await engine.forget(ana, [gone.id])
    await engine.add_turns(ana, "s1", [{"role": "user", "content": f"line {n}", "name": "Ana"} for n in range(3)])
    await (await engine.converse(ana, "What do I drink in the morning?", session_id="s2")).whole()
    await engine.start_incognito(ana, "quiet")
    await engine.remember(ben, {"content": "我每天七点起床", "type": "note", "expires_at": "2090-01-01T00:00:00Z"})
    await engine.store.write(ana.data, _ask_the_data)
    await engine.store.write(ben, _leave_a_session_open)
    await engine.remember(off, {"content": "Said before memory was switched off"})
    await engine.change_settings(off, {"memory_enabled": False, "retention_days": 30, "shared_tags": ["x"]})
    return [ana, ana.data, ben, off]


def _ask_the_data(tx: Tx) -> None:
    tx.conversations.open(
        Conversation(id="d1", title="Sales", created_at=T0, updated_at=T0, expires_at=at(10**7), databases=("shop",))
    )
    answer = Message(
        id="q1",
        session_id="d1",
        order=0,
        role="assistant",
        content="There were 12.",
        created_at=T0,
        sql_query="SELECT count(*) FROM orders",
        tables_used=("orders",),
        execution_result={"rows": [[12]], "share": 1e23, "wide": "x" * 70_000},
        tokens={"total": 40},
        execution_time_ms=1.25,
        searchable="how many orders",
        grounds=("shop.orders",),
    )
    tx.conversations.append([answer, replace(answer, id="q2", order=4, searchable="", partial=True, dated=False)])


def _leave_a_session_open(tx: Tx) -> None:
    tx.space.save_working(
        WorkingMemory(session_id="s9", current_topic="茶", context_variables={"n": [1]}, created_at=T0, updated_at=T0)
    )


@dataclass
class World:
    """What one scope is to hold."""

    scope: Scope
    memories: Sequence[Memory] = ()
    messages: Sequence[tuple[str, str]] = ()
    words: Sequence[str] = ()
    settings: SpaceSettings = field(default_factory=SpaceSettings)

    def put(self, tx: Tx) -> None:
        for memory in self.memories:
            tx.memories.insert(memory, memory.id)
        ids = [memory.id for memory in self.memories]
        tx.links.flag([Flag(memory_id=b, other_id=a, at=at(n)) for n, (a, b) in enumerate(pairwise(ids))])
        talks = {talk for talk, _ in self.messages}
        for talk in talks:
            tx.conversations.open(Conversation(id=talk, title=talk, created_at=T0, updated_at=at(1)))
        said = [
            Message(id=f"m{n}", session_id=talk, order=3 * n, role="user", content=text, created_at=at(n))
            for n, (talk, text) in enumerate(self.messages)
        ]
        tx.conversations.append(said)
        pairs = enumerate(product(ids, said))
        uses = [
            Use(memory_id=id, message_id=reply.id, reference=f"m{n}", cited=n % 2 == 0, at=at(n))
            for n, (id, reply) in pairs
        ]
        tx.links.use(uses)
        for n, word in enumerate(self.words):
            tx.space.save_theme(Theme(slug=f"theme-{n}", display_name=word, created_at=T0, updated_at=at(n)))
            grave = grave_digest(self.scope, word)
            tx.space.bury([Tombstone(digest=grave, created_at=T0, expires_at=at(10**7))])
            session = session_digest(self.scope, word)
            tx.space.keep_declarations([Declaration(session=session, incognito=n % 2 == 0, declared_at=at(n))])
            tx.space.save_working(WorkingMemory(session_id=word, current_topic=word, created_at=T0, updated_at=at(n)))
        tx.space.save_settings(self.settings)


_letters = st.characters(exclude_categories=["C", "Z"], include_characters=" 茶🍵'\"\\%_{")
_words = st.text(_letters, min_size=1, max_size=30).map(str.strip).filter(bool)
_moments = st.integers(-(10**15), 3 * 10**15).map(lambda n: T0 + timedelta(microseconds=n))
_fractions = st.floats(0, 1)
_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
_memories = st.builds(
    Memory,
    id=_words,
    content=_words,
    type=st.sampled_from(MemoryType),
    key=st.none() | _words,
    value=_values,
    source=st.sampled_from(Source),
    confidence=_fractions,
    importance=_fractions,
    base_importance=_fractions,
    pinned=st.booleans(),
    tags=st.lists(_words, max_size=2, unique=True).map(tuple),
    source_ids=st.lists(_words, max_size=2, unique=True).map(tuple),
    metadata_confidence=_fractions,
    repeat_count=st.integers(0, 9),
    status=st.sampled_from(Status),
    supersedes=st.none() | _words,
    created_at=_moments,
    updated_at=_moments,
    last_accessed=st.none() | _moments,
    access_count=st.integers(0, 2**31 - 1),
    expires_at=st.none() | _moments,
    last_scores=st.none()
    | st.builds(
        Scores, relevance=_fractions, recency=_fractions, importance=_fractions, total=_fractions, computed_at=_moments
    ),
)
_settings = st.builds(
    SpaceSettings,
    memory_enabled=st.booleans(),
    incognito_default=st.booleans(),
    soft_cap=st.integers(0, 10_000),
    shared_tags=st.lists(_words, max_size=2, unique=True).map(tuple),
    retention_days=st.none() | st.integers(1, 3650),
)


def worlds(tenant: str) -> st.SearchStrategy[list[World]]:
    world = st.builds(
        World,
        scope=st.builds(Scope, st.just(tenant), st.sampled_from(["ana", "Ben", "茶"]), _words),
        memories=st.lists(_memories, max_size=4, unique_by=lambda memory: memory.id),
        messages=st.lists(st.tuples(st.sampled_from(["a", "B", "ä"]), _words), max_size=4),
        words=st.lists(_words, max_size=3, unique=True),
        settings=_settings,
    )
    return st.lists(world, max_size=3, unique_by=lambda world: world.scope)
