"""Bringing a file to the schema this code expects. A current one costs one small query, and nothing of
Alembic's.
"""

from __future__ import annotations

import sqlite3

from recollect.errors import Unavailable
from recollect.stores.migrations.head import HEAD


def bring_up(connection: sqlite3.Connection, migrate: bool) -> None:
    """Upgrade when that is needed and allowed; refuse to touch a file that another version has written."""
    found = revision(connection)
    if found == HEAD:
        return
    if found is not None and found > HEAD:
        raise Unavailable(f"the database is at revision {found}, this version knows {HEAD}: use a newer version")
    if not migrate:
        raise Unavailable(f"the database is at revision {found}, {HEAD} is needed: run `recollect db upgrade`")
    from recollect.stores.migrations import run  # Alembic takes a third of a second to import

    run.upgrade_sqlite(connection)


def revision(connection: sqlite3.Connection) -> str | None:
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    if there is None:
        return None
    found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if found is None else str(found[0])
