"""Postgres keeps the vectors of small scopes out of its vector index: they are searched exactly and never walk it.

SQLite has no such index, so nothing changes there.
"""

from __future__ import annotations

from alembic import op

from recollect.stores.migrations import postgres_ddl

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for statement in postgres_ddl.large_only():
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
