"""The files a table lies in: its own, and those of its parts where it is divided (see `partitions`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, LiteralString

from recollect.stores.postgres.session import Connection

FILES: Final[LiteralString] = """
  SELECT t.name, c.oid, c.relkind FROM unnest(%s::text[]) AS t(name), LATERAL (
    SELECT to_regclass(t.name)::oid UNION ALL SELECT h.inhrelid FROM pg_inherits h WHERE h.inhparent = to_regclass(t.name)
  ) AS f(oid) JOIN pg_class c ON c.oid = f.oid
"""
"""Every table named, and every part of it, by the table's name. The table of parts has no file: it counts for rights."""

_MAY: Final[LiteralString] = f"SELECT bool_and(has_table_privilege(f.oid, 'MAINTAIN')) FROM ({FILES}) AS f"


def maintains(connection: Connection, tables: Collection[str]) -> bool:
    """Whether the role may clean and measure all of them, on a server that has such a right. VACUUM passes over a part where it
    is missing, and says nothing."""
    row = connection.execute(_MAY, [list(tables)]).fetchone()
    return row is not None and bool(row[0])
