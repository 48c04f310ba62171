"""Every verb of a transaction, once each, on a scope of its own: what makes the application issue the statements it really does.

Whoever asks what those statements are (`plans` asks the planner, a test asks whether each stays on one shard) lets them run and
listens at the session, so that nobody keeps a second copy of them. They run as a rehearsal (`PostgresStore.rehearse`), which is
taken back at the end: a scope that was never committed is seen by nobody. Verbs that change what all users share (a generation is
added or dropped) are no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from recollect.model import (
    AuditEvent,
    Conversation,
    Declaration,
    EmbeddingJob,
    Entry,
    Filter,
    Flag,
    Listing,
    Memory,
    MemoryType,
    Message,
    Repeat,
    Scope,
    Scores,
    SpaceSettings,
    Target,
    Theme,
    Tombstone,
    Use,
    WorkingMemory,
)
from recollect.ports import System, Tx

SCRATCH = Scope("recollect", "rounds")
GENERATION = "rounds"
AT = datetime(2020, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(days=1)
DIGEST = "0" * 64
VECTOR = np.ones(3, dtype=np.float32)
USE = Use(memory_id="m1", message_id="t1", reference="m1", cited=True, at=AT)
SCORES = Scores(relevance=0, recency=0, importance=0, total=0, computed_at=AT)
MEMORY, MESSAGE = Target("memory", "m1"), Target("message", "t1")
NARROW = Filter(
    kinds=("memory",), types=(MemoryType.FACT,), tags=("a",), themes=("a",), sessions=("c1",), since=AT, until=LATER
)
NARROW_LISTING = Listing(
    types=(MemoryType.FACT,), tags=("a",), themes=("a",), pinned=False, manually_saved=False, captured=False,
    since=AT, until=LATER, expired_at=LATER,
)  # fmt: skip

Step = tuple[str, Callable[[Tx], object]]


def rounds(tx: Tx, begin: Callable[[str], object]) -> None:
    """Run every verb of `tx`; `begin` is told the name of each before it runs."""
    for name, act in (*_writes(), *_reads(), *_embedding(), *_ends()):
        begin(name)
        act(tx)
    begin("tx.finish")


def system_rounds(system: System, begin: Callable[[str], object]) -> None:
    """The same for what jobs and doors ask on behalf of nobody, again and again. Nothing is changed by it."""
    asked: tuple[tuple[str, Callable[[System], object]], ...] = (
        ("system.generations", lambda s: s.generations()),
        ("system.scopes", lambda s: [s.scopes(after, 100) for after in (None, SCRATCH)]),
        ("system.scopes_of_user", lambda s: s.scopes(None, 100, tenant=SCRATCH.tenant, user=SCRATCH.user)),
        ("system.waiting", lambda s: s.waiting(AT, 10, ahead=LATER)),
        ("system.next_due", lambda s: s.next_due()),
        ("system.find_key", lambda s: s.find_key(DIGEST)),
        ("system.touch_key", lambda s: s.touch_key("k1", AT)),
        ("system.provider", lambda s: s.provider()),
        ("system.scrub_owed", lambda s: s.scrub_owed()),
        ("system.looks", lambda s: s.looks(AT, 12, 10)),
    )
    for name, act in asked:
        begin(name)
        act(system)


def _memory(id: str, **fields: object) -> Memory:
    return Memory(id=id, content="green tea", created_at=AT, updated_at=AT, **fields)  # type: ignore[arg-type]


def _entry(target: Target, **fields: object) -> Entry:
    return Entry(target=target, terms=("green", "tea"), chars=9, created_at=AT, **fields)  # type: ignore[arg-type]


def _message(id: str, order: int) -> Message:
    return Message(id=id, session_id="c1", order=order, role="user", content="tea?", created_at=AT)


def _writes() -> Iterator[Step]:
    first, talk = (
        _memory("m1", source_message_id="t1", key="drink"),
        Conversation(id="c1", created_at=AT, updated_at=AT),
    )
    flag = Flag(memory_id="m1", other_id="m2", at=AT)
    yield "memories.insert", lambda tx: tx.memories.insert(first, DIGEST)
    yield "memories.insert", lambda tx: tx.memories.insert(_memory("m2"), DIGEST)
    yield "memories.replace", lambda tx: tx.memories.replace(first, DIGEST)
    yield "memories.touch", lambda tx: tx.memories.touch(["m1"], AT)
    yield (
        "memories.rate",
        lambda tx: tx.memories.rate({"m1": Scores(relevance=0, recency=0, importance=0, total=0, computed_at=AT)}),
    )
    yield "links.keep", lambda tx: tx.links.keep(Repeat(memory_id="m1", id="r1", place=1, content="tea", at=AT))
    yield "links.flag", lambda tx: tx.links.flag([flag])
    yield "links.state", lambda tx: tx.links.state("m1", ["s1"])
    yield "links.use", lambda tx: tx.links.use([USE])
    yield "conversations.open", lambda tx: tx.conversations.open(talk)
    yield "conversations.replace", lambda tx: tx.conversations.replace(talk)
    yield "conversations.append", lambda tx: tx.conversations.append([_message("t1", 0), _message("t2", 1)])
    yield "index.put", lambda tx: tx.index.put([_entry(MEMORY, type="fact"), _entry(MESSAGE, session_id="c1")])
    yield "space.save_settings", lambda tx: tx.space.save_settings(SpaceSettings())
    theme = Theme(slug="a", display_name="A", created_at=AT, updated_at=AT)
    yield "space.save_theme", lambda tx: tx.space.save_theme(theme)
    yield "space.open_theme", lambda tx: tx.space.open_theme(theme)
    yield "space.bury", lambda tx: tx.space.bury([Tombstone(digest=DIGEST, created_at=AT, expires_at=LATER)])
    yield "space.record", lambda tx: tx.space.record(AuditEvent(id="e1", at=AT, action="rounds"))
    told = Declaration(session="s2", incognito=True, declared_at=AT)
    yield "space.keep_declarations", lambda tx: tx.space.keep_declarations([told])
    yield "space.declare_incognito", lambda tx: tx.space.declare_incognito("s1", True, AT)
    yield (
        "space.save_working",
        lambda tx: tx.space.save_working(WorkingMemory(session_id="c1", created_at=AT, updated_at=AT)),
    )


def _reads() -> Iterator[Step]:
    yield "memories.get", lambda tx: tx.memories.get(["m1"])
    yield "memories.list", lambda tx: [tx.memories.list(each) for each in (Listing(), NARROW_LISTING)]
    yield "memories.list", lambda tx: tx.memories.list(Listing(statuses=(), captured=True))
    yield "memories.scan", lambda tx: [tx.memories.scan(after, 10) for after in (None, "m1")]
    yield "memories.twin", lambda tx: tx.memories.twin(DIGEST)
    yield "memories.near", lambda tx: [tx.memories.near(0, distance, 10) for distance in (0, 3)]
    yield "memories.keyed", lambda tx: tx.memories.keyed("drink")
    yield "memories.descendants", lambda tx: tx.memories.descendants(["m1"])
    yield "memories.from_messages", lambda tx: tx.memories.from_messages(["t1"])
    yield "links.last_place", lambda tx: tx.links.last_place("m1")
    yield "links.repeats", lambda tx: tx.links.repeats(["m1"])
    yield "links.repeats_from", lambda tx: tx.links.repeats_from(["t1"])
    yield "links.flagged", lambda tx: tx.links.flagged(["m1"])
    yield "links.all_flags", lambda tx: tx.links.all_flags(10)
    yield "links.stating", lambda tx: tx.links.stating(["s1"], 10)
    yield "links.uses", lambda tx: tx.links.uses("m1", 10)
    yield "links.used_by", lambda tx: tx.links.used_by(["t1"])
    yield "links.scan_uses", lambda tx: [tx.links.scan_uses(after, 10) for after in (None, USE)]
    yield "conversations.get", lambda tx: tx.conversations.get("c1")
    yield "conversations.list", lambda tx: tx.conversations.list(10, 0)
    yield "conversations.scan", lambda tx: [tx.conversations.scan(after, 10) for after in (None, "c1")]
    yield "conversations.messages", lambda tx: tx.conversations.messages(["t1"])
    yield "conversations.history", lambda tx: [tx.conversations.history("c1", 10, before) for before in (None, 5)]
    yield "conversations.history without results", lambda tx: tx.conversations.history("c1", 10, results=False)
    yield "index.lexical", lambda tx: [tx.index.lexical(["green", "te*"], each, AT, 10) for each in (Filter(), NARROW)]
    yield "index.frequencies", lambda tx: tx.index.frequencies(["green", "tea"])
    yield "index.entries", lambda tx: tx.index.entries([MEMORY])
    yield "index.changes", lambda tx: [tx.index.changes(1, each, 1_000) for each in (None, GENERATION)]
    yield "space.settings", lambda tx: tx.space.settings()
    yield "space.themes", lambda tx: tx.space.themes()
    yield "space.buried", lambda tx: tx.space.buried(DIGEST, AT)
    yield "space.graves", lambda tx: tx.space.graves(AT)
    yield "space.audit", lambda tx: tx.space.audit(10, 0)
    yield "space.known", lambda tx: tx.space.known()
    yield "space.incognito", lambda tx: tx.space.incognito("s1")
    yield "space.declared", lambda tx: tx.space.declared(AT)
    yield "space.tombstones", lambda tx: [tx.space.tombstones(after, 10) for after in (None, DIGEST)]
    yield "space.declarations", lambda tx: [tx.space.declarations(after, 10) for after in (None, "s1")]
    yield "space.workings", lambda tx: [tx.space.workings(after, 10) for after in (None, "c1")]
    yield "space.sharing", lambda tx: tx.space.sharing()
    yield "space.working", lambda tx: tx.space.working("c1")
    yield "space.idle_working", lambda tx: tx.space.idle_working(LATER, 10)


def _embedding() -> Iterator[Step]:
    claimed: list[EmbeddingJob] = []
    hashes = {MEMORY: DIGEST, MESSAGE: DIGEST}
    yield "embeddings.queue", lambda tx: tx.embeddings.queue(hashes, GENERATION, AT)
    yield (
        "embeddings.claim",
        lambda tx: claimed.extend(tx.embeddings.claim(GENERATION, AT, LATER - AT, 10, ahead=LATER)),
    )
    yield "embeddings.fail", lambda tx: tx.embeddings.fail(claimed[:1], "rounds", LATER, AT)
    yield "embeddings.settle", lambda tx: tx.embeddings.settle([(each, VECTOR) for each in claimed], AT)
    yield "embeddings.status", lambda tx: tx.embeddings.status([MEMORY], GENERATION)
    yield "embeddings.ready", lambda tx: tx.embeddings.ready([MEMORY], GENERATION)
    yield "embeddings.enqueue_missing", lambda tx: tx.embeddings.enqueue_missing(GENERATION + "2", AT, 10)
    yield "embeddings.backlog", lambda tx: tx.embeddings.backlog(GENERATION)
    yield "index.dense", lambda tx: [tx.index.dense(VECTOR, GENERATION, each, AT, 10) for each in (Filter(), NARROW)]


def _ends() -> Iterator[Step]:
    yield "embeddings.drop", lambda tx: tx.embeddings.drop([MEMORY])
    yield "index.drop", lambda tx: tx.index.drop([MEMORY])
    yield "links.unflag", lambda tx: tx.links.unflag([Flag(memory_id="m1", other_id="m2", at=AT)])
    yield "links.drop", lambda tx: tx.links.drop("m1", ["r1"])
    yield "memories.delete", lambda tx: tx.memories.delete(["m1", "m2"])
    yield "conversations.delete_messages", lambda tx: tx.conversations.delete_messages(["t1"])
    yield "conversations.delete", lambda tx: tx.conversations.delete(["c1"])
    yield "space.drop_theme", lambda tx: tx.space.drop_theme("a")
    yield "space.exhume", lambda tx: tx.space.exhume(LATER)
    yield "space.drop_declared", lambda tx: tx.space.drop_declared(LATER)
    yield "space.drop_working", lambda tx: tx.space.drop_working(["c1"])
    # What holds something is written down at the end; what was erased has no row to write to.
    yield "tx.erase", lambda tx: tx.erase()
    yield "tx.owe_scrub", lambda tx: tx.owe_scrub(AT)  # said at the end, when it is known where
    yield "index.put", lambda tx: tx.index.put([_entry(MEMORY)])
