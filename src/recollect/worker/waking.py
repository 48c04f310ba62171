"""Telling workers in other processes that there is something to do: a message to the broker, sent by a thread of its own.

Whoever asks for it never waits and never hears of trouble: the store holds what is to be done, and workers look there by
themselves every few seconds. Many calls become one message; a broker that is away is left alone for a while.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from recollect.engine import Engine
from recollect.model import Scope

logger = logging.getLogger("recollect.worker")

BACKFILL = "memory_embed_backfill"
EXTRACT = "memory_extract"
BETWEEN_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 30.0
PARTING_SECONDS = 2.0

Send = Callable[[str, Mapping[str, str]], None]
"""Sends a task by its name. Whatever goes wrong is raised as `OSError`."""


class Waker:
    """Safe from any thread."""

    def __init__(self, send: Send, engine: Engine) -> None:
        self._send = send
        self._engine = engine
        self._wanted: set[str] = set()
        self._lock = threading.Lock()
        self._called = threading.Event()
        self._closing = threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._main, name="recollect-waker", daemon=True)

    def start(self) -> None:
        self._engine.wake = self.wake
        self._engine.sessions.called = self.call
        self._thread.start()

    def wake(self) -> None:
        self._want(BACKFILL)

    def call(self) -> None:
        """A session has turns to be read; the engine knows which."""
        self._want(EXTRACT)

    def close(self) -> None:
        """Send what was asked for, if that takes a moment and no more."""
        self._closing.set()
        self._called.set()
        self._thread.join(PARTING_SECONDS)

    def _want(self, what: str) -> None:
        with self._lock:
            self._wanted.add(what)
        self._called.set()

    def _main(self) -> None:
        while not self._closing.is_set():
            self._called.wait()
            self._called.clear()
            try:
                self._tell()
            except OSError as problem:
                self._stumbled(problem)
            else:
                self._failures = 0
                self._closing.wait(BETWEEN_SECONDS)
        with suppress(OSError):
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            wanted, self._wanted = self._wanted, set()
        if BACKFILL in wanted:
            self._send(BACKFILL, {})
        if EXTRACT in wanted:
            for scope, session_id in self._engine.sessions.waiting():
                self._send(EXTRACT, named(scope) | {"session_id": session_id})

    def _stumbled(self, problem: OSError) -> None:
        """Said once; then nobody is told for a while, and workers find out by themselves."""
        if not self._failures:
            logger.warning("the broker can't be reached (%s); workers will look by themselves", type(problem).__name__)
        self._failures += 1
        until = time.monotonic() + min(2.0**self._failures, LONGEST_PAUSE_SECONDS)
        self._closing.wait(max(0.0, until - time.monotonic()))


def named(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "user": scope.user, "space": scope.space}
