"""Which replies were made with which memories: ids only, gone with either of the two."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl, sqlite_ddl
from recollect.stores.sql.types import Instant

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SCOPE = ("tenant_id", "user_id", "space")
NAME = sa.String(255)


def upgrade() -> None:
    names = [sa.Column(name, NAME, nullable=False) for name in (*SCOPE, "memory_id", "message_id")]
    op.create_table(
        "uses",
        *names,
        sa.Column("reference", sa.String(20), nullable=False),
        sa.Column("cited", sa.Boolean, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.PrimaryKeyConstraint(*SCOPE, "memory_id", "message_id", name="pk_uses"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_uses_message", "uses", [*SCOPE, "message_id"])
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        role = op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE
        statements = postgres_ddl.beside(("uses",), (), role)
    else:
        statements = sqlite_ddl.statements()
    for statement in statements:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
