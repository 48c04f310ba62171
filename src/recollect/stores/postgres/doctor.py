"""Is this server fit to hold memories? The checks a store makes before it starts, and the longer list for `recollect doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, LiteralString, NamedTuple

from recollect.errors import NotAllowed, Unavailable
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import FUNCTIONS, LARGE, OPEN, PROTECTED
from recollect.stores.postgres import partitions
from recollect.stores.postgres.citus import FIRST, left_behind, placed
from recollect.stores.postgres.indexing import graphs
from recollect.stores.postgres.session import Connection

OLDEST_SERVER = 150_000
OLDEST_PGVECTOR = (0, 7)

_POWERS = """
SELECT current_user::text, r.rolsuper, r.rolbypassrls,
       EXISTS (SELECT FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relname = ANY (%s::text[])
               AND c.relnamespace = current_schema()::regnamespace AND pg_has_role(current_user, c.relowner, 'USAGE'))
FROM pg_roles r WHERE r.rolname = current_user
"""
_GUARDED = """
SELECT c.relname::text, c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)
FROM pg_class c WHERE c.oid = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS t(name))
"""
_RIGHTS = """
SELECT name || ': ' || right_ FROM unnest(%s::text[]) AS t(name), unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS r(right_)
WHERE to_regclass(name) IS NULL OR NOT has_table_privilege(to_regclass(name), right_)
UNION ALL
SELECT name || ': EXECUTE' FROM unnest(%s::text[]) AS f(name)
WHERE to_regprocedure(name || '(text)') IS NULL OR NOT has_function_privilege(to_regprocedure(name || '(text)'), 'EXECUTE')
"""
_REVISION = "SELECT version_num FROM alembic_version"
_REVISION_SHOWN = "SELECT has_table_privilege(to_regclass('alembic_version'), 'SELECT')"
_PGVECTOR = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_OWED_HOURS = "SELECT (extract(epoch FROM now() - min(at)) / 3600)::float8 FROM scrubs"
_LEAKPROOF = "SELECT proleakproof FROM pg_proc WHERE oid = 'ts_match_vq(tsvector,tsquery)'::regprocedure"


class Finding(NamedTuple):
    name: str
    ok: bool
    detail: str


def refuse_privileged(connection: Connection) -> None:
    """Row-level security does not bind everyone. Whoever it does not bind must not serve users."""
    powers = role(connection)
    if not powers.ok:
        raise NotAllowed(
            f"{powers.detail}. Connect as a plain role: CREATE ROLE app LOGIN PASSWORD '…'; "
            "GRANT recollect_app TO app; (or pass allow_privileged=True, for experiments only)"
        )


def refuse_unready(connection: Connection) -> None:
    """An older schema and missing tables or rights are said at the start, all at once, with what to do about them. A newer schema
    is none of that: while an upgrade is rolled out, the version before works on it (a test holds every revision to that)."""
    if _value(connection, "SELECT to_regclass('spaces') IS NULL"):
        raise Unavailable("the database has no Recollect tables; run `recollect db upgrade` with the owner's URL")
    at, head = _value(connection, _REVISION) if _value(connection, _REVISION_SHOWN) else None, migrations.head()
    if at is not None and at < head:
        raise Unavailable(
            f"the schema is at {at} and this version needs {head}: run `recollect db upgrade` first", at=at
        )
    lacking = rights(connection)
    if not lacking.ok:
        raise NotAllowed(
            f"{lacking.detail}. The owner runs GRANT recollect_app TO this role, or `recollect db upgrade`"
        )


def checkup(connection: Connection) -> list[Finding]:
    return list(_findings(connection))


def _findings(connection: Connection) -> Iterator[Finding]:
    version = connection.info.server_version
    yield Finding(
        "server", version >= OLDEST_SERVER, f"Postgres {version // 10_000}.{version % 10_000}; 15 or newer is needed"
    )
    pgvector = _value(connection, _PGVECTOR)
    fresh = pgvector is not None and tuple(map(int, pgvector.split(".")[:2])) >= OLDEST_PGVECTOR
    yield Finding("pgvector", fresh, f"{pgvector or 'missing'}; 0.7 or newer is needed (CREATE EXTENSION vector)")
    yield migration(connection)
    yield role(connection)
    yield rights(connection)
    guarded: dict[str, bool] = dict(connection.execute(_GUARDED, [list(PROTECTED)]).fetchall())
    for table in PROTECTED:
        ok = bool(guarded.get(table))
        yield Finding(f"row-level security on {table}", ok, "enabled and forced" if ok else "not enabled and forced")
    yield graph(connection)
    yield from cluster(connection)
    yield from in_parts(connection)
    yield files(connection)
    leakproof = bool(_value(connection, _LEAKPROOF))
    advice = "for scopes beyond 10,000 entries an administrator may run ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF"
    yield Finding("full-text index", True, "used under row-level security" if leakproof else f"bypassed: {advice}")


def role(connection: Connection) -> Finding:
    row = connection.execute(_POWERS, [list(PROTECTED)]).fetchone()
    assert row is not None
    name, superuser, bypasses, owns = row
    powers = [
        power
        for power, held in (("is a superuser", superuser), ("has BYPASSRLS", bypasses), ("owns the tables", owns))
        if held
    ]
    if not powers:
        return Finding("role", True, f"{name} is a plain role")
    return Finding("role", False, f"the role {name} {' and '.join(powers)}: row-level security would not protect users")


def rights(connection: Connection) -> Finding:
    lacking = [row[0] for row in connection.execute(_RIGHTS, [list(PROTECTED + OPEN), list(FUNCTIONS)])]
    if not lacking:
        return Finding("rights", True, "all that are needed")
    return Finding("rights", False, f"the role lacks {len(lacking)} rights, among them {', '.join(lacking[:3])}")


def graph(connection: Connection) -> Finding:
    """Those with many memories are searched through an index of vectors, or else all of theirs are compared with the question."""
    lacking = [each.generation for each in graphs(connection) if not each.valid]
    large = _value(connection, f"SELECT count(*) FROM spaces WHERE size >= {LARGE}")
    if not lacking:
        return Finding("vector index", True, "one for each generation")
    missing = f"missing for {', '.join(lacking)}"
    if not large:
        return Finding("vector index", True, f"{missing}; nobody has so many memories that it matters")
    return Finding(
        "vector index", False, f"{missing}, and {large} spaces are large: the owner runs `recollect db index`"
    )


def cluster(connection: Connection) -> Iterator[Finding]:
    """On a Citus cluster alone: a table that an upgrade has made is the coordinator's until it is dealt out like the others."""
    if FIRST in placed(connection):
        behind = left_behind(connection)
        advice = f"on the coordinator alone: {', '.join(behind)}; the owner runs `recollect db distribute` again"
        yield Finding("cluster", not behind, advice if behind else "every table is spread over the nodes")


def in_parts(connection: Connection) -> Iterator[Finding]:
    """Where the large tables are divided: what an upgrade has made is whole, and nobody reaches a part past its table."""
    there = partitions.parted(connection)
    if partitions.FIRST not in there:
        return
    many = there[partitions.FIRST]
    behind, open = partitions.left_behind(connection), partitions.laid_open(connection)
    if open:
        said = f"somebody has rights on {', '.join(open[:3])} itself, or it has no row-level security: REVOKE ALL ON it"
    elif behind:
        said = f"not in parts: {', '.join(behind)}; the owner runs `recollect db partition --parts {many}` again"
    else:
        said = f"large tables are in {many}, by user"
    yield Finding("partitions", not behind and not open, said)


def files(connection: Connection) -> Finding:
    """What was removed is to leave the files, too; of large tables a worker sees to that (see `scrubbing`)."""
    hours = _value(connection, _OWED_HOURS)
    if hours is None:
        return Finding("files", True, "free of what was removed, as far as this server lets us clean them")
    return Finding("files", hours < 24, f"owed a scrub for {hours:,.1f} hours, which a worker does: docs/operations.md")


def migration(connection: Connection) -> Finding:
    found = _value(connection, _REVISION)
    head = migrations.head()
    return Finding("migrations", found == head, f"at {found}; the newest is {head}")


def pool_state(stats: Mapping[str, int]) -> Finding:
    waiting = stats.get("requests_waiting", 0)
    size, most = stats.get("pool_size", 0), stats.get("pool_max", 0)
    return Finding("connections", waiting < most, f"{size} of at most {most} open, {waiting} requests waiting")


def _value(connection: Connection, statement: LiteralString) -> Any:
    row = connection.execute(statement).fetchone()
    return None if row is None else row[0]
