"""A piece of what comes in, and how its parts are made: ids that stay the same, times, and texts that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from recollect.engine.exporting.lines import Line
from recollect.errors import InvalidInput
from recollect.model import MAX_ID_CHARS, MemoryType, Source

UNTITLED = "untitled"
SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One memory or one conversation. `user` is who it belonged to, where that is said."""

    where: str
    lines: Sequence[Line]
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a conversation, before it has a place."""

    id: str
    role: str
    text: str
    at: datetime | None
    found: bool = True
    """Whether searches may come upon it; what a tool returned is only kept."""


def stable(source: str, *parts: str) -> str:
    """An id for what was called by these names: readable where it can be, and always the same."""
    name = ":".join((source, *parts))
    if len(name) <= MAX_ID_CHARS and name.isprintable():
        return name
    return f"{source}:{blake2b(name.encode(errors='replace'), digest_size=24).hexdigest()}"


def moment(value: object) -> datetime | None:
    """A time as such files have it: seconds since 1970, or ISO text. None where none is given; a refusal for anything else."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        found = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(f"{str(value)[:SHOWN_CHARS]!r} is not a time") from None


def storable(text: str) -> str:
    """`text` without what no store can hold."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def parts(text: str, most: int) -> list[str]:
    """`text` in parts of at most so many bytes, parted at the ends of lines where there are any; none when it is blank."""
    found: list[str] = []
    rest = storable(text).strip()
    while rest:
        piece = rest.encode()[:most].decode(errors="ignore")
        if len(piece) < len(rest) and (end := piece.rfind("\n")) > len(piece) // 2:
            piece = piece[:end]
        found.append(piece.strip())
        rest = rest[len(piece) :].strip()
    return [each for each in found if each]


def memories(
    id: str, text: str, most: int, *, created: datetime | None, updated: datetime | None = None, **fields: Any
) -> list[Line]:
    """The line of a memory; several where its text is longer than one may be."""
    begun = created or updated or datetime.now(UTC)
    line: Line = {"kind": "memory", "type": MemoryType.FACT.value, "source": Source.IMPORT.value}
    line |= {"created_at": begun.isoformat(), "updated_at": max(updated or begun, begun).isoformat()}
    line |= {name: value for name, value in fields.items() if value is not None}
    texts = parts(text, most)
    return [{**line, "id": id if n == 0 else f"{id}#{n + 1}", "content": each} for n, each in enumerate(texts)]


def conversation(id: str, title: str, said: Iterable[Said], most: int, begun: datetime | None) -> list[Line]:
    """The lines of a conversation and its messages, oldest first; none when nothing was said."""
    messages = list(_messages(id, said, most, begun))
    if not messages:
        return []
    times = [each["created_at"] for each in messages if each["dated"]] or [messages[0]["created_at"]]
    start = begun.isoformat() if begun is not None else times[0]
    talk = {"kind": "conversation", "id": id, "title": storable(title), "created_at": start}
    return [{**talk, "updated_at": max(start, *times)}, *messages]


def _messages(id: str, said: Iterable[Said], most: int, begun: datetime | None) -> Iterator[Line]:
    order = 0
    last = begun or datetime.now(UTC)
    for each in said:
        last = each.at or last
        for n, text in enumerate(parts(each.text, most)):
            line: Line = {"kind": "message", "id": each.id if n == 0 else f"{each.id}#{n + 1}", "session_id": id}
            line |= {"order": order, "role": each.role, "content": text}
            line |= {"created_at": last.isoformat(), "dated": each.at is not None}
            yield line if each.found else {**line, "searchable": ""}
            order += 1


def name_of(value: object) -> str:
    """A title or label as it is shown in a refusal."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return repr(text[:SHOWN_CHARS] or UNTITLED)


def an_object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object, not {type(value).__name__}")
    return value


def a_text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{what} must be a text")
    return value


def placed(where: str, problem: InvalidInput) -> InvalidInput:
    """The same refusal, with its place."""
    return InvalidInput(f"{where}: {problem.message}")
