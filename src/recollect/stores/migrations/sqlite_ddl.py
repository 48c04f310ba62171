"""What SQLite has beyond the shared tables: a word to its planner about what the tables will look like.

Without statistics it supposes that a scope holds a handful of rows and reads all of them; gathered ones would
depend on when they were gathered. The shape is known beforehand, so it is written down: few tenants,
thousands of rows in a scope, one row per id. Plans are then the right ones from the first row on, and the
same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_ROWS, _SCOPE_ROWS, _FEW = 1_000_000, 10_000, 100
_OWNED = (_ROWS, _ROWS, _SCOPE_ROWS, _SCOPE_ROWS)

# For each index: how many rows it has, and how many share the first one, two, three … of its columns.
SHAPES: dict[tuple[str, str], tuple[int, ...]] = {
    ("spaces", "spaces"): (_ROWS, _ROWS, 2, 1),
    ("spaces", "ix_spaces_work"): (_FEW, 1),
    ("memories", "sqlite_autoindex_memories_1"): (*_OWNED, 1),
    ("memories", "ix_memories_listing"): (*_OWNED, 1, 1, 1),
    ("memories", "ix_memories_digest"): (*_OWNED, 1),
    ("memories", "ix_memories_band0"): (*_OWNED, 2),
    ("memories", "ix_memories_band1"): (*_OWNED, 2),
    ("memories", "ix_memories_band2"): (*_OWNED, 2),
    ("memories", "ix_memories_band3"): (*_OWNED, 2),
    ("memories", "ix_memories_simhash"): (*_OWNED, 2),
    ("memories", "ix_memories_key"): (*_OWNED, 2),
    ("memories", "ix_memories_source_message"): (*_OWNED, 2),
    ("repeats", "sqlite_autoindex_repeats_1"): (*_OWNED, 2, 1),
    ("repeats", "ix_repeats_source_message"): (*_OWNED, 2),
    ("flags", "flags"): (*_OWNED, 2, 1),
    ("flags", "ix_flags_other"): (*_OWNED, 2),
    ("slots", "slots"): (*_OWNED, 2, 1),
    ("slots", "ix_slots_memory"): (*_OWNED, 2),
    ("uses", "uses"): (*_OWNED, _FEW, 1),
    ("uses", "ix_uses_message"): (*_OWNED, 8),
    ("conversations", "sqlite_autoindex_conversations_1"): (*_OWNED, 1),
    ("messages", "sqlite_autoindex_messages_1"): (*_OWNED, 1),
    ("messages", "ix_messages_history"): (*_OWNED, _FEW, 1),
    ("entries", "sqlite_autoindex_entries_1"): (*_OWNED, _SCOPE_ROWS // 2, 1),
    ("entries", "ix_entries_revision"): (*_OWNED, 1),
    ("embeddings", "sqlite_autoindex_embeddings_1"): (*_OWNED, _SCOPE_ROWS // 2, 1, 1),
    ("embeddings", "ix_embeddings_due"): (_SCOPE_ROWS, _SCOPE_ROWS, _FEW, _FEW, 1, 1, 1, 1),
    ("themes", "themes"): (*_OWNED, 1),
    ("tombstones", "tombstones"): (*_OWNED, 1),
    ("audit_events", "audit_events"): (*_OWNED, 1),
    ("sessions", "sessions"): (*_OWNED, 1),
    ("working_memories", "sqlite_autoindex_working_memories_1"): (*_OWNED, 1),
}


def upgrade(execute: Callable[[str], Any]) -> None:
    """Run after the shared tables exist, and again after a revision that adds to them."""
    for statement in statements():
        execute(statement)


def statements() -> Iterator[str]:
    yield "ANALYZE"  # makes the table of statistics
    yield "DELETE FROM sqlite_stat1"
    for (table, index), counts in SHAPES.items():
        shape = " ".join(map(str, counts))
        yield f"INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES ('{table}', '{index}', '{shape}')"
    yield "ANALYZE sqlite_master"  # gathers nothing: reads them again
