"""Whose work is next: of all who have some due, those who were served longest ago; and no one takes a whole batch while others
wait.

A user with thousands of texts waiting must not keep another with three from being found by meaning. Turns are kept in this
process: each worker goes round by itself, and what it claims is leased, so that several go round the same people without harm.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from recollect.model import Scope

MOST_REMEMBERED = 10_000

User = tuple[str, str]


class Turns:
    """Safe from any thread."""

    def __init__(self) -> None:
        self._served: dict[User, None] = {}
        """Users in the order in which they were last served."""
        self._lock = threading.Lock()

    def next(self, waiting: Iterable[Scope], most: int) -> list[Scope]:
        """At most so many scopes, one space a user as long as there are other users; whoever has waited longest comes first."""
        with self._lock:
            place = {user: number for number, user in enumerate(self._served)}
        queues: dict[User, list[Scope]] = {}
        for scope in waiting:
            queues.setdefault((scope.tenant, scope.user), []).append(scope)
        order = sorted(queues, key=lambda user: place.get(user, -1))
        rows = max(map(len, queues.values()), default=0)
        chosen = [queues[user][row] for row in range(rows) for user in order if row < len(queues[user])]
        return chosen[:most]

    def served(self, scope: Scope) -> None:
        with self._lock:
            user = (scope.tenant, scope.user)
            self._served.pop(user, None)
            self._served[user] = None
            if len(self._served) > MOST_REMEMBERED:
                del self._served[next(iter(self._served))]
