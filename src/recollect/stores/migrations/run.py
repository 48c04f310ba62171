"""Running Alembic from code: no ini file, no environment script, the revisions that travel with the package.

Two processes that start on the same new database both come here. One waits for the other (SQLite: an
exclusive transaction; Postgres: an advisory lock) and then finds nothing left to do. A revision that fails
leaves nothing behind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import StaticPool

ADVISORY_LOCK = 7_361_082_114
PATIENCE_MS = 5_000


def scripts() -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).parent))


def upgrade_sqlite(connection: sqlite3.Connection, revision: str = "head") -> None:
    """Bring the database behind an autocommit connection to `revision`."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    # Begun before Alembic looks: of a transaction that isn't its own it leaves the end to us. Otherwise it would commit after
    # each revision, and the next process would come in between two.
    with engine.connect() as wrapped, wrapped.begin():
        # Only now: connecting for the first time ends with a rollback, which would let the next process in.
        connection.execute("BEGIN EXCLUSIVE")
        _upgrade(wrapped, revision)


def upgrade_postgres(
    url: str, revision: str = "head", app_role: str | None = None, patience_ms: int = PATIENCE_MS
) -> None:
    """Bring the server's database to `revision`; a table that somebody holds for longer than `patience_ms` is an error."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": ADVISORY_LOCK})
            # Only now: another upgrade may take its time, but whoever waits for a table has everybody else wait behind.
            connection.execute(text("SELECT set_config('lock_timeout', :ms, true)"), {"ms": str(patience_ms)})
            _upgrade(connection, revision, app_role=app_role)
    finally:
        engine.dispose()


def _upgrade(connection: Connection, revision: str, **options: Any) -> None:
    directory = scripts()

    def steps(here: Any, _: MigrationContext) -> Iterable[Any]:
        return directory._upgrade_revs(revision, here)

    context = MigrationContext.configure(connection, opts={"fn": steps, **options})
    with Operations.context(context):
        context.run_migrations()
