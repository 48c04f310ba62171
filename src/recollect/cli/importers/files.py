"""Reading what people have downloaded: a JSON document, JSON lines, a zip with the document in it, or the folder that was in it.

Nothing is unpacked to the disk, and of a zip only the documents that were asked for are looked at.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from recollect.errors import InvalidInput, TooLarge

MOST_BYTES = 4 * 1024**3
_SQLITE = b"SQLite format 3\x00"


def is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as problem:
        raise InvalidInput(f"can't read {path}: {problem.strerror}") from None


@contextmanager
def rows_of(path: Path, table: str, wanted: Sequence[str]) -> Iterator[sqlite3.Connection]:
    """A SQLite file, opened for reading only, which must have this table with these columns."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            if missing := sorted({*wanted} - columns):
                raise InvalidInput(f"{path}: there is no table {table} with {', '.join(missing)}")
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as problem:
        raise InvalidInput(f"{path}: can't be read as a SQLite file ({type(problem).__name__})") from None


def document(path: Path) -> Any:
    """A file that is one JSON document, or a line of JSON for each thing."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise InvalidInput(f"can't read {path}: {problem.strerror}") from None
    return _loaded(data, path.name)


def documents(path: Path, stem: str) -> Iterator[tuple[str, Any]]:
    """Every `stem*.json` of a folder or a zip, or the file itself, each with its name."""
    if path.is_dir():
        found = sorted(path.rglob(f"{stem}*.json"))
        _some([each.name for each in found], path, stem)
        for each in found:
            yield each.name, document(each)
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _zipped(path, stem)
    else:
        yield path.name, document(path)


def _zipped(path: Path, stem: str) -> Iterator[tuple[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            named = {each.filename: PurePosixPath(each.filename).name for each in archive.infolist()}
            wanted = sorted(each for each, name in named.items() if name.startswith(stem) and name.endswith(".json"))
            _some(wanted, path, stem)
            for each in wanted:
                if (size := archive.getinfo(each).file_size) > MOST_BYTES:
                    raise TooLarge(f"{each} in {path} would have {size:,} bytes; at most {MOST_BYTES:,} are read")
                yield each, _loaded(archive.read(each), each)
    except (zipfile.BadZipFile, RuntimeError, EOFError) as problem:
        raise InvalidInput(f"{path}: the zip is damaged or locked ({problem})") from None


def _some(found: Sequence[str], path: Path, stem: str) -> None:
    if not found:
        raise InvalidInput(f"{path}: there is no {stem}.json in it")


def _loaded(data: bytes, name: str) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{name}: not UTF-8 at byte {problem.start + 1}") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{name}: nested too deeply") from None
    except ValueError as problem:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0]):
            raise InvalidInput(f"{name}: not JSON ({problem})") from None
    return [_line(line, number, name) for number, line in enumerate(lines, start=1)]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _line(line: str, number: int, name: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"{name}, line {number}: not JSON ({problem})") from None
