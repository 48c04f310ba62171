"""The large tables of one server in parts: hash partitions by `user_id`, so that all a user has lies in one part of each.

The tables need nothing for it: `user_id` is in every primary key and every statement, so the planner, or a prepared statement as
it starts, leaves out all parts but one. Only the application's way to a part is through its table, where the policies are: on a
part itself it has no right but to maintain it (VACUUM asks for that on each), and whoever has more finds no row there.

A table is made anew from its `shape`, in one transaction that holds all of them: rows, keys, indexes, policies and rights are
compared before it ends. Two functions ask how large a table is or what indexes it has; they are written anew to ask its parts.
What a later revision makes is whole until this is run again, which divides what is not divided yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

import psycopg
from psycopg import sql

from recollect.errors import Broken, Conflict, Unavailable, Unsupported
from recollect.stores.migrations.postgres_ddl import DROP_LEFTOVERS, PINNED_PATH, WHILE_SMALL
from recollect.stores.migrations.run import ADVISORY_LOCK, PATIENCE_MS
from recollect.stores.postgres import citus
from recollect.stores.postgres.errors import translated
from recollect.stores.postgres.session import Connection
from recollect.stores.postgres.shapes import Policy, Shape, beyond, shape, tied

COLUMN: Final = "user_id"
FIRST: Final = "entries"
PARTED: Final = ("memories", "slots", "messages", "uses", FIRST, "embeddings", "audit_events")
"""Those that grow with every memory and every turn. All others together are a few percent of a database."""

WHOLE: Final = "_whole"
"""What a table's name ends in while its rows are copied."""

Tell = Callable[[int, int], None]
"""Is told how many statements are done and how many there are."""

_PARTED = """
SELECT c.relname::text, count(h.inhrelid)::int FROM pg_class c LEFT JOIN pg_inherits h ON h.inhparent = c.oid
WHERE c.oid = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS t(name)) AND c.relkind = 'p' GROUP BY c.relname
"""
_THERE = (
    "SELECT name FROM unnest(%s::text[]) WITH ORDINALITY AS t(name, n) WHERE to_regclass(name) IS NOT NULL ORDER BY n"
)
_UNAWARE = """
SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = ANY (%s::text[])
  AND p.prosrc NOT LIKE '%%pg_inherits%%' ORDER BY p.proname
"""
_PARTS = """
SELECT h.inhrelid::regclass::text FROM pg_inherits h WHERE h.inhparent = to_regclass(%s) ORDER BY h.inhrelid::regclass::text
"""
_OPEN = """
SELECT DISTINCT c.oid::regclass::text FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
WHERE h.inhparent = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS t(name))
  AND (NOT (c.relrowsecurity AND c.relforcerowsecurity) OR EXISTS (
    SELECT FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner AND a.privilege_type <> 'MAINTAIN'))
ORDER BY 1
"""

# A part's index is known by that of the table, if it has one there.
_WHOLE_SIZE: Final = "pg_table_size('embeddings')"
_PARTS_SIZE: Final = (
    "(SELECT sum(pg_table_size(t.oid)) FROM pg_class t WHERE t.oid = 'embeddings'::regclass\n"
    "      OR t.oid IN (SELECT h.inhrelid FROM pg_inherits h WHERE h.inhparent = 'embeddings'::regclass))"
)
_WHOLE_LEFTOVERS: Final = """i.indrelid = 'entries'::regclass AND NOT i.indisvalid
      AND c.relname ~ '^entries_tsv_cc(new|old)[0-9]*$' AND rebuilt = 'entries_tsv'"""
_PARTS_LEFTOVERS: Final = """NOT i.indisvalid AND rebuilt = 'entries_tsv'
      AND i.indrelid IN (SELECT h.inhrelid FROM pg_inherits h WHERE h.inhparent = 'entries'::regclass)
      AND c.relname ~ '_cc(new|old)[0-9]*$'"""
REWRITTEN: Final[Mapping[str, tuple[str, str, str]]] = {
    "recollect_prepare_generation": (WHILE_SMALL, _WHOLE_SIZE, _PARTS_SIZE),
    "recollect_drop_leftovers": (DROP_LEFTOVERS, _WHOLE_LEFTOVERS, _PARTS_LEFTOVERS),
}


def parted(connection: Connection) -> dict[str, int]:
    """Tables that are in parts, and in how many."""
    return dict(connection.execute(_PARTED, [list(PARTED)]).fetchall())


def parts_of(connection: Connection, table: str) -> list[str]:
    """Its parts by name; none where it is whole."""
    return [name for (name,) in connection.execute(_PARTS, [table])]


def left_behind(connection: Connection) -> list[str]:
    """What a revision has made since the others were divided: tables that are whole, functions that know of no parts."""
    there = parted(connection)
    if FIRST not in there:
        return []
    tables = [name for (name,) in connection.execute(_THERE, [list(PARTED)]) if name not in there]
    return tables + [name for (name,) in connection.execute(_UNAWARE, [list(REWRITTEN)])]


def laid_open(connection: Connection) -> list[str]:
    """Parts that somebody may reach past the policies of their table."""
    return [name for (name,) in connection.execute(_OPEN, [list(PARTED)])]


async def divide(owner_url: str, parts: int, tell: Tell, *, dry_run: bool = False) -> list[str]:
    """Divide what is whole into `parts`; which statements that took, or would. `Conflict` when nothing is."""
    return await asyncio.to_thread(_divide, owner_url, parts, tell, dry_run)


def _divide(owner_url: str, parts: int, tell: Tell, dry_run: bool) -> list[str]:
    with translated(), psycopg.connect(owner_url) as connection:
        tables = _whole(connection, parts)
        if dry_run:
            return _planned(connection, [shape(connection, table) for table in tables], parts)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])
        tables = _whole(connection, parts)
        _own(connection)
        if tables:
            # Whoever waits for a table has everybody else wait behind.
            connection.execute("SELECT set_config('lock_timeout', %s, true)", [str(PATIENCE_MS)])
            held = ", ".join((*tied(connection, tables), *tables))
            connection.execute(f"LOCK TABLE {held} IN ACCESS EXCLUSIVE MODE".encode())
        connection.execute("SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)")
        before = [shape(connection, table) for table in tables]
        done = _planned(connection, before, parts)
        for number, statement in enumerate(done):
            tell(number, len(done))
            connection.execute(statement.encode())
        _compare(connection, before)
    return done


def _whole(connection: Connection, parts: int) -> list[str]:
    """Those to be divided."""
    if citus.installed(connection):
        raise Unsupported("this database is a Citus cluster's, which has parts of its own: `recollect db distribute`")
    there = [name for (name,) in connection.execute(_THERE, [list(PARTED)])]
    if FIRST not in there:
        raise Unavailable("the database has no Recollect tables; run `recollect db upgrade` with the owner's URL")
    already = parted(connection)
    if FIRST in already and not left_behind(connection):
        raise Conflict(f"the tables are in {already[FIRST]} parts already")
    if FIRST in already and already[FIRST] != parts:
        raise Conflict(f"the other tables are in {already[FIRST]} parts: say `--parts {already[FIRST]}`")
    whole = [table for table in there if table not in already]
    if lost := beyond(connection, whole):
        said = "; ".join(f"{table} has {' and '.join(things)}" for table, things in lost.items())
        raise Unsupported(f"{said}: not Recollect's own, and it would be lost. Drop it, and make it again afterwards")
    return whole


def _planned(connection: Connection, tables: Sequence[Shape], parts: int) -> list[str]:
    unaware = [name for (name,) in connection.execute(_UNAWARE, [list(REWRITTEN)])]
    return list(statements(tables, parts, tied(connection, [table.name for table in tables]), unaware))


def _own(connection: Connection) -> None:
    """Go on as whoever owns the tables, so that the new ones are theirs, too: an administrator may, others are refused."""
    row = connection.execute("SELECT relowner::regrole::text FROM pg_class WHERE oid = to_regclass(%s)", [FIRST])
    for (owner,) in row:
        connection.execute(f"SET LOCAL ROLE {owner}".encode())


def _compare(connection: Connection, before: Sequence[Shape]) -> None:
    """Rows were counted by the statements; this is about all else."""
    for was in before:
        if lost := was.differs(shape(connection, was.name)):
            raise Broken(f"{was.name} would not be the same in parts ({', '.join(lost)}); nothing was changed")


def statements(
    tables: Sequence[Shape], parts: int, others: Collection[str], functions: Collection[str]
) -> Iterator[str]:
    """What the owner runs, in one transaction that holds the tables and those `others` that foreign keys tie them to."""
    foreign = {each[:1] + each[2:]: None for table in tables for each in table.constraints if each[1] == "f"}
    for name, of, _ in foreign:
        yield f"ALTER TABLE {of} DROP CONSTRAINT {_id(name)}"
    for table in tables:
        yield from _copied(table, parts)
    for table in tables:
        yield from _indexed(table)
    # Under forced policies not even its owner would see what a row refers to, nor what is to be copied.
    yield from (f"ALTER TABLE {other} NO FORCE ROW LEVEL SECURITY" for other in others)
    for name, of, definition in foreign:
        yield f"ALTER TABLE {of} ADD CONSTRAINT {_id(name)} {definition}"
    yield from (f"ALTER TABLE {other} FORCE ROW LEVEL SECURITY" for other in others)
    for table in tables:
        yield from _guarded(table, parts)
    if tables:
        # Nobody else does: autovacuum looks after parts only.
        yield f"ANALYZE {', '.join(table.name for table in tables)}"
    yield from rewritten(functions)


def _copied(table: Shape, parts: int) -> Iterator[str]:
    name, whole = table.name, table.name + WHOLE
    options = f" WITH ({', '.join(table.options)})" if table.options else ""
    columns = ", ".join(_id(column[0]) for column in table.columns if not column[5])
    yield f"ALTER TABLE {name} RENAME TO {whole}"
    yield f"ALTER TABLE {whole} NO FORCE ROW LEVEL SECURITY"
    yield f"CREATE TABLE {name} (LIKE {whole} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH ({COLUMN})"
    for number in range(parts):
        bounds = f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {number})"
        yield f"CREATE TABLE {part(name, number)} PARTITION OF {name} {bounds}{options}"
    for column in table.columns:
        if column[7] != -1:
            yield f"ALTER TABLE {name} ALTER COLUMN {_id(column[0])} SET STATISTICS {column[7]}"
    yield f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {whole}"
    yield (
        f"DO $$ BEGIN IF (SELECT count(*) FROM {name}) <> (SELECT count(*) FROM {whole}) THEN "
        f"RAISE EXCEPTION 'not all rows of {name} were copied'; END IF; END $$"
    )
    yield f"DROP TABLE {whole}"


def _indexed(table: Shape) -> Iterator[str]:
    for name, sort, of, definition in table.constraints:
        if sort in "pu" and of == table.name:
            yield f"ALTER TABLE {table.name} ADD CONSTRAINT {_id(name)} {definition}"
    for _, definition in table.indexes:
        yield definition


def _guarded(table: Shape, parts: int) -> Iterator[str]:
    yield _REVOKED.format(table=table.name)
    for each in (table.name, *(part(table.name, number) for number in range(parts))):
        if table.guarded[0]:
            yield f"ALTER TABLE {each} ENABLE ROW LEVEL SECURITY"
        if table.guarded[1]:
            yield f"ALTER TABLE {each} FORCE ROW LEVEL SECURITY"
    yield from (_policy(table.name, each) for each in table.policies)
    for who, right, passed_on in table.rights:
        to = who if who == "public" else _id(who)
        yield f"GRANT {right} ON {table.name} TO {to}{' WITH GRANT OPTION' if passed_on else ''}"
        if right == "MAINTAIN":
            # VACUUM asks for it on every part, and passes over those where it isn't given.
            names = ", ".join(part(table.name, number) for number in range(parts))
            yield f"GRANT MAINTAIN ON {names} TO {to}"


# What the owner gives away on all new tables must not open the parts.
_REVOKED = """DO $$
DECLARE each record;
BEGIN
  FOR each IN
      SELECT DISTINCT c.oid::regclass AS name, CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END AS who
      FROM pg_class c, aclexplode(c.relacl) a
      WHERE a.grantee <> c.relowner AND (c.oid = '{table}'::regclass
        OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '{table}'::regclass)) LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', each.name, each.who);
  END LOOP;
END $$"""


def _policy(table: str, policy: Policy) -> str:
    name, permissive, roles, command, seen, written = policy
    to = ", ".join(who if who == "public" else _id(who) for who in roles)
    using = f" USING ({seen})" if seen is not None else ""
    check = f" WITH CHECK ({written})" if written is not None else ""
    return f"CREATE POLICY {_id(name)} ON {table} AS {permissive} FOR {command} TO {to}{using}{check}"


def rewritten(functions: Collection[str]) -> Iterator[str]:
    """The functions that ask what a table's files are, asking its parts."""
    for function in functions:
        text, whole, in_parts = REWRITTEN[function]
        assert whole in text
        text = text.strip().replace(whole, in_parts)
        yield text if "OR REPLACE" in text else text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
        yield PINNED_PATH.format(function=function).strip()  # a replaced function loses its settings


def part(table: str, number: int) -> str:
    return f"{table}_p{number:03}"


def _id(name: str) -> str:
    return sql.Identifier(name).as_string()
