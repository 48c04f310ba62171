"""What the data exports of chats share: a document with every conversation, each perhaps a tree of which one branch counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.cli.importers.files import documents
from recollect.cli.importers.pieces import Piece, an_object, name_of, placed
from recollect.engine.exporting.lines import Line
from recollect.errors import InvalidInput

Talk = Mapping[str, Any]


def read_talks(path: Path, title: str, lines_of: Callable[[Talk], list[Line]]) -> Iterator[Piece]:
    """Every conversation of `conversations.json`, alone, in its folder or in its zip. `title` is where each has its title."""
    for name, told in documents(path, "conversations"):
        talks = told if isinstance(told, list) else [told]
        for number, talk in enumerate(talks, start=1):
            called = talk.get(title) if isinstance(talk, Mapping) else None
            where = f"{name}, conversation {number} {name_of(called)}"
            try:
                yield Piece(where=where, lines=lines_of(an_object(talk, "a conversation")))
            except InvalidInput as problem:
                raise placed(where, problem) from None


def branch(nodes: Mapping[str, Any], current: object) -> list[str]:
    """The names of the nodes from the root to the current one, or to the one that was made last where none is current."""
    here = current if isinstance(current, str) and current in nodes else _latest(nodes)
    walked: dict[str, None] = {}
    while here is not None:
        if here in walked:
            raise InvalidInput(f"mapping goes round in a circle at {here!r}")
        walked[here] = None
        above = an_object(nodes[here], f"mapping[{here!r}]").get("parent")
        if above is not None and above not in nodes:
            raise InvalidInput(f"mapping names a parent that is not in it: {above!r}")
        here = above
    return [*walked][::-1]


def _latest(nodes: Mapping[str, Any]) -> str | None:
    ends = [name for name, node in nodes.items() if not an_object(node, f"mapping[{name!r}]").get("children")]
    return max(ends, key=lambda name: (_made(nodes[name]), name), default=None)


def _made(node: Mapping[str, Any]) -> float:
    made = (node.get("message") or {}).get("create_time")
    return float(made) if isinstance(made, int | float) else 0.0
