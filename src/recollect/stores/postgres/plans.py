"""What the planner makes of the statements the application issues, and whether an index stands behind each.

Every statement of the `rounds` is explained under the application's own role, with row-level security in force, just before it
runs, and as the largest scope there is would issue it: that is where a wrong plan hurts. The rule: no table is read from end to
end, every access names the user, and a statement that asks for something in particular (an id, a digest, a moment) goes by an
index that knows it and doesn't read all that the user has. Which statements are about all that a user has, or about everybody,
is said here with the reason. Where tables are in parts, one part of each is touched, and no more (see `pruning`).

The planner decides by statistics. It rightly reads a table of a few pages from end to end, or one that is mostly this user's, so
there it is asked again with `enable_seqscan` off: what it then finds is the index that everybody else's rows are found by. And
where nobody has much, one index is as good to it as another: then only the first two parts of the rule are judged.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from recollect.model import Filter, Scope
from recollect.stores.migrations.postgres_ddl import PROTECTED
from recollect.stores.postgres.index import approximate
from recollect.stores.postgres.pruning import Parts, parts, prepared, several
from recollect.stores.postgres.rounds import AT, SCRATCH, rounds, system_rounds
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.wire import halfvec
from recollect.stores.sql.expressions import owner
from recollect.stores.sql.filters import filter_params, filter_shape
from recollect.stores.sql.session import Row

SMALL: Final = 10_000  # rows: below, reading from end to end may be the better plan, and says nothing about indexes
MUCH: Final = 1_000  # entries of one scope: from here on it matters which of its indexes is taken

WHOLE_SCOPE: Mapping[str, str] = {
    "memories.list": "a page of all memories, and how many there are",
    "memories.scan": "everything, in pages",
    "memories.descendants": "what derives from a memory has no index: asked only when something is forgotten",
    "links.flagged": "a user has a handful of flags",
    "links.all_flags": "a user has a handful of flags",
    "links.scan_uses": "everything, in pages",
    "links.state": "the slots of one memory among a user's",
    "links.repeats_from": "tellings are few",
    "memories.delete": "tellings, flags and slots go with a memory",
    "conversations.list": "a page of all conversations, and how many there are",
    "conversations.scan": "everything, in pages",
    "conversations.delete": "the messages of a conversation",
    "index.lexical": "without a leakproof @@ row-level security has the scope's entries read by key",
    "index.frequencies": "without a leakproof @@ row-level security has the scope's entries read by key",
    "index.dense": "small scopes are scanned exactly, on purpose",
    "embeddings.enqueue_missing": "what has no vector yet, among everything",
    "embeddings.backlog": "how much waits",
    "space.themes": "with counts of memories",
    "space.audit": "the trail",
    "space.graves": "tombstones are few and short-lived",
    "space.exhume": "tombstones are few and short-lived",
    "space.declared": "declared sessions are few",
    "space.drop_declared": "declared sessions are few",
    "space.idle_working": "working memories are few",
    "space.tombstones": "everything, in pages",
    "space.declarations": "everything, in pages",
    "space.workings": "everything, in pages",
    "space.sharing": "the spaces of one user",
    "space.settings": "the scope's own row",
    "space.save_settings": "the scope's own row",
    "tx.begin": "the scope's own row",
    "tx.finish": "the scope's own row",
    "tx.erase": "everything of a scope goes",
}
"""Statements about all that a scope holds, or about so little of it that an index would cost more than it saves."""

EVERYBODY: Mapping[str, str] = {
    "system.generations": "a handful of rows",
    "system.provider": "one row",
    "system.scopes_of_user": "the spaces of one user",
    "system.scopes": "jobs list scopes, in pages, in the order of the key",
    "system.waiting": "the queue of scopes, by an index that holds only those that wait",
    "system.next_due": "the head of that queue",
    "system.find_key": "a key says whose it is",
    "system.touch_key": "a key says whose it is",
    "system.scrub_owed": "since when files are owed a scrub, which is nobody's",
    "system.looks": "counts of a day, which are nobody's",
}
"""Statements of no user."""

TINY = frozenset({"generations", "embedding_provider", "api_keys", "operations", "scrubs"})
"""Tables of the operator's, which stay small whatever users do."""

SPREAD: Mapping[str, str] = {"cluster": "tables over nodes", "partitions": "tables in parts"}
"""Findings of the doctor's that concern plans."""

_SIZES = """SELECT relname::text, greatest(reltuples, 0)::float8 FROM pg_class
            WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"""
_LARGEST = "SELECT tenant_id, user_id, space, size FROM spaces ORDER BY size DESC LIMIT 1"
_SEQSCAN = "SELECT set_config('enable_seqscan', %s, true)"
_ALL_OF = """SELECT FROM {table} WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND space = %(space)s"""
_OWN = re.compile(r"\b(?:user_id|tsv)\b")
_COLUMN = re.compile(r"\(*(\w+)\)?(?:::\w+)? (?:=|<|>|<=|>=|@@) ")
_SCOPE = {"tenant_id", "user_id", "space"}


@dataclass(frozen=True, slots=True)
class Plan:
    """One statement: which verb issues it, how it is carried out, and what is wrong with that."""

    verb: str
    statement: str
    summary: tuple[str, ...]
    faults: tuple[str, ...]
    forced: bool
    """Its tables are too small for the planner to mind, so it was asked what it would do otherwise."""


@dataclass(frozen=True, slots=True)
class Examination:
    scope: Scope | None
    """As whom the planner was asked; None: nobody has enough for it to care."""
    plans: Sequence[Plan]

    @property
    def ok(self) -> bool:
        return not any(plan.faults for plan in self.plans)


async def examined(url: str, **options: Any) -> Examination:
    """Explain everything, on the database at `url`. Nothing is changed."""
    told = _Told()
    store = await PostgresStore.open(url, pool_size=1, sessions=told.session, **options)
    try:
        await store.system(told.look_around)
        await store.rehearse(SCRATCH, lambda tx: rounds(tx, told.begin))
        await store.system(lambda system: system_rounds(system, told.begin))
        for generation in await store.system(lambda system: system.generations()):
            told.begin("index.dense")
            await store.rehearse(SCRATCH, lambda tx, it=generation: walk(told.latest, it.id, it.dimensions))  # type: ignore[misc]
        for finding in await store.checkup():
            if finding.name in SPREAD and not finding.ok:
                told.explained.append(Plan(finding.name, "", (SPREAD[finding.name],), (finding.detail,), False))
    finally:
        await store.close()
    return Examination(told.largest, told.explained)


def walk(session: PostgresSession | None, generation: str, dimensions: int) -> None:
    """The walk through the graph is for scopes far larger than that of the rounds, so its statement is called by name."""
    assert session is not None
    params = {**owner(SCRATCH), **filter_params(Filter(), AT), "limit": 10, "vector": halfvec([1.0] * dimensions)}
    session.rows(approximate(filter_shape(Filter()), generation, dimensions), params)


class _Told:
    """Listens at sessions: every statement is explained once, under the name of the verb that came first with it."""

    def __init__(self) -> None:
        self.explained: list[Plan] = []
        self.seen: set[str] = set()
        self.verb = "tx.begin"
        self.latest: _Explaining | None = None
        self.largest: Scope | None = None
        self.parts = Parts()

    def begin(self, verb: str) -> None:
        self.verb = verb

    def session(self, connection: Connection, opening: Opening, exact_below: int) -> PostgresSession:
        self.latest = _Explaining(connection, opening, exact_below, self)
        return self.latest

    def look_around(self, _: object) -> None:
        """Who has most, and which tables are in parts."""
        assert self.latest is not None
        found, self.parts = self.latest.unexplained(_LARGEST), self.latest.parts()
        if found and found[0][3] >= MUCH:
            self.largest = Scope(*found[0][:3])


class _Explaining(PostgresSession):
    at_once = True

    def __init__(self, connection: Connection, opening: Opening, exact_below: int, told: _Told) -> None:
        super().__init__(connection, opening, exact_below)
        self._told = told

    def unexplained(self, text: LiteralString) -> list[Row]:
        self._open()
        return self._connection.execute(text).fetchall()

    def parts(self) -> Parts:
        self._open()
        return parts(self._connection)

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        self._open()
        self._explain(text, params)
        super()._execute(text, params)

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._open()
        self._explain(text, params[0])
        super()._execute_many(text, params)

    def _explain(self, text: str, params: Mapping[str, Any]) -> None:
        if text in self._told.seen or "set_config" in text:
            return
        self._told.seen.add(text)
        verb, asked = self._told.verb, {**params, **(owner(self._told.largest) if self._told.largest else {})}
        plan, forced = self._plan(text, asked), False
        if any(True for _ in _end_to_end(plan)) and (verb in WHOLE_SCOPE or self._all_small(plan)):
            self._connection.execute(_SEQSCAN, ["off"])
            plan, forced = self._plan(text, asked), True
            self._connection.execute(_SEQSCAN, ["on"])
        wrong = (*faults(verb, plan, self._tables_with_much(asked, plan)), *self._unpruned(verb, text, params, plan))
        self._told.explained.append(Plan(verb, " ".join(text.split()), tuple(_summary(plan)), wrong, forced))

    def _plan(self, text: str, params: Mapping[str, Any]) -> dict[str, Any]:
        row = self._connection.execute(f"EXPLAIN (FORMAT JSON) {text}".encode(), params).fetchone()
        assert row is not None
        plan: dict[str, Any] = row[0][0]["Plan"]
        return self._told.parts.named(plan)

    def _unpruned(self, verb: str, text: str, params: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[str]:
        """More than one part of a table, with the parameters known and without."""
        if self._told.parts and verb not in EVERYBODY:
            yield from several(plan, "")
            generic = prepared(self._connection, text, params)
            yield from several(self._told.parts.named(generic), " when it is prepared")

    def _all_small(self, plan: Mapping[str, Any]) -> bool:
        sizes: dict[str, float] = dict(self.unexplained(_SIZES))
        return all(sizes.get(table, 0) < SMALL for table in _end_to_end(plan))

    def _tables_with_much(self, params: Mapping[str, Any], plan: Mapping[str, Any]) -> set[str]:
        """Where the planner believes that this user has many rows."""
        if self._told.largest is None:
            return set()
        tables = {table for table in map(_table, _nodes(plan)) if table in PROTECTED}
        return {table for table in tables if self._plan(_ALL_OF.format(table=table), params)["Plan Rows"] >= MUCH}


def faults(verb: str, plan: Mapping[str, Any], much: Container[str]) -> Iterator[str]:
    """What is wrong with a plan, in words; nothing where an index stands behind it. In tables with `much` it must be the right
    one."""
    for node in _nodes(plan):
        kind, table = node["Node Type"], _table(node)
        if table in TINY:
            continue
        if kind == "Seq Scan":
            yield f"reads {table} from end to end"
        if verb in EVERYBODY or not kind.startswith(("Index", "Bitmap Index")) or "Order By" in node:
            continue
        condition = node.get("Index Cond", "")
        if not _OWN.search(condition):
            yield f"walks {node['Index Name']} without naming the user"
        elif verb not in WHOLE_SCOPE and table in much and not set(_COLUMN.findall(condition)) - _SCOPE:
            yield f"reads all that the user has in {table}, by {node['Index Name']}"


def _table(node: Mapping[str, Any]) -> str | None:
    return node.get("Relation Name")


def _end_to_end(plan: Mapping[str, Any]) -> Iterator[str]:
    """Tables, or the parts of them, that are read so."""
    seen = (node.get("Part", node["Relation Name"]) for node in _nodes(plan) if node["Node Type"] == "Seq Scan")
    return (table for table in seen if table not in TINY)


def _summary(plan: Mapping[str, Any]) -> Iterator[str]:
    """How each table is reached, outermost first."""
    for node in _nodes(plan):
        where = node.get("Index Name") or node.get("Relation Name")
        if where is not None and node["Node Type"] not in {"Bitmap Heap Scan", "ModifyTable"}:
            part = node.get("Part")
            yield f"{node['Node Type']} {where}" + (f" of {part}" if part else "")
        elif node["Node Type"] == "ModifyTable":
            yield f"{node['Operation']} {where}"


def _nodes(plan: Mapping[str, Any], table: str | None = None) -> Iterator[Mapping[str, Any]]:
    """All steps, each with its table: that of a bitmap's index is said only by the step above it."""
    table = plan.get("Relation Name", table)
    yield {**plan, "Relation Name": table} if plan["Node Type"].startswith("Bitmap") else plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below, table)
