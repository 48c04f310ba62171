"""From what a caller says to a draft or a patch that can be stored: every field checked once, here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from recollect.errors import InvalidInput
from recollect.model import Draft, MemoryType, Source, checked_id
from recollect.policy.guard import (
    MAX_CONTENT_BYTES,
    checked_fraction,
    checked_label,
    checked_labels,
    checked_text,
    checked_value,
    slug,
)

E = TypeVar("E", bound=StrEnum)
_MONTH = re.compile(r"\d{4}-\d{2}")


def checked_choice(value: object, kind: type[E], what: str) -> E:
    try:
        return kind(value)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{what} must be one of {known}") from None


def checked_time(value: object, what: str) -> datetime:
    """A moment in UTC. Text in ISO 8601 is understood, down to a bare month; a time without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value)
        except ValueError:
            raise InvalidInput(f"{what} must be a time such as 2025-03-01T09:30:00Z") from None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a datetime or ISO 8601 text, not {type(value).__name__}")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{what} is outside the years 1 to 9999 in UTC") from None


def checked_switch(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be true or false")
    return value


def _optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


def _checks(max_bytes: int) -> Mapping[str, Callable[[Any], Any]]:
    return {
        "content": lambda v: checked_text(v, "content", max_bytes),
        "type": lambda v: checked_choice(v, MemoryType, "type"),
        "theme": _optional(lambda v: slug(checked_label(v, "theme"))),
        "key": _optional(lambda v: checked_label(v, "key")),
        "value": checked_value,
        "role": lambda v: checked_id(v, "role")[:20],
        "source": lambda v: checked_choice(v, Source, "source"),
        "confidence": lambda v: checked_fraction(v, "confidence"),
        "importance": _optional(lambda v: checked_fraction(v, "importance")),
        "pinned": lambda v: checked_switch(v, "pinned"),
        "manually_saved": lambda v: checked_switch(v, "manually_saved"),
        "tags": lambda v: checked_labels(v, "tags"),
        "source_ids": lambda v: checked_labels(v, "source_ids"),
        "source_conversation_id": _optional(lambda v: checked_id(v, "source_conversation_id")),
        "source_message_id": _optional(lambda v: checked_id(v, "source_message_id")),
        "created_at": _optional(lambda v: checked_time(v, "created_at")),
        "expires_at": _optional(lambda v: checked_time(v, "expires_at")),
        "id": _optional(lambda v: checked_id(v, "id")),
    }


_DEFAULT_CHECKS = _checks(MAX_CONTENT_BYTES)
FIELDS = tuple(each.name for each in fields(Draft))
EDITABLE = tuple(name for name in FIELDS if name not in {"id", "created_at"})


def checked_fields(values: Mapping[str, Any], allowed: tuple[str, ...], max_bytes: int) -> dict[str, Any]:
    """`values`, each checked and converted; an unknown name is refused with the names there are."""
    checks = _DEFAULT_CHECKS if max_bytes == MAX_CONTENT_BYTES else _checks(max_bytes)
    for name in values:
        if name not in allowed:
            raise InvalidInput(f"there is no field {name!r}; there are {', '.join(allowed)}")
    return {name: checks[name](value) for name, value in values.items()}


def draft_from(values: Mapping[str, Any], max_bytes: int = MAX_CONTENT_BYTES) -> Draft:
    return Draft(**checked_fields(values, FIELDS, max_bytes))
