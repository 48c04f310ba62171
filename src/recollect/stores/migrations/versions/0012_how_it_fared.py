"""How the server fared, minute by minute for a day: counts that are nobody's, so that a restart doesn't begin anew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl
from recollect.stores.sql.types import Document, Instant

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "operations",
        sa.Column("minute", sa.BigInteger, nullable=False),
        sa.Column("run", sa.String(36), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("began", Instant),
        sa.Column("counts", Document, nullable=False),
        sa.Column("levels", Document, nullable=False),
        sa.PrimaryKeyConstraint("minute", "run", name="pk_operations"),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        role = op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE
        for statement in postgres_ddl.beside((), ("operations",), role):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
