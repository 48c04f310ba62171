"""How much room a memory takes, as the database at hand has it: rows, indexes, words, vector, graph.

Sizes are those of the files; counts are the planner's, brought up to date first where the role may (they are within a percent
or so, and counting a hundred million rows would take longer than anybody waits). What it says holds for rows like those that are
there: fill a database with what you will store, then ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.stores.migrations.postgres_ddl import OPEN, PROTECTED
from recollect.stores.postgres.files import FILES, maintains
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.session import Connection

PLANNED: Final = (1_000_000, 10_000_000, 100_000_000)
GIB: Final = 1024**3

# Of a table in parts the sums, under its own name and those of its indexes.
_RELATIONS = f"""
WITH files AS ({FILES})
SELECT name, NULL, NULL, sum(greatest(c.reltuples, 0))::float8, sum(pg_table_size(c.oid))::bigint
FROM files f JOIN pg_class c ON c.oid = f.oid WHERE f.relkind = 'r' GROUP BY name
UNION ALL
SELECT name, i.relname::text, a.amname::text, sum(greatest(c.reltuples, 0))::float8, sum(pg_relation_size(c.oid))::bigint
FROM files f JOIN pg_index x ON x.indrelid = f.oid JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am a ON a.oid = c.relam
LEFT JOIN pg_inherits h ON h.inhrelid = c.oid JOIN pg_class i ON i.oid = coalesce(h.inhparent, c.oid)
WHERE f.relkind = 'r' GROUP BY name, i.relname, a.amname
ORDER BY 1, 2 NULLS FIRST
"""
_NAMES = {"gin": "words", "hnsw": "graph"}
_OF_A_MEMORY = ("memories", "slots", "entries", "embeddings")
_SEVERAL = {"slots": "memories"}
"""Tables with several rows for each of another's."""


@dataclass(frozen=True, slots=True)
class Room:
    """Gigabytes (2^30) for so many memories."""

    memories: int
    outside: float
    """With nobody in the graph."""
    inside: float
    """With everybody in it; as much as outside where there is no graph to measure."""
    changing: float
    """More, for as long as two models have their vectors."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file: a table's rows, or an index."""

    table: str
    index: str | None
    kind: str
    """`rows`, `keys` (B-trees), `words` (the full-text index) or `graph` (vectors of large scopes)."""
    rows: int
    bytes: int

    @property
    def each(self) -> float:
        return self.bytes / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Sizes:
    parts: Sequence[Part]

    @property
    def counts(self) -> Mapping[str, int]:
        return {part.table: part.rows for part in self.parts if part.index is None}

    @property
    def per_memory(self) -> Mapping[str, float]:
        """Bytes of one memory with its entry and its vector. A B-tree may hold some of the rows only, so it is shared out among
        all; the graph counts for those that are in it."""
        found: dict[str, float] = {}
        for part in self.parts:
            if part.table in _OF_A_MEMORY and (rows := self.counts.get(_SEVERAL.get(part.table, part.table), 0)):
                among = max(part.rows, 1) if part.kind == "graph" else rows
                name = f"{part.table}: {part.kind}"
                found[name] = found.get(name, 0.0) + (0.0 if not part.rows else part.bytes / among)
        return found

    @property
    def planned(self) -> Sequence[Room]:
        """What that comes to for many."""
        each = self.per_memory
        graph = sum(size for name, size in each.items() if name.endswith("graph"))
        outside = sum(each.values()) - graph
        vectors = sum(
            size for name, size in each.items() if name.startswith("embeddings") and not name.endswith("graph")
        )
        return [
            Room(many, outside * many / GIB, (outside + graph) * many / GIB, vectors * many / GIB) for many in PLANNED
        ]

    @property
    def said(self) -> str:
        if not any(self.per_memory.values()):
            return "no memory is known of: store some, or have the owner run ANALYZE, then ask again"
        graph = sum(each for name, each in self.per_memory.items() if name.endswith("graph"))
        outside = sum(self.per_memory.values()) - graph
        inside = f", {graph:,.0f} more in the graph" if graph else ""
        return f"from {self.counts.get('memories', 0):,} memories: {outside:,.0f} bytes each{inside}"


async def measured(url: str) -> Sizes:
    """Measure the database at `url`."""
    pool = Pool(url, 1, 600_000, 5, 10.0)
    try:
        await pool.open()
        return await pool.outside(_measured)
    finally:
        await pool.close()


def _measured(connection: Connection) -> Sizes:
    tables = [*PROTECTED, *OPEN]
    if connection.info.server_version >= 170_000 and maintains(connection, tables):
        connection.execute(f"ANALYZE {', '.join(tables)}".encode())
    parts = [
        Part(table, index, "rows" if index is None else _NAMES.get(method, "keys"), round(rows), size)
        for table, index, method, rows, size in connection.execute(_RELATIONS, [tables])
    ]
    return Sizes(parts)
