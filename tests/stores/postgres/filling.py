"""A database with enough in it for the planner to care: one scope with thousands of everything, and many small ones beside it.

Written by the server itself: the engine would take minutes for what only the planner looks at.
"""

from __future__ import annotations

import psycopg

from tests.services.postgres import Database

GENERATION = "g1"
FILL = (
    "SET session_replication_role = replica",
    """CREATE TEMP TABLE who AS
       SELECT 'acme' AS tenant, 'user' || u AS name, n FROM generate_series(1, 100) u, generate_series(1, 20) n
       UNION ALL SELECT 'acme', 'ana', n FROM generate_series(1, 3000) n""",
    """INSERT INTO memories (tenant_id, user_id, space, id, content, type, role, source, confidence, importance, base_importance,
         pinned, manually_saved, tags, source_ids, source_message_id, metadata_confidence, simhash, band0, band1, band2, band3,
         digest, repeat_count, status, created_at, updated_at, access_count, key)
       SELECT tenant, name, 'default', 'm' || n, 'green tea ' || n, 'fact', 'user', 'user_stated', 1, 1, 1, false, false, '{}',
         '{}', 't' || n, 1, n, n, n, n, n, md5(n::text), 0, 'active', now() - n * interval '1 min', now(), 0, 'k' || n
       FROM who""",
    """INSERT INTO conversations (tenant_id, user_id, space, id, created_at, updated_at, message_count, is_summarized, databases,
         database_tags)
       SELECT tenant, name, 'default', 'c' || n, now(), now(), 1, false, '{}', '{}' FROM who""",
    """INSERT INTO messages (tenant_id, user_id, space, id, session_id, "order", role, content, created_at, dated, tables_used,
         tokens, partial)
       SELECT tenant, name, 'default', 't' || n, 'c' || n, 0, 'user', 'tea?', now(), true, '{}', '{}', false FROM who""",
    """INSERT INTO entries (tenant_id, user_id, space, kind, target_id, revision, mark, terms, chars, created_at, dated, tags,
         position, role, is_question)
       SELECT tenant, name, 'default', 'memory', 'm' || n, n, 'mark', 'green tea', 20, now(), true, '{}', 0, 'user', false
       FROM who""",
    f"""INSERT INTO embeddings (tenant_id, user_id, space, kind, target_id, generation, state, attempts, content_hash, vector,
         created_at, updated_at)
       SELECT tenant, name, 'default', 'memory', 'm' || n, '{GENERATION}', 'ready', 0, 'h', '[1,2,3]', now(), now() FROM who""",
    """INSERT INTO spaces (tenant_id, user_id, space, revision, purged, size, memory_enabled, incognito_default, soft_cap,
         shared_tags, created_at, last_active_at)
       SELECT tenant, name, 'default', max(n), 0, count(*), true, false, 0, '{}', now(), now() FROM who GROUP BY tenant, name""",
    "RESET session_replication_role",
    "VACUUM ANALYZE",
)


def fill(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        for statement in FILL:
            connection.execute(statement.encode())
