"""The circumstances under which something is asked: by which way in, in which session, for which request.

They decide nothing about whose memory it is (that is the scope's), but a session may be incognito, and every log line and
audit fact carries the correlation id.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The circumstances of a request: who, in which session, under which name in log and audit."""

    actor: str = "library"
    """How the caller was known: `local`, `jwt`, `key:<id>`, `basic`, `header`, `cli`, `worker`, `library`. Never a secret."""
    session_id: str | None = None
    correlation_id: str | None = None
