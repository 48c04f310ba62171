"""One line of an export and the thing it stands for, in both directions.

A file may come from anywhere and may have been edited, and what is stored once is met by every later search and export. So
every field of a line is checked as strictly as if it came in through `add`, and a refusal names the field. What can be worked
out from the rest (the simhash) is worked out, not believed. Fields nobody knows are passed over: a later version may have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from typing import Any

from recollect.engine.remembering.drafts import FIELDS, checked_choice, checked_fields, checked_switch, checked_time
from recollect.errors import InvalidInput, TooLarge
from recollect.model import Conversation, Flag, Memory, Message, Repeat, Scores, Source, Status, Theme, Use, checked_id
from recollect.policy.duplicates import fingerprint
from recollect.policy.guard import (
    checked_count,
    checked_fraction,
    checked_label,
    checked_text,
    checked_value,
    slug,
)
from recollect.policy.merging import MERGED

FORMAT = "recollect-export"
VERSION = 2
READABLE = (1, 2)
"""What is read: the first version had no lines about uses."""
MOST_MESSAGES = 10_000_000
MOST_TIMES = 2**31 - 1
MOST_TOKENS = 2**53
MOST_NAMES = 10_000
SHORT_CHARS = 20
MOST_BYTES = 2**31
FARTHEST = 1e300

Line = dict[str, Any]
Check = Callable[[Any, str], Any]
"""Takes a value and the name of its field; gives what is to be stored."""


Kinds = Mapping[str, tuple[type[Any], Mapping[str, Check]]]
"""What each kind of line becomes, and the check of each of its fields."""


def line_of(kind: str, thing: Any, leave_out: Sequence[str] = ()) -> Line:
    line: Line = {"kind": kind}
    line.update({each.name: _plain(getattr(thing, each.name)) for each in fields(thing) if each.name not in leave_out})
    return line


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


def parsed(line: object, number: int, max_bytes: int, more: Kinds | None = None) -> tuple[str, Any]:
    """The kind of a line and the thing it holds; None for the header. `more`: kinds that are known beside the usual ones."""
    if not isinstance(line, Mapping):
        raise InvalidInput(f"line {number}: expected a JSON object")
    kind, kinds = line.get("kind"), {**_kinds(max_bytes), **(more or {})}
    if kind == "header":
        if line.get("format") != FORMAT or line.get("version") not in READABLE:
            raise InvalidInput(f"line {number}: not a {FORMAT} file of version {VERSION} or before")
        return "header", None
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(("header", *kinds))
        raise InvalidInput(f"line {number}: kind must be one of {known}, not {str(kind)[:40]!r}")
    wanted, checks = kinds[kind]
    try:
        values = _values(wanted, checks, line)
    except (InvalidInput, TooLarge) as problem:
        raise InvalidInput(f"line {number}: {problem.message}") from None
    if wanted is Memory:
        values = {"source": Source.IMPORT, **values, "simhash": fingerprint(values["content"])}
    return kind, wanted(**values)


def telling_of(repeat: Repeat) -> Memory:
    """The memory that a telling would be alone."""
    line = {**repeat.fields, "content": repeat.content, "id": repeat.id}
    return Memory(**_values(Memory, _kinds(MOST_BYTES)["memory"][1], line), simhash=fingerprint(repeat.content))


def _values(wanted: type[Any], checks: Mapping[str, Check], line: Mapping[str, Any]) -> dict[str, Any]:
    return {
        each.name: _value(each, checks[each.name], line)
        for each in fields(wanted)
        if each.name in checks and (each.name in line or _is_required(each))
    }


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(field: Field[Any], check: Check, line: Mapping[str, Any]) -> Any:
    """One field, checked. Null is for those that are None where nobody says otherwise."""
    name = field.name
    if name not in line:
        raise InvalidInput(f"{name} is missing")
    if line[name] is None:
        if field.default is None:
            return None
        raise InvalidInput(f"{name} must not be null")
    try:
        return check(line[name], name)
    except (InvalidInput, TooLarge) as problem:
        raise InvalidInput(problem.message if name in problem.message else f"{name}: {problem.message}") from None


def _names(value: Any, what: str) -> tuple[str, ...]:
    """As many as repeats have gathered, which may be more than one call may give."""
    if not isinstance(value, list | tuple) or len(value) > MOST_NAMES:
        raise InvalidInput(f"{what} must be a list of at most {MOST_NAMES:,} texts")
    return tuple(dict.fromkeys(checked_label(each, f"each of {what}") for each in value))


def _short(value: Any, what: str) -> str:
    if len(name := checked_id(value, what)) > SHORT_CHARS:
        raise InvalidInput(f"{what} has more than {SHORT_CHARS} characters")
    return name


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -FARTHEST <= value <= FARTHEST:
        raise InvalidInput(f"{what} must be a number")
    return float(value)


def _times(value: Any, what: str) -> int:
    return checked_count(value, what, 0, MOST_TIMES)


def _position(value: Any, what: str) -> int:
    return checked_count(value, what, 0, MOST_MESSAGES)


def _tokens(value: Any, what: str) -> dict[str, int]:
    if not isinstance(value, Mapping) or len(value) > MOST_NAMES:
        raise InvalidInput(f"{what} must be an object of whole numbers")
    return {checked_label(name, what): checked_count(count, what, 0, MOST_TOKENS) for name, count in value.items()}


def _scores(value: Any, what: str) -> Scores:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object of numbers")
    try:
        return Scores(**_values(Scores, _SCORES, value))
    except InvalidInput as problem:
        raise InvalidInput(f"{what}.{problem.message}") from None


def _prose(max_bytes: int) -> Check:
    """Text that may be empty, such as the title of a conversation that begins with white space."""

    def check(value: Any, what: str) -> str:
        text = f".{value}" if isinstance(value, str) else value
        return checked_text(text, what, max_bytes + 1)[1:]

    return check


def _told(memory: Mapping[str, Check]) -> Check:
    """The rest of a telling: the fields of a memory without its text, and what has been settled of them."""

    def check(value: Any, what: str) -> Line:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{what} must be an object")
        told = Memory(**_values(Memory, memory, {**value, "content": "-", "id": "-"}))
        fields = line_of("memory", told, leave_out=("id", "content", "simhash"))
        del fields["kind"]
        settled = value.get("settled", {})
        if not isinstance(settled, Mapping) or not set(settled) <= set(MERGED):
            raise InvalidInput(f"{what}.settled must be an object of places")
        places = {name: checked_count(place, what, 0, MOST_TIMES) for name, place in settled.items()}
        return {**fields, "settled": places} if places else fields

    return check


def _each(check: Check, *names: str) -> dict[str, Check]:
    return dict.fromkeys(names, check)


_SCORES = {**_each(_number, "relevance", "recency", "importance", "total"), "computed_at": checked_time}
_FLAG: dict[str, Check] = {**_each(checked_id, "memory_id", "other_id"), "at": checked_time}
_USE: dict[str, Check] = {
    **_each(checked_id, "memory_id", "message_id"),
    "reference": _short,
    "cited": checked_switch,
    "at": checked_time,
}


@cache
def _kinds(max_bytes: int) -> Kinds:
    text: Check = partial(checked_text, max_bytes=max_bytes)
    prose = _prose(max_bytes)
    theme: dict[str, Check] = {
        "slug": lambda value, what: slug(checked_label(value, what)),
        "display_name": checked_label,
        "description": prose,
        **_each(checked_time, "created_at", "updated_at"),
    }
    conversation = {
        "id": checked_id,
        **_each(prose, "title", "summary"),
        **_each(checked_time, "created_at", "updated_at", "expires_at"),
        "message_count": _position,
        "is_summarized": checked_switch,
        **_each(_names, "databases", "database_tags", "summary_grounds"),
    }
    message: dict[str, Check] = {
        **_each(checked_id, "id", "session_id", "name", "correlation_id"),
        "order": _position,
        "role": _short,
        "content": text,
        "created_at": checked_time,
        **_each(checked_switch, "dated", "partial"),
        **_each(prose, "sql_query", "query_explanation", "searchable"),
        **_each(_names, "tables_used", "grounds"),
        # What a query returned is kept as it came: only the answer's own limit holds for it.
        "execution_result": lambda value, _: checked_value(value, max_bytes),
        "tokens": _tokens,
        "execution_time_ms": _number,
    }
    memory: dict[str, Check] = {
        **_each(lambda value, what: checked_fields({what: value}, FIELDS, max_bytes)[what], *FIELDS),
        **_each(_names, "tags", "source_ids"),
        **_each(checked_fraction, "base_importance", "metadata_confidence"),
        **_each(_times, "repeat_count", "access_count"),
        "status": lambda value, what: checked_choice(value, Status, what),
        "supersedes": checked_id,
        **_each(checked_time, "updated_at", "last_accessed", "deleted_at", "source_expired_at"),
        "last_scores": _scores,
    }
    repeat: dict[str, Check] = {
        **_each(checked_id, "memory_id", "id", "source_message_id"),
        "place": _times,
        "content": text,
        "fields": _told(memory),
        "at": checked_time,
    }
    return {
        "theme": (Theme, theme),
        "conversation": (Conversation, conversation),
        "message": (Message, message),
        "memory": (Memory, memory),
        "repeat": (Repeat, repeat),
        "flag": (Flag, _FLAG),
        "use": (Use, _USE),
    }
