"""Which parts of a table a plan touches, where tables are in parts (see `partitions`).

A statement is planned in two ways. With its parameters known, the planner leaves out the parts that can't have the user's rows;
prepared, with a plan for any parameters, they are left out when it starts. Both are asked, and both must come to one part of each
table. Inserting is no reading: a row goes to the part that is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import sql
from psycopg.adapt import PyFormat

from recollect.stores.postgres.session import Connection
from recollect.stores.postgres.wire import Halfvec, vector

_TABLES: Final = """
SELECT c.relname::text, p.relname::text
FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid JOIN pg_class p ON p.oid = h.inhparent
WHERE p.relnamespace = current_schema()::regnamespace AND p.relkind IN ('p', 'I')
"""
_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_GENERIC: Final = "SELECT set_config('plan_cache_mode', %s, true)"
_NAME: Final = "recollect_asked"


@dataclass(frozen=True, slots=True)
class Parts:
    """Of which table each part is, and of which index each index of a part."""

    whole: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.whole)

    def named(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        """The plan in the names of tables and their indexes; the part stands beside, as `Part`."""
        said = dict(plan)
        if (table := plan.get("Relation Name", "")) in self.whole:
            said |= {"Relation Name": self.whole[table], "Part": table}
        if (index := plan.get("Index Name", "")) in self.whole:
            said["Index Name"] = self.whole[index]
        if "Plans" in plan:
            said["Plans"] = [self.named(each) for each in plan["Plans"]]
        return said


def parts(connection: Connection) -> Parts:
    return Parts(dict(connection.execute(_TABLES).fetchall()))


def several(plan: Mapping[str, Any], how: str) -> Iterator[str]:
    """What is wrong with a plan (with its tables `named`) that reads more than one part of a table."""
    read: dict[str, set[str]] = {}
    for node in _readers(plan):
        read.setdefault(node["Relation Name"], set()).add(node["Part"])
    for table, found in read.items():
        if len(found) > 1:
            yield f"reads {len(found)} partitions of {table}{how}"


def _readers(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "Part" in plan and plan["Node Type"] != "ModifyTable":
        yield plan
    for below in plan.get("Plans", ()):
        yield from _readers(below)


def prepared(connection: Connection, text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The plan of a prepared statement for any parameters, as it starts with these."""
    names = list(dict.fromkeys(_PARAMETER.findall(text)))
    numbered = _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%")
    types = ", ".join(_type(connection, params[name]) for name in names)
    values = ", ".join(_literal(connection, params[name]) for name in names)
    connection.execute(_GENERIC, ["force_generic_plan"])
    connection.execute(f"PREPARE {_NAME}{f'({types})' if types else ''} AS {numbered}".encode())
    given = f"({values})" if values else ""
    row = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {_NAME}{given}".encode()).fetchone()
    connection.execute(f"DEALLOCATE {_NAME}".encode())
    connection.execute(_GENERIC, ["auto"])
    assert row is not None
    plan: dict[str, Any] = row[0][0]["Plan"]
    return plan


def _literal(connection: Connection, value: Any) -> str:
    if isinstance(value, Halfvec):
        return "'[" + ",".join(map(str, vector(value).tolist())) + "]'"
    return sql.Literal(value).as_string(connection)


def _type(connection: Connection, value: Any) -> str:
    """As the driver sends it: what it leaves to the server to find out, it leaves here, too."""
    dumper = connection.adapters.get_dumper(type(value), PyFormat.AUTO)
    known = connection.adapters.types.get(dumper.oid) if dumper.oid else None
    return known.name if known else "unknown"
