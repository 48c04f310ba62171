"""What was said a moment ago in sessions of which nothing may be kept: in this process's memory, for as long as they last.

Without it an incognito chat could not follow its own thread. It is never written anywhere, and it ends with the session, with
the process, or with half an hour of silence.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect.model import Message, Scope

MOST_SESSIONS = 1000
MOST_MESSAGES = 20
LONGEST = 8000
"""Characters of a message that are kept in mind."""
MOST_CHARS = 8_000_000
"""Of all sessions together: those that were quiet for longest give way."""
IDLE = timedelta(minutes=30)


@dataclass
class _Aside:
    at: datetime
    said: list[Message] = field(default_factory=list)
    count: int = 0

    @property
    def chars(self) -> int:
        return sum(len(message.content) for message in self.said)


class Asides:
    def __init__(self, most_sessions: int = MOST_SESSIONS, most_chars: int = MOST_CHARS) -> None:
        self._sessions: OrderedDict[tuple[Scope, str], _Aside] = OrderedDict()
        self._most_sessions, self._most_chars = most_sessions, most_chars
        self._chars = 0

    def said(self, scope: Scope, session_id: str, now: datetime) -> Sequence[Message]:
        self._end_quiet(now)
        found = self._sessions.get((scope, session_id))
        return tuple(found.said) if found else ()

    def keep(self, scope: Scope, session_id: str, role: str, text: str, now: datetime) -> None:
        self._end_quiet(now)
        aside = self._taken((scope, session_id)) or _Aside(now)
        message = Message(
            id=f"aside-{aside.count}",
            session_id=session_id,
            order=aside.count,
            role=role,
            content=text[:LONGEST],
            created_at=now,
        )
        kept = _Aside(now, [*aside.said, message][-MOST_MESSAGES:], aside.count + 1)
        self._sessions[scope, session_id] = kept
        self._chars += kept.chars
        while len(self._sessions) > self._most_sessions or (self._chars > self._most_chars and len(self._sessions) > 1):
            self._taken(next(iter(self._sessions)))

    def end(self, scope: Scope, session_id: str) -> None:
        self._taken((scope, session_id))

    def erase(self, tenant: str, user: str) -> None:
        for key in [key for key in self._sessions if (key[0].tenant, key[0].user) == (tenant, user)]:
            self._taken(key)

    def _end_quiet(self, now: datetime) -> None:
        """Oldest first, so that only those that end are looked at."""
        while self._sessions and now - next(iter(self._sessions.values())).at > IDLE:
            self._taken(next(iter(self._sessions)))

    def _taken(self, key: tuple[Scope, str]) -> _Aside | None:
        aside = self._sessions.pop(key, None)
        if aside is not None:
            self._chars -= aside.chars
        return aside
