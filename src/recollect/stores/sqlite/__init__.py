"""Memories in one SQLite file: durable, private to its owner, found by words and by vectors, scrubbed when
forgotten.
"""

from recollect.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
