"""Connections that say nothing, or say it one letter at a time, end: a request's head must arrive in bounded time.

So do those that come in while the server ends. One that was accepted a moment before is made known a moment after all others
were told to finish; nobody would tell it, and its requests would be answered until the store is closed beneath them.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """Uvicorn's protocol with a limit on how long it waits for the head of a request that has begun, or never does.

    `listening` is the socket that the server takes connections from, and closes when it ends.
    """

    head_seconds = 15.0
    _waiting: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, listening: socket.socket, **named: Any) -> None:
        super().__init__(*given, **named)
        self._listening = listening

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._listening.fileno() < 0:
            self.shutdown()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """The beginning of the next head may have come along with the last request; no more data need ever come."""
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """The clock runs from the first byte of a head to its last, and isn't set back by those between."""
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._unwatch()
        elif self._waiting is None and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self.head_seconds, self._too_slow)

    def _unwatch(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        self._waiting = None
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            self.transport.close()
