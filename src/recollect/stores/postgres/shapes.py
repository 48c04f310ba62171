"""What a table is beyond its rows, as the catalogue has it: columns, keys, indexes, policies, rights.

Whoever makes a table anew reads its shape first, makes the new one from it, reads that one's and compares the two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from recollect.stores.postgres.session import Connection

_TABLE: Final = """
SELECT pg_get_userbyid(relowner)::text, relrowsecurity, relforcerowsecurity, coalesce(reloptions, '{}'), relispartition
FROM pg_class WHERE oid = to_regclass(%s)
"""
_COLUMNS: Final = """
SELECT attname::text, format_type(atttypid, atttypmod), attcollation::regcollation::text, attnotnull, attstorage::text,
       attgenerated::text, pg_get_expr(adbin, adrelid), coalesce(attstattarget, -1)::int
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
# A key into a table in parts is kept once more for each part: those are the server's own.
_CONSTRAINTS: Final = """
SELECT conname::text, contype::text, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE (conrelid = to_regclass(%(table)s) OR (contype = 'f' AND confrelid = to_regclass(%(table)s)))
  AND contype IN ('p', 'u', 'f', 'c') AND conparentid = 0 ORDER BY conname, conrelid
"""
# An index that was left unfinished is as good as none.
_INDEXES: Final = """
SELECT c.relname::text, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = to_regclass(%s) AND i.indisvalid
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u', 'x'))
ORDER BY c.relname
"""
_POLICIES: Final = """
SELECT policyname::text, permissive, roles::text[], cmd, qual, with_check FROM pg_policies
WHERE schemaname = current_schema() AND tablename = %s ORDER BY policyname
"""
_RIGHTS: Final = """
SELECT CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee)::text END, a.privilege_type, a.is_grantable
FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = to_regclass(%s) AND a.grantee <> c.relowner ORDER BY 1, 2
"""
_BEYOND: Final = """
SELECT 'a trigger' FROM pg_trigger WHERE tgrelid = to_regclass(%(table)s) AND NOT tgisinternal
UNION SELECT 'a rule' FROM pg_rewrite WHERE ev_class = to_regclass(%(table)s)
UNION SELECT 'a publication' FROM pg_publication_rel WHERE prrelid = to_regclass(%(table)s)
UNION SELECT 'statistics of several columns' FROM pg_statistic_ext WHERE stxrelid = to_regclass(%(table)s)
UNION SELECT 'rights on single columns' FROM pg_attribute WHERE attrelid = to_regclass(%(table)s) AND attacl IS NOT NULL
UNION SELECT 'a view' FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
  WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = to_regclass(%(table)s) AND r.ev_class <> to_regclass(%(table)s)
"""

_TIED: Final = """
WITH ours AS (SELECT to_regclass(name)::oid AS oid FROM unnest(%s::text[]) AS t(name))
SELECT DISTINCT c.oid::regclass::text FROM pg_constraint k JOIN pg_class c ON c.oid IN (k.conrelid, k.confrelid)
WHERE k.contype = 'f' AND k.conparentid = 0 AND (k.conrelid IN (TABLE ours) OR k.confrelid IN (TABLE ours))
  AND c.oid NOT IN (TABLE ours) AND c.relforcerowsecurity ORDER BY 1
"""

Column = tuple[str, str, str, bool, str, str, str | None, int]
"""Name, type, collation, whether it must be there, storage, whether it is generated, from what, and how closely it is sampled."""
Policy = tuple[str, str, list[str], str, str | None, str | None]
"""Name, whether it adds or narrows, for whom, for which command, which rows are seen and which may be written."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A table without its rows. `options` and `part` are of the files it lies in, which change; all else must not."""

    name: str
    owner: str
    guarded: tuple[bool, bool]
    """Row-level security: enabled, forced."""
    columns: list[Column]
    constraints: list[tuple[str, str, str, str]]
    """Name, sort (as in pg_constraint), of which table, definition; also those of others that refer to this one."""
    indexes: list[tuple[str, str]]
    policies: list[Policy]
    rights: list[tuple[str, str, bool]]
    options: list[str]
    part: bool

    def differs(self, other: Shape) -> list[str]:
        """In what, by name."""
        kept = ("owner", "guarded", "columns", "constraints", "indexes", "policies", "rights")
        return [each for each in kept if getattr(self, each) != getattr(other, each)]


def shape(connection: Connection, table: str) -> Shape:
    """As the table is now. Ask within the transaction that holds it."""
    row = connection.execute(_TABLE, [table]).fetchone()
    assert row is not None
    owner, enabled, forced, options, part = row

    def all_of(statement: LiteralString, params: Any = None) -> list[Any]:
        return connection.execute(statement, params or [table]).fetchall()

    return Shape(
        table,
        owner,
        (enabled, forced),
        all_of(_COLUMNS),
        all_of(_CONSTRAINTS, {"table": table}),
        all_of(_INDEXES),
        all_of(_POLICIES),
        all_of(_RIGHTS),
        options,
        part,
    )


def tied(connection: Connection, tables: Collection[str]) -> list[str]:
    """Other tables that foreign keys tie them to, under forced policies."""
    return [name for (name,) in connection.execute(_TIED, [list(tables)])]


def beyond(connection: Connection, tables: Collection[str]) -> dict[str, list[str]]:
    """What hangs on tables that no shape has: it is somebody's own, and would be lost."""
    found = {table: [row[0] for row in connection.execute(_BEYOND, {"table": table})] for table in tables}
    return {table: things for table, things in found.items() if things}
