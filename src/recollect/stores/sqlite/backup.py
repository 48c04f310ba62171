"""A copy of a database file while others go on writing to it: one moment of it, whole, in a file that stands alone.

The copy is made page by page through SQLite's own backup. A read transaction stays open beside it, so that every page is of the
same moment: without it each write of somebody else would make the copy begin again, and under steady writing it would never end.
Nobody waits for it meanwhile; only the log of the original grows until it is done.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recollect.errors import InvalidInput, NotFound
from recollect.stores.sqlite.connection import connect_reader
from recollect.stores.sqlite.errors import translating

PAGES = 256
"""Copied at a time: often enough to show how far it is."""

Progress = Callable[[int, int], None]
"""Told how many pages are done, of how many."""


def back_up(source: Path, target: Path, progress: Progress = lambda done, total: None, *, pages: int = PAGES) -> int:
    """Copy `source` to `target`, which takes its name when it is whole and sound; how many bytes it has."""
    if not source.is_file():
        raise NotFound(f"there is no database at {source}")
    if target.exists() and (target.samefile(source) or Path(f"{target}-wal").exists()):
        raise InvalidInput(f"{target} is a database in use; a backup needs a file of its own")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with translating:
                _copy(source, draft, progress, pages)
            with open(draft, "rb") as copied:
                os.fsync(copied.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as problem:
        raise InvalidInput(f"can't write {target}: {problem.strerror}") from None
    return target.stat().st_size


def _copy(source: Path, draft: Path, progress: Progress, pages: int) -> None:
    with closing(connect_reader(source)) as reader, closing(sqlite3.connect(draft, isolation_level=None)) as copy:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the moment that is copied is now
        reader.backup(copy, pages=pages, progress=lambda _, left, total: progress(total - left, total), sleep=0)
        reader.execute("COMMIT")
        copy.execute("PRAGMA journal_mode = DELETE")  # no log beside it: the file is all there is
        found = [row[0] for row in copy.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise InvalidInput(
                f"the database is damaged, and so would be its copy: {found[0]} (see `recollect doctor`)"
            )
