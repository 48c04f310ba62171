"""What this process knows of the sessions under way, and nobody else needs to.

- The working memory of incognito sessions, and of those where memory is switched off: it lives here and nowhere else.
- Which scopes were active lately, so that what has gone quiet is found without asking for everybody's.
- Which sessions have turns that a model has yet to read. It is a reminder; the record is in the store.

Each is bounded by count. Beyond it, what was quiet for longest goes: a private session ends, the others are found by the round
that looks through everybody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

from recollect.engine.bounded import Latest
from recollect.model import Scope, WorkingMemory

MOST_PRIVATE = 10_000
MOST_ACTIVE = 100_000
MOST_WAITING = 10_000


class Sessions:
    def __init__(
        self, most_private: int = MOST_PRIVATE, most_active: int = MOST_ACTIVE, most_waiting: int = MOST_WAITING
    ) -> None:
        self._private: Latest[tuple[Scope, str], WorkingMemory] = Latest(most_private)
        self._active: Latest[Scope, datetime] = Latest(most_active)
        self._waiting: Latest[tuple[Scope, str], None] = Latest(most_waiting)
        self._lock = threading.Lock()
        self.called: Callable[[], None] = lambda: None
        """Called when a session has something to be read; a runner puts itself here."""
        self.looked_through: Scope | None = None
        """How far the scopes of earlier processes were looked through."""
        self.knows_all = False

    def private(self, scope: Scope, session_id: str) -> WorkingMemory | None:
        with self._lock:
            return self._private.get((scope, session_id))

    def keep_private(self, scope: Scope, working: WorkingMemory) -> None:
        with self._lock:
            self._private[scope, working.session_id] = working

    def touch(self, scope: Scope, at: datetime) -> None:
        with self._lock:
            self._active[scope] = at

    def quiet(self, before: datetime) -> list[Scope]:
        """Scopes in which nothing happened since; they are no longer looked after, and neither are private sessions of then."""
        with self._lock:
            found = [scope for scope, at in self._active.items() if at < before]
            for scope in found:
                del self._active[scope]
            for key in [key for key, working in self._private.items() if working.updated_at < before]:
                del self._private[key]
            return found

    def call(self, scope: Scope, session_id: str) -> None:
        self.remind(scope, session_id)
        self.called()

    def remind(self, scope: Scope, session_id: str) -> None:
        """To be read with the next that are, without hurry."""
        with self._lock:
            self._waiting[scope, session_id] = None

    def waiting(self) -> list[tuple[Scope, str]]:
        with self._lock:
            found = list(self._waiting)
            self._waiting.clear()
            return found

    def forget(self, scope: Scope, session_id: str | None = None) -> None:
        """Nothing of this session, or of this scope, is to remain."""
        with self._lock:
            for kept in (self._private, self._waiting):
                for key in [key for key in kept if key[0] == scope and session_id in (None, key[1])]:
                    del kept[key]
            if session_id is None:
                self._active.pop(scope, None)
