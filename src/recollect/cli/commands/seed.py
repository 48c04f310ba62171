"""`recollect seed`: the administrator's way in. Works in every write mode; every entry is checked before the first is stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from recollect.cli.opening import NoWait, Opened, Wait, opened
from recollect.cli.options import Call, command
from recollect.cli.output import pairs, print_json, say, show, waiting
from recollect.cli.progress import bar
from recollect.cli.reading import whole
from recollect.engine.remembering.drafts import draft_from
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Scope, checked_id

app = typer.Typer(add_completion=False)

IMPORTANCE = 0.5
"""Of what an administrator puts in without a word about it, as the recall contract has it."""


class Format(StrEnum):
    AUTO = "auto"
    JSON = "json"
    LINES = "lines"
    TEXT = "text"


@command(app)
async def seed(
    call: Call,
    file: Annotated[str, typer.Argument(help="A JSON list, JSON lines or lines of text; - is stdin.")],
    format: Annotated[
        Format, typer.Option("--format", help="What the file is, when looking is not enough.")
    ] = Format.AUTO,
    wait: Wait = 60.0,
    no_wait: NoWait = False,
) -> None:
    """Put a file of memories in, as the administrator.

    Entries are texts or objects such as {"content": …, "type": …, "tags": […]}; one with a user_id is that user's.
    """
    entries = list(parsed(whole(file), format))
    async with opened(call) as here:
        counts = await _store(here, entries)
        left = await here.settle(0.0 if no_wait else wait)
    if call.json:
        print_json(counts)
    else:
        show(pairs(counts or {"seeded": "nothing: the file is empty"}))
    if remark := waiting(left):
        say(remark)


async def _store(here: Opened, entries: list[tuple[str, dict[str, Any]]]) -> dict[str, int]:
    seeds = [(place, *_whose(here.scope, fields, place)) for place, fields in entries]
    for place, _, fields in seeds:
        with _naming(place):
            draft_from(fields, here.settings.max_content_bytes)
    counts: Counter[str] = Counter()
    with bar("seeding", len(entries)) as advance:
        for number, (place, scope, fields) in enumerate(seeds, start=1):
            with _naming(place):
                receipt = await here.engine.remember(scope, fields, as_admin=True)
            counts[receipt.outcome] += 1
            advance(number, None)
    return dict(counts)


def _whose(scope: Scope, fields: Mapping[str, Any], place: str) -> tuple[Scope, dict[str, Any]]:
    """Where an entry belongs, and the entry without it."""
    with _naming(place):
        user = checked_id(fields["user_id"], "user_id") if "user_id" in fields else scope.user
    return replace(scope, user=user), {name: value for name, value in fields.items() if name != "user_id"}


class _naming:
    """Says in which entry an error lies."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, problem: BaseException | None, where: Any) -> None:
        if isinstance(problem, RecollectError):
            raise type(problem)(f"{self._place}: {problem.message}") from None


def parsed(text: str, format: Format) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries with where each stands."""
    match _format(text) if format is Format.AUTO else format:
        case Format.JSON:
            for number, entry in enumerate(_list(text), start=1):
                yield f"entry {number}", _fields(entry, f"entry {number}")
        case Format.LINES:
            for number, line in _lines(text):
                yield f"line {number}", _fields(_json(line, f"line {number}: "), f"line {number}")
        case _:
            for number, line in _lines(text):
                yield f"line {number}", _fields(line, f"line {number}")


def _format(text: str) -> Format:
    start = text.lstrip()[:1]
    return {"[": Format.JSON, "{": Format.LINES}.get(start, Format.TEXT)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not `splitlines`: it also splits at characters that may stand inside a JSON string or a sentence.
    return ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _list(text: str) -> list[Any]:
    entries = _json(text, "")
    if not isinstance(entries, list):
        raise InvalidInput("expected a JSON list of memories")
    return entries


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"{place}not JSON ({problem}); plain text needs --format text") from None


def _fields(entry: Any, place: str) -> dict[str, Any]:
    if isinstance(entry, str):
        entry = {"content": entry}
    if not isinstance(entry, Mapping):
        raise InvalidInput(f"{place}: expected a text or an object, not {type(entry).__name__}")
    if "content" not in entry:
        raise InvalidInput(f"{place}: has no content")
    return {"importance": IMPORTANCE, **entry, "source": "import"}
