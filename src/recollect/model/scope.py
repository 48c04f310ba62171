"""Whose memory it is. Nothing is stored or read without a `Scope`, so nothing can be stored or read for nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

from recollect.errors import InvalidInput

MAX_ID_CHARS = 255
DATA = "@data/"
"""How the names of spaces begin that hold the data chat. What is in them is shown only as far as somebody may still use the
tables it rests on, and so by no door but the one that asks."""


def checked_id(value: object, what: str) -> str:
    """`value` as an identifier that every store can hold: text, 1 to 255 characters, printable, valid Unicode."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    if not value.strip():
        raise InvalidInput(f"{what} must not be empty")
    if len(value) > MAX_ID_CHARS:
        raise InvalidInput(f"{what} has {len(value)} characters; at most {MAX_ID_CHARS} are allowed")
    if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise InvalidInput(f"{what} must not contain control characters or broken Unicode")
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """One user's memory in one space of one tenant: the unit that is isolated, searched, exported and erased."""

    tenant: str
    user: str
    space: str = "default"

    def __post_init__(self) -> None:
        checked_id(self.tenant, "tenant")
        checked_id(self.user, "user")
        checked_id(self.space, "space")

    def within(self, space: str) -> Scope:
        """The same user's other space, by a name that comes from outside."""
        if isinstance(space, str) and space.startswith(DATA):
            raise InvalidInput(f"spaces that begin with {DATA} belong to the data chat: ask it at /memoryChat")
        return replace(self, space=space)

    @property
    def data(self) -> Scope:
        """Where the data chat of this space keeps what was asked."""
        if self.space.startswith(DATA):
            return self
        name = self.space
        if len(DATA + name) > MAX_ID_CHARS:
            name = blake2b(name.encode(), digest_size=32).hexdigest()
        return replace(self, space=DATA + name)
