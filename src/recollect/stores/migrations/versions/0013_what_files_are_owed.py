"""What was removed and is still to leave the files is written down with the removal, so that a process that dies owes nothing.

On Postgres also the right to take away what a rebuild of the word index that was broken off leaves behind: such leftovers hold
words, and only an owner may drop an index.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl
from recollect.stores.sql.types import Instant, Names

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scrubs",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("tables", Names, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scrubs"),
    )
    op.create_index("ix_scrubs_at", "scrubs", ["at"])
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        role = op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE
        for statement in postgres_ddl.owed(role):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
