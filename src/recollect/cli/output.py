"""What commands print: JSON that machines can take as it is, and tables that fit a terminal of 80 columns.

Stored text is somebody's text. It is shown as text: control characters are made visible instead of being obeyed, and square
brackets are not styles.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recollect.model import Backlog, Memory, Message

SHOWN_CHARS = 400


def plain(value: Any) -> Any:
    """`value` as JSON knows it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value


def print_json(value: Any) -> None:
    typer.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def say(message: str) -> None:
    """A remark beside the result."""
    typer.echo(message, err=True)


def show(*things: Any) -> None:
    console = Console(highlight=False, emoji=False)
    for thing in things:
        if console.is_terminal or isinstance(thing, str):
            console.print(thing, markup=False, soft_wrap=isinstance(thing, str | Text))
        else:
            typer.echo(_unpadded(console, thing))


def _unpadded(console: Console, thing: Any) -> str:
    """Tables fill their lines with blanks, which are of use to a terminal alone."""
    with console.capture() as drawn:
        console.print(thing, markup=False, soft_wrap=isinstance(thing, Text))
    return "\n".join(line.rstrip() for line in drawn.get().removesuffix("\n").split("\n"))


def visible(text: str) -> str:
    """`text` without anything a terminal would act upon, or that would reorder what stands beside it."""
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cf"} or c == "\u200d" else "·" for c in text
    )


def excerpt(text: str) -> str:
    text = visible(text).strip()
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS].rstrip() + " …"


def when(at: datetime | None) -> str:
    return "" if at is None else at.astimezone().strftime("%Y-%m-%d %H:%M")


def described(thing: Memory | Message) -> str:
    """The line under a text: what it is, since when, and the id to call it by."""
    if isinstance(thing, Message):
        words = [thing.id, thing.role, thing.name or "", f"in {thing.session_id}", when(thing.created_at)]
    else:
        words = [
            thing.id,
            thing.type.value,
            "pinned" if thing.pinned else "",
            "" if thing.status == "active" else thing.status.value,
            f"[{', '.join(thing.tags)}]" if thing.tags else "",
            thing.theme or "",
            when(thing.created_at),
        ]
    return visible(" · ".join(word for word in words if word))


def entry(content: str, *lines: str) -> Text:
    return Text.assemble(excerpt(content), *((f"\n{line}", "dim") for line in lines if line))


def grid(rows: Iterable[Sequence[str | Text]], *, numbered: bool = False) -> Table:
    """Rows without lines between them: a short column, then a wide one."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right" if numbered else "left", no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*(each if isinstance(each, Text) else Text(each) for each in row))
    return table


def pairs(values: Mapping[str, Any]) -> Table:
    """Names and values, without those that say nothing."""
    said = {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}
    return grid([(name.replace("_", " "), visible(_worded(value))) for name, value in said.items()])


def waiting(backlog: Backlog | None) -> str | None:
    """What is to be said about embeddings that are not made yet."""
    if backlog is None or not (backlog.pending or backlog.error):
        return None
    parts = [
        f"{backlog.pending} pending" if backlog.pending else "",
        f"{backlog.error} failed" if backlog.error else "",
    ]
    left = " and ".join(filter(None, parts))
    return f"embeddings: {left}; found by words until they are made (`recollect doctor` says why)"


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
