"""What ties memories to each other: every telling of one that was told more than once, what may not both be true, and the slots
by which a new value finds the old one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl, sqlite_ddl
from recollect.stores.sql.types import Document, Instant

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SCOPE = ("tenant_id", "user_id", "space")
NAME = sa.String(255)


def _need(name: str, type_: object) -> sa.Column[object]:
    return sa.Column(name, type_, nullable=False)  # type: ignore[arg-type]


def _table(name: str, *parts: sa.schema.SchemaItem, key: tuple[str, ...], small: bool = True) -> None:
    owner = [_need(column, NAME) for column in SCOPE]
    primary = sa.PrimaryKeyConstraint(*SCOPE, *key, name=f"pk_{name}")
    op.create_table(name, *owner, *parts, primary, sqlite_with_rowid=not small)


def upgrade() -> None:
    _table(
        "repeats",
        _need("memory_id", NAME),
        _need("id", NAME),
        _need("place", sa.Integer),
        _need("content", sa.Text),
        sa.Column("source_message_id", NAME),
        _need("fields", Document),
        _need("at", Instant),
        key=("memory_id", "id"),
        small=False,
    )
    _table(
        "flags", _need("memory_id", NAME), _need("other_id", NAME), _need("at", Instant), key=("memory_id", "other_id")
    )
    _table("slots", _need("slot", sa.String(64)), _need("memory_id", NAME), key=("slot", "memory_id"))
    told = sa.text("source_message_id IS NOT NULL")
    op.create_index(
        "ix_repeats_source_message", "repeats", [*SCOPE, "source_message_id"], sqlite_where=told, postgresql_where=told
    )
    op.create_index("ix_flags_other", "flags", [*SCOPE, "other_id"])
    op.create_index("ix_slots_memory", "slots", [*SCOPE, "memory_id"])
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        role = op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE
        statements = postgres_ddl.beside(("repeats", "flags", "slots"), (), role)
    else:
        statements = sqlite_ddl.statements()
    for statement in statements:
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
