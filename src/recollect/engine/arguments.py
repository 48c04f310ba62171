"""What callers say beside the texts themselves: choices, turns, histories, ids. Each is checked once, here, and refused by name.

Python lets anything through that merely looks right: a text where a list is meant is a list of its letters. So lists are asked
for their entries before anything is done with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from recollect.engine.remembering.drafts import checked_choice
from recollect.errors import InvalidInput
from recollect.model import KINDS, Kind

E = TypeVar("E", bound=StrEnum)


def checked_kinds(values: object) -> tuple[Kind, ...]:
    wanted = _entries(values, "kinds", alone=True)
    if not all(isinstance(kind, str) and kind in KINDS for kind in wanted):
        raise InvalidInput(f"kinds must be among {', '.join(KINDS)}")
    return wanted


def checked_choices(values: object, kind: type[E], what: str) -> tuple[E, ...]:
    return tuple(checked_choice(each, kind, f"each of {what}") for each in _entries(values, what, alone=True))


def checked_history(values: object) -> tuple[str, ...]:
    """Earlier turns, as texts."""
    return tuple(checked_words(turn, "each of history") for turn in _entries(values, "history"))


def checked_turns(values: object) -> list[Mapping[str, Any]]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput("turns must be a list of objects such as {'role': 'user', 'content': '…'}")
    turns = list(values)
    for place, turn in enumerate(turns, start=1):
        if not isinstance(turn, Mapping):
            raise InvalidInput(f"each of turns must be an object with a content; number {place} is not")
    return turns


def checked_reference(value: object, what: str) -> str:
    """An id to look up, as it is: one that nothing can have is simply not found."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    return value


def checked_words(value: object, what: str) -> str:
    """Text that is only read, never stored: what can't be encoded is passed over."""
    return checked_reference(value, what).encode("utf-8", "replace").decode()


def checked_seconds(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InvalidInput(f"{what} must be a number of seconds")
    return value


def _entries(values: object, what: str, alone: bool = False) -> tuple[Any, ...]:
    """The entries of a list; where `alone` says so, a single text is a list of one."""
    if alone and isinstance(values, str):
        return (values,)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list of texts, not {type(values).__name__}")
    return tuple(values)
