"""Folders and files on this machine: whether they are there, ours, private, and have room."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from recollect.bootstrap import sqlite_path
from recollect.cli.checks.checking import Check, broken, warning, well
from recollect.settings import Settings

MEGABYTE = 1024 * 1024
LITTLE_SPACE, NO_SPACE = 1024 * MEGABYTE, 100 * MEGABYTE
USABLE = os.R_OK | os.W_OK | os.X_OK
SECRET_KEY = "secret.key"


def data_folder(folder: Path) -> Check:
    name, choice = "data folder", "choose another with RECOLLECT_DATA_DIR"
    if not folder.exists():
        return _to_be_made(name, folder, choice)
    if not folder.is_dir():
        return broken(name, f"RECOLLECT_DATA_DIR: {folder} is no folder", f"move it away, or {choice}")
    if not os.access(folder, USABLE):
        return broken(name, f"{folder} can't be written", f"chown or chmod u+rwx {folder}, or {choice}")
    if folder.stat().st_mode & 0o077:
        return warning(name, f"others on this machine can look into {folder}", f"chmod 700 {folder}")
    return well(name, f"{folder} is writable and private")


def database_file(settings: Settings) -> Check | None:
    """The file that memories are in, as far as it can be seen without opening it."""
    path = sqlite_path(settings)
    if path in (None, ":memory:"):
        return None
    file, name, choice = Path(str(path)), "database file", "name another file with RECOLLECT_STORE or --store"
    if file.is_dir():
        return broken(name, f"{file} is a folder; a file was expected", choice)
    if file.exists() and not os.access(file, os.R_OK | os.W_OK):
        return broken(name, f"{file} can't be read and written", f"chown or chmod u+rw {file}, or {choice}")
    if file.exists() and file.stat().st_mode & 0o077:
        return warning(name, f"others on this machine can read {file}", f"chmod 600 {file}")
    if file.parent.is_dir():
        if os.access(file.parent, USABLE):
            return well(name, f"{file} {'is there' if file.exists() else 'can be made'}")
        return broken(name, f"nothing can be written beside {file}", f"chmod u+rwx {file.parent}, or {choice}")
    return _to_be_made(name, file.parent, choice)


def _to_be_made(name: str, folder: Path, choice: str) -> Check:
    there = nearest(folder)
    if not there.is_dir():
        return broken(name, f"{folder} can't be made: {there} is no folder", choice)
    if not os.access(there, USABLE):
        return broken(name, f"{folder} can't be made: {there} can't be written", f"chmod u+rwx {there}, or {choice}")
    return well(name, f"{folder} is not there yet; it is made when it is needed")


def nearest(folder: Path) -> Path:
    """The folder itself, or the first one above it that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def disk(settings: Settings) -> Check:
    path = sqlite_path(settings)
    folder = nearest(settings.data_dir if path in (None, ":memory:") else Path(str(path)).absolute().parent)
    free = shutil.disk_usage(folder).free
    said, fix = f"{free // MEGABYTE:,} MB free at {folder}", f"make room on the file system of {folder}"
    if free < NO_SPACE:
        return broken("disk", said, fix)
    return warning("disk", said, fix) if free < LITTLE_SPACE else well("disk", said)


def full_text() -> Check:
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
    except sqlite3.OperationalError:
        fix = "use a Python whose SQLite has FTS5; until then words are searched without an index"
        return warning("FTS5", f"SQLite {sqlite3.sqlite_version} has no full-text search", fix)
    return well("FTS5", f"SQLite {sqlite3.sqlite_version} has it")


def key_file(settings: Settings) -> Check | None:
    """The file that seals stored keys. Nothing to say where there is none: it is made when it is needed."""
    file = settings.data_dir / SECRET_KEY
    if settings.secret_key or not file.exists():
        return None
    fix = "bring it back from a backup, or set RECOLLECT_SECRET_KEY and save the providers' keys again"
    try:
        held = file.read_text(encoding="ascii").split()
    except (OSError, UnicodeError) as problem:
        return broken("key file", f"{file} can't be read ({type(problem).__name__})", fix)
    if not held:
        return broken("key file", f"{file} is empty; it should hold a key", fix)
    if file.stat().st_mode & 0o077:
        return warning("key file", f"others on this machine can read {file}", f"chmod 600 {file}")
    return well("key file", f"{file} is there and private")
