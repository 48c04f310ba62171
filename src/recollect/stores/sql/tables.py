"""The tables, as statements see them. Migrations create them; a test holds the two equal.

Every row of a user's carries `tenant_id`, `user_id` and `space`, and they lead every primary key: two tenants
may both have an "ana", row-level security has something to check, and the schema can be distributed by
`user_id` unchanged. `spaces` and `generations` hold ids, counters, clocks and switches only, never content;
`api_keys`, `embedding_provider`, `operations` and `scrubs` are the operator's.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, String, Table, Text

from recollect.stores.sql.types import Document, HalfVector, Instant, Names

metadata = MetaData()


def _owned(name: str, *columns: Column[object]) -> Table:
    return Table(
        name,
        metadata,
        Column("tenant_id", String(255), nullable=False),
        Column("user_id", String(255), nullable=False),
        Column("space", String(255), nullable=False),
        *columns,
    )


spaces = _owned(
    "spaces",
    Column("revision", BigInteger, nullable=False),  # grows with every change of the index
    Column("purged", BigInteger, nullable=False),  # the revision of the last removal from the index
    Column("size", BigInteger, nullable=False),  # entries in the index
    Column("work_due", Instant),  # when the next embedding work is due, if there is any
    Column("memory_enabled", Boolean, nullable=False),
    Column("incognito_default", Boolean, nullable=False),
    Column("soft_cap", Integer, nullable=False),
    Column("shared_tags", Names, nullable=False),
    Column("retention_days", Integer),
    Column("created_at", Instant, nullable=False),
    Column("last_active_at", Instant, nullable=False),
)

memories = _owned(
    "memories",
    Column("id", String(255), nullable=False),
    Column("content", Text, nullable=False),
    Column("type", String(20), nullable=False),
    Column("theme", String(255)),
    Column("key", String(255)),
    Column("value", Document),
    Column("role", String(20), nullable=False),
    Column("source", String(20), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("importance", Float, nullable=False),
    Column("base_importance", Float, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("manually_saved", Boolean, nullable=False),
    Column("tags", Names, nullable=False),
    Column("source_ids", Names, nullable=False),
    Column("source_conversation_id", String(255)),
    Column("source_message_id", String(255)),
    Column("source_expired_at", Instant),
    Column("metadata_confidence", Float, nullable=False),
    Column("simhash", BigInteger, nullable=False),  # signed: the same 64 bits
    # Four 16-bit slices: two hashes within 3 bits of each other share at least one.
    Column("band0", Integer, nullable=False),
    Column("band1", Integer, nullable=False),
    Column("band2", Integer, nullable=False),
    Column("band3", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("repeat_count", Integer, nullable=False),
    Column("status", String(12), nullable=False),
    Column("supersedes", String(255)),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("last_accessed", Instant),
    Column("access_count", Integer, nullable=False),
    Column("expires_at", Instant),
    Column("deleted_at", Instant),
    Column("last_scores", Document),
)

repeats = _owned(
    "repeats",
    Column("memory_id", String(255), nullable=False),
    Column("id", String(255), nullable=False),
    Column("place", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("source_message_id", String(255)),
    Column("fields", Document, nullable=False),
    Column("at", Instant, nullable=False),
)

flags = _owned(
    "flags",
    Column("memory_id", String(255), nullable=False),
    Column("other_id", String(255), nullable=False),
    Column("at", Instant, nullable=False),
)

slots = _owned(
    "slots",
    Column("slot", String(64), nullable=False),  # a keyed digest of what a memory is about
    Column("memory_id", String(255), nullable=False),
)

uses = _owned(
    "uses",
    Column("memory_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("reference", String(20), nullable=False),
    Column("cited", Boolean, nullable=False),
    Column("at", Instant, nullable=False),
)

conversations = _owned(
    "conversations",
    Column("id", String(255), nullable=False),
    Column("title", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("message_count", Integer, nullable=False),
    Column("is_summarized", Boolean, nullable=False),
    Column("summary", Text),
    Column("databases", Names, nullable=False),
    Column("database_tags", Names, nullable=False),
    Column("summary_grounds", Names),
)

messages = _owned(
    "messages",
    Column("id", String(255), nullable=False),
    Column("session_id", String(255), nullable=False),
    Column("order", Integer, nullable=False),
    Column("role", String(20), nullable=False),
    Column("content", Text, nullable=False),
    Column("name", String(255)),
    Column("correlation_id", String(255)),
    Column("created_at", Instant, nullable=False),
    Column("dated", Boolean, nullable=False),
    Column("sql_query", Text),
    Column("query_explanation", Text),
    Column("tables_used", Names, nullable=False),
    Column("execution_result", Document),
    Column("tokens", Document, nullable=False),
    Column("execution_time_ms", Float),
    Column("partial", Boolean, nullable=False),
    Column("searchable", Text),
    Column("grounds", Names),
)

entries = _owned(
    "entries",
    # SQLite adds `seq INTEGER PRIMARY KEY`, the rowid its FTS5 index refers to; Postgres adds `tsv tsvector`.
    Column("kind", String(10), nullable=False),
    Column("target_id", String(255), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("mark", String(16), nullable=False),  # the scope's own prefix of every indexed term
    Column("terms", Text, nullable=False),
    Column("chars", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("dated", Boolean, nullable=False),
    Column("expires_at", Instant),
    Column("type", String(20)),
    Column("theme", String(255)),
    Column("tags", Names, nullable=False),
    Column("session_id", String(255)),
    Column("position", Integer, nullable=False),
    Column("speaker", String(255)),
    Column("role", String(20), nullable=False),
    Column("is_question", Boolean, nullable=False),
    Column("about_from", Instant),
    Column("about_until", Instant),
)

embeddings = _owned(
    "embeddings",
    Column("kind", String(10), nullable=False),
    Column("target_id", String(255), nullable=False),
    Column("generation", String(255), nullable=False),
    Column("state", String(10), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error", Text),
    Column("content_hash", String(64), nullable=False),
    Column("due_at", Instant),  # when it may be claimed; a claim moves it ahead by the lease
    Column("vector", HalfVector),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

generations = Table(
    "generations",
    metadata,
    Column("id", String(255), nullable=False),
    Column("provider", String(64), nullable=False),
    Column("model", String(255), nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("created_at", Instant, nullable=False),
)

themes = _owned(
    "themes",
    Column("slug", String(255), nullable=False),
    Column("display_name", Text, nullable=False),
    Column("description", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

tombstones = _owned(
    "tombstones",
    Column("digest", String(64), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

audit_events = _owned(
    "audit_events",
    Column("id", String(36), nullable=False),
    Column("at", Instant, nullable=False),
    Column("action", String(64), nullable=False),
    Column("target_kind", String(20)),
    Column("target_id", String(255)),
    Column("correlation_id", String(255)),
    Column("facts", Document, nullable=False),
)

working_memories = _owned(
    "working_memories",
    Column("session_id", String(255), nullable=False),
    Column("current_topic", Text),
    Column("context_variables", Document, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("last_emotion", String(64)),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

sessions = _owned(
    "sessions",
    Column("session", String(64), nullable=False),  # a keyed digest of the session's id
    Column("incognito", Boolean, nullable=False),
    Column("declared_at", Instant, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(36), nullable=False),
    Column("name", String(255), nullable=False),
    Column("tenant_id", String(255), nullable=False),
    Column("user_id", String(255), nullable=False),
    Column("role", String(10), nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("last_used_at", Instant),
)

embedding_provider = Table(
    "embedding_provider",
    metadata,
    Column("id", Integer, nullable=False),  # 1: there is one, or none
    Column("enabled", Boolean, nullable=False),
    Column("provider_type", String(20), nullable=False),
    Column("endpoint_url", Text),
    Column("model", String(255)),
    Column("api_key", Text),  # encrypted
    Column("dimensions", Integer),
)

operations = Table(
    "operations",
    metadata,
    Column("minute", BigInteger, nullable=False),  # since 1970
    Column("run", String(36), nullable=False),
    Column("at", Instant, nullable=False),
    Column("began", Instant),
    Column("counts", Document, nullable=False),
    Column("levels", Document, nullable=False),
)

scrubs = Table(
    "scrubs",
    metadata,
    Column("id", String(36), nullable=False),
    Column("at", Instant, nullable=False),
    Column("tables", Names, nullable=False),  # in which something was removed or rewritten
)

KEYS: dict[str, tuple[str, ...]] = {
    "spaces": (),
    "memories": ("id",),
    "repeats": ("memory_id", "id"),
    "flags": ("memory_id", "other_id"),
    "slots": ("slot", "memory_id"),
    "uses": ("memory_id", "message_id"),
    "conversations": ("id",),
    "messages": ("id",),
    "entries": ("kind", "target_id"),
    "embeddings": ("kind", "target_id", "generation"),
    "themes": ("slug",),
    "tombstones": ("digest",),
    "audit_events": ("id",),
    "working_memories": ("session_id",),
    "sessions": ("session",),
}
"""What identifies a row beside its scope. Primary keys are (tenant_id, user_id, space, *these)."""

OPERATORS_KEYS: dict[str, tuple[str, ...]] = {"operations": ("minute", "run")}
"""The same where there is no scope and it isn't the `id`."""
