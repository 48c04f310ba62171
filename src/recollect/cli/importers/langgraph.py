"""A LangGraph store: its items as JSON, or the file of its SqliteStore.

Items come in as documents, at the addresses they had, so that `RecollectStore` gives them back under their namespaces and keys;
and like every document they are found by their words through every other door.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.cli.importers.files import document, is_sqlite, rows_of
from recollect.cli.importers.pieces import Piece, a_text, an_object, moment, parts, placed
from recollect.engine.documents import Address, filed
from recollect.engine.exporting.lines import line_of
from recollect.errors import InvalidInput
from recollect.model import Source

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")


def read(path: Path, most: int) -> Iterator[Piece]:
    for number, item in enumerate(_rows(path) if is_sqlite(path) else _items(path), start=1):
        where = f"{path.name}, item {number}"
        try:
            yield _piece(where, an_object(item, "an item"), most)
        except InvalidInput as problem:
            raise placed(where, problem) from None


def _items(path: Path) -> Iterator[object]:
    told = document(path)
    if isinstance(told, Mapping):
        told = told.get("items", [told])
    if not isinstance(told, list):
        raise InvalidInput(f"{path.name}: expected a list of items, or an object with items")
    yield from told


def _rows(path: Path) -> Iterator[object]:
    with rows_of(path, "store", COLUMNS) as connection:
        for row in connection.execute("SELECT * FROM store ORDER BY prefix, key"):
            item = dict(row)
            try:
                value = json.loads(item["value"])
            except (TypeError, ValueError):
                raise InvalidInput(f"{path.name}: the value of {item['prefix']}.{item['key']} is not JSON") from None
            yield {**item, "namespace": str(item["prefix"]).split("."), "value": value}


def _piece(where: str, item: Mapping[str, Any], most: int) -> Piece:
    namespace = item.get("namespace")
    if not isinstance(namespace, list | tuple) or not all(isinstance(each, str) for each in namespace):
        raise InvalidInput("namespace must be a list of texts")
    value = an_object(item.get("value"), "value")
    address = Address(tuple(namespace), a_text(item.get("key"), "key"))
    created = moment(item.get("created_at")) or datetime.now(UTC)
    texts = parts("\n".join(_words(value)), most)
    memory = filed(
        address,
        value,
        texts[0] if texts else address.key,
        created_at=created,
        updated_at=moment(item.get("updated_at")) or created,
        expires_at=moment(item.get("expires_at")),
        source=Source.IMPORT,
    )
    return Piece(where=where, lines=[line_of("memory", memory, leave_out=("simhash",))])


def _words(value: object) -> Iterator[str]:
    """Every text in a value, in the order it stands there."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _words(each)
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
