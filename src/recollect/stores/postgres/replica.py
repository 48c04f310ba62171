"""Reads on a streaming replica, as long as nobody can tell.

A replica is behind, by milliseconds or more. So for every scope this process remembers how far the primary's log had come when it
last wrote or read there, and a replica may answer once it has replayed that much: what was written is found, what was forgotten
stays forgotten, and nothing that was seen is gone again. Otherwise the primary answers, as it does when the replica is down. What
*other* processes wrote is seen when it arrives; where that is too late for a forgotten memory, have the primary wait for its
replicas (`synchronous_commit = remote_apply`).

Positions only grow, so one that a connection has once reported holds for whatever it does later: most reads ask for none.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from recollect.errors import Unavailable
from recollect.model import Scope
from recollect.stores.postgres.pool import END, Pool
from recollect.stores.postgres.session import POSITION, Connection

T = TypeVar("T")
Located = Callable[[int], None]
REMEMBERED: Final = 10_000  # scopes; the positions of others are taken to be the latest of those that were dropped
REST: Final = 5.0  # seconds without a question after one that failed
TOO_SLOW: Final = "57014"  # a statement ran into its timeout: on the primary it would only do so again


class NotThere(Exception):
    """The replica is down, or has not come that far."""


class Replica:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._opened = False
        self._resting_until = 0.0
        self._lock = Lock()
        self._floor = 0
        self._wanted: OrderedDict[Scope, int] = OrderedDict()
        self._replayed: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()

    async def read(self, scope: Scope, work: Callable[[Connection, Located], T]) -> T:
        """Run `work` here, or raise `NotThere`. It is handed what to tell the server's position to."""
        if time.monotonic() < self._resting_until:
            raise NotThere
        try:
            if not self._opened:
                await self._pool.open()
                self._opened = True
            return await self._pool.transaction(lambda it: self._read(it, scope, work), writes=False)
        except Unavailable as problem:
            if problem.details.get("sqlstate") == TOO_SLOW:
                raise
            self._resting_until = time.monotonic() + REST
            raise NotThere from None

    def seen(self, scope: Scope | None) -> Located:
        """Takes the position of the primary after it was read or written for `scope`, or for all of them."""

        def note(position: int) -> None:
            with self._lock:
                if scope is None:
                    self._floor = _later(self._floor, position)
                else:
                    self._want(scope, _later(self._wanted.get(scope, 0), position))

        return note

    def wanted(self, scope: Scope) -> int:
        """How far a replica must have come to answer for this scope."""
        with self._lock:
            return max(self._floor, self._wanted.get(scope, 0))

    async def close(self) -> None:
        await self._pool.close()

    def _read(self, connection: Connection, scope: Scope, work: Callable[[Connection, Located], T]) -> T:
        wanted, known = self.wanted(scope), self._replayed.get(connection, 0)
        if known < wanted:
            # Before the transaction: its snapshot may be older than what is asked for within it.
            row = connection.execute(POSITION.encode()).fetchone()
            self._replayed[connection] = known = 0 if row is None else int(row[0])
        if known < wanted:
            raise NotThere

        def located(position: int) -> None:
            self._replayed[connection] = position
            with self._lock:  # with several replicas behind one address, the next one asked must have come as far
                self._want(scope, max(position, self._wanted.get(scope, 0)))

        return work(connection, located)

    def _want(self, scope: Scope, position: int) -> None:
        """Remember it as the latest; whoever was remembered longest ago is then asked for as much as anybody dropped was."""
        self._wanted.pop(scope, None)
        self._wanted[scope] = position
        if len(self._wanted) > REMEMBERED:
            self._floor = max(self._floor, self._wanted.popitem(last=False)[1])


def _later(before: int, now: int) -> int:
    """Where the position after a write could not be learnt, the next that can is beyond it."""
    return now if before == END else max(before, now)
