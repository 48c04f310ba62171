"""mem0: what its `get_all()` returns, written as JSON; points of its Qdrant collection as JSON; or its history database.

A memory keeps its text, its times, who it belonged to, its categories as tags, and the rest of its metadata beside it. The
history knows every text a memory has had: the last one comes in as current, those before it as superseded, and what was deleted
stays deleted. A local Qdrant folder holds pickled objects, which are programs; it is not opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from recollect.cli.importers.files import document, is_sqlite, rows_of
from recollect.cli.importers.pieces import Piece, a_text, an_object, memories, moment, placed, stable
from recollect.engine.exporting.lines import Line
from recollect.errors import InvalidInput, Unsupported
from recollect.model import Status

SOURCE = "mem0"
HISTORY = ("memory_id", "new_memory", "event", "created_at", "is_deleted")
KNOWN = {
    *("id", "memory", "data", "text", "hash", "metadata", "created_at", "updated_at", "user_id", "score"),
    *("categories", "text_lemmatized"),
}
MOST_TAGS = 64


def read(path: Path, most: int) -> Iterator[Piece]:
    if path.is_dir():
        raise Unsupported(
            f"{path} is a folder: a local Qdrant keeps pickled objects, which are not opened. Write what get_all() "
            "returns to a JSON file, or name the history.db"
        )
    if is_sqlite(path):
        yield from _history(path, most)
        return
    for number, item in enumerate(_items(document(path), path.name), start=1):
        where = f"{path.name}, memory {number}"
        try:
            yield _piece(where, an_object(item, "a memory"), most)
        except InvalidInput as problem:
            raise placed(where, problem) from None


def _items(told: object, name: str) -> Iterable[object]:
    """The list of memories, wherever the answer has it."""
    if isinstance(told, list):
        return told
    if isinstance(told, Mapping):
        for inside in ("results", "memories", "points", "result"):
            if inside in told:
                return _items(told[inside], name)
    raise InvalidInput(f"{name}: expected a list of memories, or an object with results")


def _piece(where: str, item: Mapping[str, Any], most: int) -> Piece:
    id = item.get("id")
    if isinstance(item.get("payload"), Mapping):  # a point of Qdrant's
        item = item["payload"]
    text = next((item[name] for name in ("memory", "data", "text") if isinstance(item.get(name), str)), None)
    extra = item.get("metadata") if isinstance(item.get("metadata"), Mapping) else {}
    about = {
        **{name: value for name, value in item.items() if name not in KNOWN and value is not None},
        **(extra or {}),
    }
    lines = memories(
        stable(SOURCE, a_text(str(id or item.get("id") or ""), "id")),
        a_text(text, "memory"),
        most,
        created=moment(item.get("created_at")),
        updated=moment(item.get("updated_at")),
        tags=_tags(item),
        value={"from": SOURCE, **about},
        source_conversation_id=stable(SOURCE, run) if isinstance(run := item.get("run_id"), str) and run else None,
    )
    user = item.get("user_id")
    return Piece(where=where, lines=lines, user=user if isinstance(user, str) and user else None)


def _tags(item: Mapping[str, Any]) -> list[str] | None:
    told = item.get("categories")
    tags = [each for each in told if isinstance(each, str) and each.strip()] if isinstance(told, list) else []
    return tags[:MOST_TAGS] or None


def _history(path: Path, most: int) -> Iterator[Piece]:
    with rows_of(path, "history", HISTORY) as connection:
        rows = connection.execute(
            "SELECT memory_id, new_memory, event, created_at, updated_at, is_deleted FROM history ORDER BY memory_id, rowid"
        )
        for id, told in groupby(rows, key=lambda row: row["memory_id"]):
            where = f"{path.name}, memory {id}"
            try:
                yield Piece(where=where, lines=_versions(str(id), list(told), most))
            except InvalidInput as problem:
                raise placed(where, problem) from None


def _versions(id: str, rows: list[Any], most: int) -> list[Line]:
    """The texts a memory has had, each superseding the one before. None of them where the last word is that it was deleted."""
    if rows[-1]["event"] == "DELETE" or rows[-1]["is_deleted"]:
        return []
    texts = [row for row in rows if isinstance(row["new_memory"], str) and row["new_memory"].strip()]
    lines: list[Line] = []
    for n, row in enumerate(texts):
        last = n == len(texts) - 1
        version: dict[str, Any] = {} if last else {"status": Status.SUPERSEDED.value}
        if n:
            version["supersedes"] = stable(SOURCE, id, str(n))
        at = moment(row["updated_at"]) or moment(row["created_at"])
        name = stable(SOURCE, id) if last else stable(SOURCE, id, str(n + 1))
        lines += memories(name, row["new_memory"], most, created=at, value={"from": SOURCE}, **version)
    return lines
