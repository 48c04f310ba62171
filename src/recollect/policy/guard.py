"""What may come in at all: text that every store can hold and give back unchanged, within documented sizes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from recollect.errors import InvalidInput, TooLarge

MAX_CONTENT_BYTES = 1024 * 1024
MAX_QUERY_CHARS = 8192
MAX_LABEL_CHARS = 255
MAX_LABELS = 64
MAX_VALUE_BYTES = 64 * 1024

_PARTING = re.compile("[\x0b\x0c\x1c-\x1e\x85]")
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def cleaned(text: str) -> str:
    """`text` without control characters; those that part lines or pages become a line feed. NUL stays, to be refused by name."""
    if _CONTROL.search(text) is None:
        return text
    return _CONTROL.sub("", _PARTING.sub("\n", text))


def checked_text(value: object, what: str, max_bytes: int = MAX_CONTENT_BYTES) -> str:
    """`value` if it can be stored as it is; a typed refusal that says why otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    if not value.strip():
        raise InvalidInput(f"{what} must not be empty or white space only")
    if "\x00" in value:
        raise InvalidInput(f"{what} must not contain NUL characters; remove them first")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as broken:
        raise InvalidInput(f"{what} is not valid Unicode at character {broken.start} (a lone surrogate)") from None
    if size > max_bytes:
        raise TooLarge(f"{what} has {size:,} bytes; at most {max_bytes:,} are allowed", size=size, limit=max_bytes)
    return value


def checked_label(value: object, what: str) -> str:
    """A short text such as a tag, a theme or a key."""
    text = checked_text(value, what, max_bytes=4 * MAX_LABEL_CHARS)
    text = checked_text(cleaned(text), what).strip()
    if len(text) > MAX_LABEL_CHARS:
        raise InvalidInput(f"{what} has {len(text)} characters; at most {MAX_LABEL_CHARS} are allowed")
    return text


def checked_labels(values: object, what: str) -> tuple[str, ...]:
    """Distinct labels, in the order given."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list of texts")
    labels = tuple(dict.fromkeys(checked_label(value, f"each of {what}") for value in values))
    if len(labels) > MAX_LABELS:
        raise InvalidInput(f"{what} has {len(labels)} entries; at most {MAX_LABELS} are allowed")
    return labels


def checked_fraction(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{what} must be a number from 0 to 1")
    return float(value)


def checked_count(value: object, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{what} must be a whole number from {least} to {most:,}")
    return value


def checked_value(value: Any, max_bytes: int = MAX_VALUE_BYTES) -> Any:
    """A JSON value that survives a round trip through both stores."""
    if value is None:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("value must be JSON: NaN and infinity are not")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidInput(f"value must be JSON: {type(problem).__name__}") from None
    checked_text(text, "value", max_bytes)
    if "\\u0000" in text:
        raise InvalidInput("value must not contain NUL characters; remove them first")
    return json.loads(text)


def slug(name: str) -> str:
    """A theme's name as an identifier: folded, words joined by hyphens, letters of every script kept."""
    words = "".join(c if c.isalnum() else " " for c in name.casefold()).split()
    if not words:
        raise InvalidInput("a theme needs at least one letter or digit")
    return "-".join(words)[:MAX_LABEL_CHARS]
