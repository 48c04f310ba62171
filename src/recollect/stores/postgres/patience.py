"""A connection that does not wait for ever.

A statement runs into the server's time limit, a peer that is gone into that of TCP. Neither helps when the other end is there and
says nothing: a process that was stopped, a proxy that lost its thread, an answer whose length was garbled so that the driver
waits for bytes that nobody will send. So whoever hears nothing for longer than a statement may run hangs up, and that is an
error like any other lost connection, except that it isn't tried again: it has cost the caller's patience already.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.rows import TupleRow

GRACE_S: Final = 5.0
"""How much later than the end of the longest statement an answer may come."""


class Silent(psycopg.OperationalError):
    """The server has said nothing for too long; the connection is closed."""


class Patient(psycopg.Connection[TupleRow]):
    patience_s: float = inf
    """The longest silence, in seconds."""

    def wait(self, gen: PQGen[RV], *how: Any, **more: Any) -> RV:
        return super().wait(self._bounded(gen), *how, **more)

    def _bounded(self, gen: PQGen[RV]) -> PQGen[RV]:
        heard = monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    heard = monotonic()
                elif monotonic() - heard > self.patience_s:
                    self.close()
                    raise Silent("the server has said nothing for too long")
                wanted = gen.send(ready)
        except StopIteration as end:
            result: RV = end.value
            return result


@contextmanager
def unhurried(connection: psycopg.Connection[TupleRow], longest_s: float = inf) -> Iterator[None]:
    """For statements that may take as long as there are rows: their time limits are lifted or set anew, and so is this one."""
    if not isinstance(connection, Patient):
        yield
        return
    usual, connection.patience_s = connection.patience_s, longest_s
    try:
        yield
    finally:
        connection.patience_s = usual
