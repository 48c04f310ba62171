"""The schema's history, for both dialects: `upgrade`, `current`, `head`, `check`.

A URL is `postgresql://…`, `sqlite:///path` or just a path. Opening a store whose schema is current never
comes here, and Alembic is imported only when there is something to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.pool import StaticPool

from recollect.stores.migrations.files import connect
from recollect.stores.migrations.head import HEAD
from recollect.stores.sql.expressions import SCOPE
from recollect.stores.sql.tables import KEYS, OPERATORS_KEYS, metadata

__all__ = ["check", "current", "head", "upgrade"]

_VERSION_TABLE = "alembic_version"


def head() -> str:
    """The revision this code expects."""
    return HEAD


def upgrade(url: str | Path, revision: str = "head", *, app_role: str | None = None) -> None:
    """Bring a database to `revision`; rows are kept. On Postgres `url` is the owner's and `app_role` gets the
    rights.
    """
    from recollect.stores.migrations import run  # Alembic takes a third of a second to import

    if (path := _sqlite_path(url)) is not None:
        with closing(connect(path)) as connection:
            run.upgrade_sqlite(connection, revision)
    else:
        run.upgrade_postgres(_with_driver(str(url)), revision, app_role)


def current(url: str | Path) -> str | None:
    """The revision a database is at; None when it has none."""
    with _connected(url) as connection:
        if not inspect(connection).has_table(_VERSION_TABLE):
            return None
        return connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()


def check(url: str | Path) -> list[str]:
    """What a live schema lacks or has beyond what this code expects, in words; nothing when all is well."""
    found = current(url)
    if found is None:
        return ["the database has no Recollect schema"]
    differences = [] if found == HEAD else [f"the schema is at revision {found}; this version expects {HEAD}"]
    with _connected(url) as connection:
        return [*differences, *_differences(connection)]


def _differences(connection: Connection) -> Iterator[str]:
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    for name, table in metadata.tables.items():
        if name not in there:
            yield f"table {name} is missing"
            continue
        live = {column["name"]: bool(column["nullable"]) for column in inspector.get_columns(name)}
        for column in table.c:
            if column.name not in live:
                yield f"column {name}.{column.name} is missing"
            elif live[column.name] != column.nullable:
                yield f"column {name}.{column.name} differs in whether it may be empty"
        key = (*SCOPE, *KEYS[name]) if name in KEYS else OPERATORS_KEYS.get(name, ("id",))
        unique = [constraint["column_names"] for constraint in inspector.get_unique_constraints(name)]
        if list(key) not in [inspector.get_pk_constraint(name)["constrained_columns"], *unique]:
            yield f"table {name} is not keyed by {', '.join(key)}"


@contextmanager
def _connected(url: str | Path) -> Iterator[Connection]:
    path = _sqlite_path(url)
    if path is None:
        engine = create_engine(_with_driver(str(url)))
    elif path.exists():
        read_only = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        engine = create_engine("sqlite://", creator=lambda: read_only, poolclass=StaticPool)
    else:
        engine = create_engine("sqlite://")  # looking at a database must not create it
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _sqlite_path(url: str | Path) -> Path | None:
    """The file a URL names, or None when it names a server."""
    if isinstance(url, Path) or "://" not in url:
        return Path(url)
    scheme, rest = url.split("://", 1)
    return Path(rest[1:]) if scheme.startswith("sqlite") else None


def _with_driver(url: str) -> str:
    """SQLAlchemy picks an older driver for a plain `postgresql://`."""
    scheme, rest = url.split("://", 1)
    return f"postgresql+psycopg://{rest}" if scheme in {"postgres", "postgresql"} else url
