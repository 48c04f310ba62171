"""Care for the file itself: making deleted words unrecoverable, and telling a doctor how it is."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from recollect.stores.sqlite import fulltext

_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.02
_MOST_IN_MEMORY = 256 * 1024 * 1024

_MISCOUNTED = """
    SELECT count(*) FROM spaces AS s WHERE size <> (
        SELECT count(*) FROM entries AS e
        WHERE (e.tenant_id, e.user_id, e.space) = (s.tenant_id, s.user_id, s.space))
"""
_ORPHANED = """
    SELECT count(*) FROM entries AS e WHERE NOT EXISTS (
        SELECT 1 FROM memories AS m
        WHERE e.kind = 'memory' AND m.status = 'active'
          AND (m.tenant_id, m.user_id, m.space, m.id) = (e.tenant_id, e.user_id, e.space, e.target_id)
        UNION ALL
        SELECT 1 FROM messages AS m
        WHERE e.kind = 'message'
          AND (m.tenant_id, m.user_id, m.space, m.id) = (e.tenant_id, e.user_id, e.space, e.target_id))
"""
_UNINDEXED = """
    SELECT
      (SELECT count(*) FROM memories AS m WHERE m.status = 'active' AND NOT EXISTS (
         SELECT 1 FROM entries AS e WHERE e.kind = 'memory'
           AND (e.tenant_id, e.user_id, e.space, e.target_id) = (m.tenant_id, m.user_id, m.space, m.id)))
    + (SELECT count(*) FROM messages AS m WHERE coalesce(m.searchable, m.content) <> '' AND NOT EXISTS (
         SELECT 1 FROM entries AS e WHERE e.kind = 'message'
           AND (e.tenant_id, e.user_id, e.space, e.target_id) = (m.tenant_id, m.user_id, m.space, m.id)))
"""


class Finding(NamedTuple):
    """One thing that was looked at: what, whether it is well, and in a few words what was seen."""

    name: str
    ok: bool
    detail: str


def scrub(connection: sqlite3.Connection) -> bool:
    """Make deleted words unrecoverable from the files; False when somebody kept them in use, or there was no room.

    `secure_delete` overwrites what is freed, and three things are out of its reach: segments of the full-text index, the log,
    and copies that stay in the unused middle of a page when its rows move to another. Merging, emptying and rewriting
    the file get rid of them, in this order.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    owed = [(id,) for (id,) in connection.execute("SELECT id FROM scrubs")]
    done = all(_patiently(connection, step, deadline) for step in (fulltext.clean, _rewrite, _empty_log))
    if done and owed:
        with suppress(sqlite3.OperationalError):  # then it is done once more, by whoever looks next
            connection.executemany("DELETE FROM scrubs WHERE id = ?", owed)
            _empty_log(connection)
    return done


def _patiently(connection: sqlite3.Connection, step: Callable[[sqlite3.Connection], bool], deadline: float) -> bool:
    while True:
        try:
            if step(connection):
                return True
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return False
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)


def _rewrite(connection: sqlite3.Connection) -> bool:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    connection.execute(f"PRAGMA temp_store = {'MEMORY' if pages * size <= _MOST_IN_MEMORY else 'FILE'}")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
    return True


def _empty_log(connection: sqlite3.Connection) -> bool:
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def examine(connection: sqlite3.Connection, path: Path | None, full_text: bool) -> list[Finding]:
    return [*_file(connection, path), *_index(connection, full_text)]


def _file(connection: sqlite3.Connection, path: Path | None) -> Iterator[Finding]:
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    yield Finding("file", verdict == "ok", "sound" if verdict == "ok" else "damaged: restore it from a backup")
    broken = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    yield Finding("references", not broken, f"{broken} rows refer to something that is not there")
    if path is not None:
        sizes = {end: Path(f"{path}{end}") for end in ("", "-wal")}
        bytes_ = {end: file.stat().st_size for end, file in sizes.items() if file.exists()}
        yield Finding("size", True, f"{bytes_.get('', 0):,} bytes, log {bytes_.get('-wal', 0):,} bytes")
        private = path.stat().st_mode & 0o077 == 0
        yield Finding("privacy", private, "only its owner can read it" if private else f"run: chmod 600 {path}")


def _index(connection: sqlite3.Connection, full_text: bool) -> Iterator[Finding]:
    if full_text:
        sound = fulltext.agrees(connection)
        yield Finding(
            "full text",
            sound,
            "the index agrees with the entries"
            if sound
            else "the index disagrees with the entries: run `recollect db reindex`",
        )
    else:
        yield Finding("full text", False, "not in use: words are found by scanning, which is slow")
    for name, query, words in (
        ("entry counts", _MISCOUNTED, "spaces whose count of entries is wrong"),
        ("entries", _ORPHANED, "entries whose memory or message is not there"),
        ("indexed", _UNINDEXED, "memories or messages that can't be found because they have no entry"),
    ):
        count = connection.execute(query).fetchone()[0]
        yield Finding(name, count == 0, f"{count} {words}")
