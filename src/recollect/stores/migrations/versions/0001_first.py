"""The first schema: every table, its key, and the few indexes that reads can't do without.

An index is paid for by every write, so each one here answers a question that a verb asks on its way: listing,
exact and near duplicates, keyed facts, a conversation's history, what changed since a revision, and what is
due to be embedded.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from recollect.stores.migrations import postgres_ddl, sqlite_ddl
from recollect.stores.sql.types import Document, HalfVector, Instant, Names

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCOPE = ("tenant_id", "user_id", "space")
NAME = sa.String(255)


def upgrade() -> None:
    _spaces()
    _memories()
    _conversations()
    _index()
    _beside()
    _indexes()
    _beyond_tables()


def _need(name: str, type_: object) -> sa.Column[object]:
    return sa.Column(name, type_, nullable=False)  # type: ignore[arg-type]


def _may(name: str, type_: object) -> sa.Column[object]:
    return sa.Column(name, type_)  # type: ignore[arg-type]


def _table(name: str, *parts: sa.schema.SchemaItem, key: tuple[str, ...] = (), small: bool = False) -> None:
    """A table of a user's rows. On SQLite small rows live in the key's own tree."""
    owner = [_need(column, NAME) for column in SCOPE]
    primary = sa.PrimaryKeyConstraint(*SCOPE, *key, name=f"pk_{name}")
    op.create_table(name, *owner, *parts, primary, sqlite_with_rowid=not small)


def _spaces() -> None:
    _table(
        "spaces",
        _need("revision", sa.BigInteger),
        _need("purged", sa.BigInteger),
        _need("size", sa.BigInteger),
        _may("work_due", Instant),
        _need("memory_enabled", sa.Boolean),
        _need("incognito_default", sa.Boolean),
        _need("soft_cap", sa.Integer),
        _need("shared_tags", Names),
        _may("retention_days", sa.Integer),
        _need("created_at", Instant),
        _need("last_active_at", Instant),
        small=True,
    )


def _memories() -> None:
    _table(
        "memories",
        _need("id", NAME),
        _need("content", sa.Text),
        _need("type", sa.String(20)),
        _may("theme", NAME),
        _may("key", NAME),
        _may("value", Document),
        _need("role", sa.String(20)),
        _need("source", sa.String(20)),
        _need("confidence", sa.Float),
        _need("importance", sa.Float),
        _need("base_importance", sa.Float),
        _need("pinned", sa.Boolean),
        _need("manually_saved", sa.Boolean),
        _need("tags", Names),
        _need("source_ids", Names),
        _may("source_conversation_id", NAME),
        _may("source_message_id", NAME),
        _need("metadata_confidence", sa.Float),
        _need("simhash", sa.BigInteger),
        *(_need(f"band{place}", sa.Integer) for place in range(4)),
        _need("digest", sa.String(64)),
        _need("repeat_count", sa.Integer),
        _need("status", sa.String(12)),
        _may("supersedes", NAME),
        _need("created_at", Instant),
        _need("updated_at", Instant),
        _may("last_accessed", Instant),
        _need("access_count", sa.Integer),
        _may("expires_at", Instant),
        _may("deleted_at", Instant),
        _may("last_scores", Document),
        key=("id",),
    )


def _conversations() -> None:
    _table(
        "conversations",
        _need("id", NAME),
        _may("title", sa.Text),
        _need("created_at", Instant),
        _need("updated_at", Instant),
        _may("expires_at", Instant),
        _need("message_count", sa.Integer),
        _need("is_summarized", sa.Boolean),
        _may("summary", sa.Text),
        _need("databases", Names),
        _need("database_tags", Names),
        key=("id",),
    )
    _table(
        "messages",
        _need("id", NAME),
        _need("session_id", NAME),
        _need("order", sa.Integer),
        _need("role", sa.String(20)),
        _need("content", sa.Text),
        _may("name", NAME),
        _may("correlation_id", NAME),
        _need("created_at", Instant),
        _need("dated", sa.Boolean),
        _may("sql_query", sa.Text),
        _may("query_explanation", sa.Text),
        _need("tables_used", Names),
        _may("execution_result", Document),
        _need("tokens", Document),
        _may("execution_time_ms", sa.Float),
        _need("partial", sa.Boolean),
        sa.ForeignKeyConstraint(
            [*SCOPE, "session_id"],
            [f"conversations.{column}" for column in (*SCOPE, "id")],
            name="fk_messages_conversation",
        ),
        key=("id",),
    )


def _index() -> None:
    entries = (
        *(_need(column, NAME) for column in SCOPE),
        _need("kind", sa.String(10)),
        _need("target_id", NAME),
        _need("revision", sa.BigInteger),
        _need("mark", sa.String(16)),
        _need("terms", sa.Text),
        _need("chars", sa.Integer),
        _need("created_at", Instant),
        _need("dated", sa.Boolean),
        _may("expires_at", Instant),
        _may("type", sa.String(20)),
        _may("theme", NAME),
        _need("tags", Names),
        _may("session_id", NAME),
        _need("position", sa.Integer),
        _may("speaker", NAME),
        _need("role", sa.String(20)),
        _need("is_question", sa.Boolean),
    )
    identity = (*SCOPE, "kind", "target_id")
    if op.get_context().dialect.name == "sqlite":
        # FTS5 refers to rows by number, so here the number is the key.
        seq = sa.Column("seq", sa.Integer, primary_key=True)
        op.create_table("entries", seq, *entries, sa.UniqueConstraint(*identity, name="uq_entries_target"))
    else:
        op.create_table("entries", *entries, sa.PrimaryKeyConstraint(*identity, name="pk_entries"))
    _table(
        "embeddings",
        _need("kind", sa.String(10)),
        _need("target_id", NAME),
        _need("generation", NAME),
        _need("state", sa.String(10)),
        _need("attempts", sa.Integer),
        _may("error", sa.Text),
        _need("content_hash", sa.String(64)),
        _may("due_at", Instant),
        _may("vector", HalfVector),
        _need("created_at", Instant),
        _need("updated_at", Instant),
        key=("kind", "target_id", "generation"),
    )
    op.create_table(
        "generations",
        _need("id", NAME),
        _need("provider", sa.String(64)),
        _need("model", NAME),
        _need("dimensions", sa.Integer),
        _need("state", sa.String(10)),
        _need("created_at", Instant),
        sa.PrimaryKeyConstraint("id", name="pk_generations"),
    )


def _beside() -> None:
    _table(
        "themes",
        _need("slug", NAME),
        _need("display_name", sa.Text),
        _may("description", sa.Text),
        _need("created_at", Instant),
        _need("updated_at", Instant),
        key=("slug",),
        small=True,
    )
    _table(
        "tombstones",
        _need("digest", sa.String(64)),
        _need("created_at", Instant),
        _need("expires_at", Instant),
        key=("digest",),
        small=True,
    )
    _table(
        "audit_events",
        _need("id", sa.String(36)),
        _need("at", Instant),
        _need("action", sa.String(64)),
        _may("target_kind", sa.String(20)),
        _may("target_id", NAME),
        _may("correlation_id", NAME),
        _need("facts", Document),
        key=("id",),
        small=True,
    )
    _table(
        "working_memories",
        _need("session_id", NAME),
        _may("current_topic", sa.Text),
        _need("context_variables", Document),
        _need("turn_count", sa.Integer),
        _may("last_emotion", sa.String(64)),
        _need("created_at", Instant),
        _need("updated_at", Instant),
        key=("session_id",),
    )
    _table(
        "provider_configs",
        _need("enabled", sa.Boolean),
        _need("provider_type", sa.String(20)),
        _may("endpoint_url", sa.Text),
        _may("model", NAME),
        _may("api_key", sa.Text),
        _may("dimensions", sa.Integer),
        _need("updated_at", Instant),
    )


def _indexes() -> None:
    _find("memories", "listing", "created_at", "id", "status")
    _find("memories", "digest", "digest", where="status = 'active'")
    for place in range(4):
        _find("memories", f"band{place}", f"band{place}", where="status = 'active'")
    _find("memories", "key", "key", where="key IS NOT NULL")
    _find("memories", "source_message", "source_message_id", where="source_message_id IS NOT NULL")
    _find("messages", "history", "session_id", "order")
    _find("entries", "revision", "revision")
    _find("embeddings", "due", "due_at", "generation", "state", "created_at", where="state <> 'ready'")
    work = sa.text("work_due IS NOT NULL")
    op.create_index("ix_spaces_work", "spaces", ["work_due"], sqlite_where=work, postgresql_where=work)


def _find(table: str, name: str, *columns: str, where: str | None = None) -> None:
    partial = None if where is None else sa.text(where)
    op.create_index(f"ix_{table}_{name}", table, [*SCOPE, *columns], sqlite_where=partial, postgresql_where=partial)


def _beyond_tables() -> None:
    connection = op.get_bind()

    def execute(statement: str) -> None:
        # No parameters: a percent sign in these statements is a percent sign.
        connection.exec_driver_sql(statement, execution_options={"no_parameters": True})

    if connection.dialect.name == "postgresql":
        postgres_ddl.upgrade(execute, op.get_context().opts.get("app_role") or postgres_ddl.DEFAULT_APP_ROLE)
    else:
        sqlite_ddl.upgrade(execute)
