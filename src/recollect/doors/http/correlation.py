"""The correlation id: one per request, the client's if it can be printed, ours otherwise; in answers, logs and audit.

It travels in a context variable, so that whatever runs on behalf of a request can say which one.
"""

from __future__ import annotations

from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Correlation-ID"
MOST_CHARS = 128

current: ContextVar[str | None] = ContextVar("correlation_id", default=None)


def accepted(given: str) -> str:
    """What the client calls its request, or a name of ours."""
    fit = given.isascii() and given.isprintable() and given.strip() and len(given) <= MOST_CHARS
    return given if fit else str(uuid4())
