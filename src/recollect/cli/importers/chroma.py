"""Chroma, and MemPalace, which keeps its drawers there: a persistent folder, read through Chroma's own library.

A document becomes a memory, under the name of its collection as theme; of a palace, under its room, with wing and hall as tags.
The metadata stays beside it. Vectors are left behind: they are of another model, and are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.cli.importers.pieces import Piece, memories, moment, placed, stable
from recollect.errors import InvalidInput, Unsupported

FILE = "chroma.sqlite3"
DRAWERS = "mempalace_drawers"
PAGE = 500
TIMES = ("created_at", "timestamp", "date", "filed_at")
LABELS = ("wing", "hall")


def read(path: Path, most: int) -> Iterator[Piece]:
    with _collections(path) as collections:
        for collection in collections:
            theme = str(collection.name)
            for id, text, about in _documents(collection):
                where = f"collection {theme}, document {id}"
                try:
                    made = next((found for name in TIMES if (found := _moment(about.get(name))) is not None), None)
                    value = {"from": "chroma", "collection": theme, **about}
                    lines = memories(
                        stable("chroma", theme, id), text, most, created=made, theme=_label(theme), value=value
                    )
                except InvalidInput as problem:
                    raise placed(where, problem) from None
                yield Piece(where=where, lines=lines, user=_owner(about))


def read_palace(path: Path, most: int) -> Iterator[Piece]:
    inner = path / "palace"
    with _collections(inner if not (path / FILE).exists() and inner.is_dir() else path) as collections:
        drawers = next((each for each in collections if each.name == DRAWERS), None)
        if drawers is None:
            raise InvalidInput(f"{path}: there is no collection {DRAWERS}; is it a palace?")
        for id, text, about in _documents(drawers):
            tags = [tag for name in LABELS if (tag := _label(about.get(name))) is not None]
            lines = memories(
                stable("mempalace", id),
                text,
                most,
                created=_moment(about.get("filed_at")),
                theme=_label(about.get("room")),
                tags=tags or None,
                value={"from": "mempalace", **about},
            )
            yield Piece(where=f"drawer {id}", lines=lines)


@contextmanager
def _collections(path: Path) -> Iterator[list[Any]]:
    if not (path / FILE).is_file():
        raise InvalidInput(f"{path} is no folder of Chroma's: there is no {FILE} in it")
    try:
        chromadb, config, errors = (import_module(f"chromadb{each}") for each in ("", ".config", ".errors"))
    except ImportError as problem:
        raise Unsupported(f"Chroma needs the package {problem.name!r}: install recollect[chroma]") from None
    try:
        client = chromadb.PersistentClient(path=str(path), settings=config.Settings(anonymized_telemetry=False))
        yield sorted(client.list_collections(), key=lambda each: str(each.name))
    except (errors.ChromaError, ValueError, OSError) as problem:
        raise InvalidInput(f"{path}: Chroma can't open it ({type(problem).__name__})") from None


def _documents(collection: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Those that have a text, a page at a time."""
    start = 0
    while True:
        page = collection.get(limit=PAGE, offset=start, include=["documents", "metadatas"])
        for id, text, about in zip(page["ids"], page["documents"], page["metadatas"], strict=True):
            if text:
                yield id, text, dict(about or {})
        if len(page["ids"]) < PAGE:
            return
        start += PAGE


def _moment(value: object) -> Any:
    """Metadata is anybody's: what is no time is no time."""
    try:
        return moment(value)
    except InvalidInput:
        return None


def _label(value: object) -> str | None:
    return value if isinstance(value, str) and any(c.isalnum() for c in value) else None


def _owner(about: Mapping[str, Any]) -> str | None:
    user = about.get("user_id")
    return user if isinstance(user, str) and user else None
