"""Keys for programs, the operator's embedding provider, and which sessions are incognito.

The provider was kept per user before anything could write it; it belongs to the operator, so the empty table goes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl, sqlite_ddl
from recollect.stores.sql.types import Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SCOPE = ("tenant_id", "user_id", "space")
NAME = sa.String(255)


def _need(name: str, type_: object) -> sa.Column[object]:
    return sa.Column(name, type_, nullable=False)  # type: ignore[arg-type]


def upgrade() -> None:
    op.drop_table("provider_configs")
    op.create_table(
        "sessions",
        *(_need(column, NAME) for column in SCOPE),
        _need("session", sa.String(64)),
        _need("incognito", sa.Boolean),
        _need("declared_at", Instant),
        sa.PrimaryKeyConstraint(*SCOPE, "session", name="pk_sessions"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "api_keys",
        _need("id", sa.String(36)),
        _need("name", NAME),
        _need("tenant_id", NAME),
        _need("user_id", NAME),
        _need("role", sa.String(10)),
        _need("secret_hash", sa.String(64)),
        _need("created_at", Instant),
        sa.Column("expires_at", Instant),
        sa.Column("revoked_at", Instant),
        sa.Column("last_used_at", Instant),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("secret_hash", name="uq_api_keys_secret_hash"),
    )
    op.create_table(
        "embedding_provider",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=False),
        _need("enabled", sa.Boolean),
        _need("provider_type", sa.String(20)),
        sa.Column("endpoint_url", sa.Text),
        sa.Column("model", NAME),
        sa.Column("api_key", sa.Text),
        sa.Column("dimensions", sa.Integer),
        sa.PrimaryKeyConstraint("id", name="pk_embedding_provider"),
    )
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        role = op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE
        statements = postgres_ddl.beside(("sessions",), ("api_keys", "embedding_provider"), role)
    else:
        statements = sqlite_ddl.statements()
    for statement in statements:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
