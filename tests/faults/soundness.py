"""Do the rows and their indexes say the same? Asked by raw SQL, past the code that keeps them in step."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import psycopg

from tests.api.homes import Home, open_store

_SAME = "(e.tenant_id, e.user_id, e.space, e.target_id) = (t.tenant_id, t.user_id, t.space, t.id)"
_AGREEMENTS = {
    "entries without a row": f"""
        SELECT count(*) FROM entries e WHERE NOT EXISTS (
          SELECT 1 FROM memories t WHERE e.kind = 'memory' AND t.status = 'active' AND {_SAME})
        AND NOT EXISTS (SELECT 1 FROM messages t WHERE e.kind = 'message' AND {_SAME})""",
    "memories without an entry": f"""
        SELECT count(*) FROM memories t WHERE t.status = 'active' AND NOT EXISTS (
          SELECT 1 FROM entries e WHERE e.kind = 'memory' AND {_SAME})""",
    "messages without an entry": f"""
        SELECT count(*) FROM messages t WHERE NOT EXISTS (
          SELECT 1 FROM entries e WHERE e.kind = 'message' AND {_SAME})""",
    "spaces that count their entries wrong": """
        SELECT count(*) FROM spaces s WHERE size <> (SELECT count(*) FROM entries e
          WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space))""",
    "entries newer than their space": """
        SELECT count(*) FROM entries e JOIN spaces s
          ON (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space) WHERE e.revision > s.revision""",
    "conversations that count their messages wrong": """
        SELECT count(*) FROM conversations c WHERE message_count <> (SELECT count(*) FROM messages m
          WHERE (m.tenant_id, m.user_id, m.space, m.session_id) = (c.tenant_id, c.user_id, c.space, c.id))""",
    "messages that share a place": """
        SELECT count(*) FROM (SELECT 1 AS one FROM messages
          GROUP BY tenant_id, user_id, space, session_id, "order" HAVING count(*) > 1) AS doubled""",
    "vectors without an entry": """
        SELECT count(*) FROM embeddings v WHERE NOT EXISTS (SELECT 1 FROM entries e
          WHERE (e.tenant_id, e.user_id, e.space, e.kind, e.target_id)
              = (v.tenant_id, v.user_id, v.space, v.kind, v.target_id))""",
}
_ALL = "SELECT " + ", ".join(f"({query})" for query in _AGREEMENTS.values())
_WORDS = "SELECT word, ndoc FROM ts_stat('SELECT tsv FROM entries') ORDER BY word LIMIT 300"


def assert_sound(home: Home) -> None:
    ((*counts,),) = home.rows(_ALL)
    assert not any(counts), dict(zip(_AGREEMENTS, counts, strict=True))
    if home.kind == "sqlite":
        _assert_sound_file(home)


def _assert_sound_file(home: Home) -> None:
    with closing(sqlite3.connect(home.url)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        # Raises when the full-text index and the entries differ in a single word.
        connection.execute("INSERT INTO entries_fts(entries_fts, rank) VALUES ('integrity-check', 1)")


def assert_well(home: Home) -> None:
    """The store's own doctor finds nothing."""
    asyncio.run(_assert_well(home))


async def _assert_well(home: Home) -> None:
    store = await open_store(home)
    findings = await store.checkup()
    await store.close()
    assert not [finding for finding in findings if not finding.ok]


def assert_sound_word_index(home: Home) -> None:
    """Postgres: looking words up through the GIN index gives what counting them in the rows gives."""
    assert home.database is not None
    with psycopg.connect(home.database.superuser_url) as server:
        server.execute("SET enable_seqscan = off")
        counted = server.execute(_WORDS).fetchall()
        assert counted
        for word, rows in counted:
            found = server.execute(
                "SELECT count(*) FROM entries WHERE tsv @@ quote_literal(%s)::tsquery", [word]
            ).fetchone()
            assert found == (rows,)
