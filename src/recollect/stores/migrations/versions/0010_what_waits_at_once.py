"""What waits to be embedded is counted at once, not by entering one scope after another: a dashboard asks every few seconds.

SQLite has no row-level security and counts so already.
"""

from __future__ import annotations

from alembic import op

from recollect.stores.migrations import postgres_ddl

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for statement in postgres_ddl.counted_at_once():
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
