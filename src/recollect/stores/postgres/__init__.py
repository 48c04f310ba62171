"""Postgres 15 or newer with pgvector, through psycopg 3. Only what differs from SQLite lives here; the rest is `stores.sql`."""

from recollect.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
