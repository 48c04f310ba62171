"""An index of whole SimHashes. Verified duplicates have the same words and so the same hash; bands hold many that only look
alike, the more of them the more alike a person's notes are, and every write would read them all.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import sqlite_ddl

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    active = sa.text("status = 'active'")
    op.create_index(
        "ix_memories_simhash",
        "memories",
        ["tenant_id", "user_id", "space", "simhash"],
        sqlite_where=active,
        postgresql_where=active,
    )
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for statement in sqlite_ddl.statements():
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
