"""A new generation makes its vector index at once only while that takes no time; on a large table the owner makes it beside the
work (`recollect db index`), because making it within a transaction would hold up every writer meanwhile.

SQLite has no such index, so nothing changes there.
"""

from __future__ import annotations

from alembic import op

from recollect.stores.migrations import postgres_ddl

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for statement in postgres_ddl.prepared_while_small():
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
