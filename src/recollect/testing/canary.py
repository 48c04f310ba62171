"""Probes that search raw storage for a word, past the code under test: forgetting is proven where bytes lie.

They over-report rather than miss: text is sought in every encoding a store might use, and in Postgres in
every column of every type, without regard to case.

A process that has a SQLite store open loses its locks on a file when it reads it in any other way: where other processes use
the same file, probe from a process that doesn't.
"""

from __future__ import annotations

from pathlib import Path

_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")

_COLUMNS = """
SELECT n.nspname, c.relname, a.attname
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND NOT a.attisdropped
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY 1, 2, a.attnum
"""


def files_containing(folder: Path, needle: str) -> list[Path]:
    """Every file below `folder` that contains `needle`, in UTF-8 or UTF-16, as written or in lower case."""
    sought = {form.encode(encoding) for form in (needle, needle.lower()) for encoding in _ENCODINGS}
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and _holds(path.read_bytes(), sought)]


def columns_containing(connection_url: str, needle: str) -> list[str]:
    """Every `schema.table.column` of a Postgres database with `needle` in the text form of some row.

    Connect as a role that row-level security does not bind, or the probe sees as little as the application.
    """
    import psycopg  # an optional extra: who only uses SQLite can still import this module
    from psycopg import sql

    found = []
    with psycopg.connect(connection_url) as connection:
        for schema, table, column in connection.execute(_COLUMNS).fetchall():
            query = sql.SQL(
                "SELECT EXISTS (SELECT FROM {table}"
                " WHERE position(lower(%(text)s) IN lower({column}::text)) > 0"
                " OR position(%(hex)s IN {column}::text) > 0)"
            ).format(table=sql.Identifier(schema, table), column=sql.Identifier(column))
            # bytea shows as hexadecimal digits
            row = connection.execute(query, {"text": needle, "hex": needle.encode().hex()}).fetchone()
            if row is not None and row[0]:
                found.append(f"{schema}.{table}.{column}")
    return found


def _holds(content: bytes, sought: set[bytes]) -> bool:
    return any(needle in content for needle in sought)
