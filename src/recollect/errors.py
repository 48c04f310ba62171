"""Every error Recollect raises, as one small tree.

    RecollectError
    ├── InvalidInput    400  the request itself is wrong
    ├── Unauthenticated 401  who is asking could not be established
    ├── NotAllowed      403  understood, and refused by a rule (read-only, memory off, someone else's)
    ├── NotFound        404  absent, forgotten or foreign: the three are indistinguishable on purpose
    ├── Conflict        409  right in itself, but not with what is stored
    ├── TooLarge        413  over a documented size limit
    ├── RateLimited     429  try again later
    ├── Unsupported     501  this store, provider or build cannot do that
    ├── Unavailable     503  a part we depend on is down, full or too slow
    └── Broken          500  our own promise failed; always a bug

Callers catch by class; machines read `code`. Messages say what was wrong, what was expected and how to fix it, and never
carry stored content or secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "Broken",
    "Conflict",
    "InvalidInput",
    "NotAllowed",
    "NotFound",
    "RateLimited",
    "RecollectError",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
]


class RecollectError(Exception):
    """The root: catch this to catch everything Recollect raises on purpose."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details


class InvalidInput(RecollectError):
    """The request itself is wrong."""

    code, status = "invalid_input", 400


class Unauthenticated(RecollectError):
    """The message is the reason for the log; whoever asked is told the same sentence whatever it was."""

    code, status = "unauthenticated", 401


class NotAllowed(RecollectError):
    """Understood, and refused by a rule: read-only, memory off, someone else's."""

    code, status = "not_allowed", 403


class NotFound(RecollectError):
    """Absent, forgotten or foreign: the three are indistinguishable on purpose."""

    code, status = "not_found", 404


class Conflict(RecollectError):
    """Right in itself, but not with what is stored."""

    code, status = "conflict", 409


class TooLarge(RecollectError):
    """Over a documented size limit."""

    code, status = "too_large", 413


class RateLimited(RecollectError):
    """Try again later."""

    code, status = "rate_limited", 429


class Unsupported(RecollectError):
    """This store, provider or build cannot do that."""

    code, status = "unsupported", 501


class Unavailable(RecollectError):
    """A part we depend on is down, full or too slow."""

    code, status = "unavailable", 503


class Broken(RecollectError):
    """Our own promise failed; always a bug."""

    code, status = "broken", 500
