"""A real HTTP server on the loopback that says what it was told to say, in order, and keeps what it was asked."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from tests.services.wire import Exchange, Seen, Wire

Answer = tuple[int, Any]
"""A status and what is said with it: bytes as they are, anything else as JSON."""


class Loopback(Wire):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Seen] = []
        self.asked = threading.Event()
        self._answers: deque[Answer] = deque()

    def says(self, *answers: Answer) -> None:
        self._answers += answers

    def meet(self, exchange: Exchange) -> None:
        self.seen.append(exchange.seen())
        exchange.says(*(self._answers.popleft() if self._answers else (404, {})))
        self.asked.set()
