"""The full-text index: an external-content FTS5 table over `entries`, kept in step by triggers.

What is indexed is each term behind its scope's mark, computed by a view, so nothing is stored twice. Terms
reach SQLite already analysed, so its tokenizer only has to split at spaces: `ascii` with `_` as a letter
leaves every other character alone, whatever Unicode version SQLite was built with.

Not every SQLite has FTS5, and the same file may be opened by one that has it and then by one that hasn't. So
these objects are no part of the schema's history: they are put up when a store opens, and the triggers'
presence means that the index is current. Without FTS5 the triggers go (they would make every write fail), and
come back with a rebuilt index later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

_TRIGGERS = ("entries_fts_insert", "entries_fts_delete", "entries_fts_update")


def _marked(row: str) -> str:
    prefix = f"{row}mark || '_'"
    return f"CASE {row}terms WHEN '' THEN '' ELSE {prefix} || replace({row}terms, ' ', ' ' || {prefix}) END"


_STRUCTURE = 10  # the row of the index's structure record
_SECOND_FORMAT = b"\xff\x00\x00\x01"
_MOST_LEVELS = 500
_ADD = f"INSERT INTO entries_fts(rowid, terms) VALUES (new.seq, {_marked('new.')})"
_REMOVE = f"INSERT INTO entries_fts(entries_fts, rowid, terms) VALUES ('delete', old.seq, {_marked('old.')})"
# What FTS5 itself writes for an index without rows; record 10 says which segments there are, and none can open without it.
_EMPTY_INDEX = (
    "DELETE FROM entries_fts_data",
    "DELETE FROM entries_fts_idx",
    "DELETE FROM entries_fts_docsize",
    "INSERT INTO entries_fts_data(id, block) VALUES (1, x''), (10, x'00000000000000')",
)
_OBJECTS = (
    "DROP TABLE IF EXISTS entries_vocab",
    "DROP TABLE IF EXISTS entries_fts",
    f"CREATE VIEW IF NOT EXISTS entries_text(seq, terms) AS SELECT seq, {_marked('')} FROM entries",
    """CREATE VIRTUAL TABLE entries_fts USING fts5(
           terms, content='entries_text', content_rowid='seq', tokenize="ascii tokenchars '_'")""",
    "CREATE VIRTUAL TABLE entries_vocab USING fts5vocab(entries_fts, 'row')",
    f"CREATE TRIGGER IF NOT EXISTS entries_fts_insert AFTER INSERT ON entries BEGIN {_ADD}; END",
    f"CREATE TRIGGER IF NOT EXISTS entries_fts_delete AFTER DELETE ON entries BEGIN {_REMOVE}; END",
    f"""CREATE TRIGGER IF NOT EXISTS entries_fts_update AFTER UPDATE OF terms, mark ON entries
           BEGIN {_REMOVE}; {_ADD}; END""",
    "INSERT INTO entries_fts(entries_fts) VALUES ('rebuild')",
)


class FullText:
    """Whether words are found through the index. Shared by everyone who uses one store."""

    def __init__(self, works: bool) -> None:
        self.works = works


def put_up(connection: sqlite3.Connection, wanted: bool | None = None) -> FullText:
    """Make the index exist and be current, or make sure that it isn't in the way. `wanted` False does without."""
    works = _has_fts5(connection) if wanted is None else wanted
    if works != _is_current(connection):
        with _writing(connection):
            if works != _is_current(connection):  # nobody else has done it meanwhile
                _build(connection) if works else _step_aside(connection)
    return FullText(works)


def rebuild(connection: sqlite3.Connection) -> bool:
    """Build the index anew from the entries, whatever state it is in; False when this SQLite has no FTS5."""
    if not _has_fts5(connection):
        return False
    with _writing(connection):
        _step_aside(connection)
        _build(connection)
    return True


def clean(connection: sqlite3.Connection) -> bool:
    """Get deleted terms out of the index's segments.

    Deleting only adds a note that an older segment no longer holds; merging all segments drops both. FTS5's own `secure-delete`
    is left alone: it changes the format, and an older SQLite could then neither search the file nor write to it.

    Every merge puts its result on a level further up, and SQLite damages the index when there are about two thousand of them
    (measured with 3.40): long before that the index is built anew, which starts again at the bottom.
    """
    if _is_current(connection):
        step = "optimize" if _levels(connection) < _MOST_LEVELS else "rebuild"
        connection.execute("INSERT INTO entries_fts(entries_fts) VALUES (?)", (step,))
    return True


def _levels(connection: sqlite3.Connection) -> int:
    """How many levels the index has come to: the first number of its structure record, after a counter of four bytes.

    Numbers there have seven bits a byte, the highest first, and the eighth bit of all but the last is set.
    """
    found = connection.execute("SELECT block FROM entries_fts_data WHERE id = ?", (_STRUCTURE,)).fetchone()
    block: bytes = found[0] if found else b""
    levels = 0
    for byte in block[8 if block[4:8] == _SECOND_FORMAT else 4 :]:
        levels = levels << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return levels


def agrees(connection: sqlite3.Connection) -> bool:
    """Whether the index says exactly what the entries say."""
    try:
        connection.execute("INSERT INTO entries_fts(entries_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return False
    return True


def _has_fts5(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    return bool(found[0])


def _is_current(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name IN (?, ?, ?)", _TRIGGERS
    ).fetchone()
    return bool(found[0] == len(_TRIGGERS))


def _build(connection: sqlite3.Connection) -> None:
    for statement in _OBJECTS:
        connection.execute(statement)


def _step_aside(connection: sqlite3.Connection) -> None:
    """Stop keeping the index, and keep no words in it. An SQLite without FTS5 can do this, but can't drop it."""
    for trigger in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries_fts_data'").fetchone():
        for statement in _EMPTY_INDEX:
            connection.execute(statement)


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
