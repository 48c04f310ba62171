"""One local model, many callers: whose turn it is, and on which thread.

Two batches side by side on the same cores are slower than one after the other, and arithmetic on the
event loop's thread would stop everything else. So there is one thread for queries and one for background
work, and a turn-taking between them that favours the query: it waits for the slice under way, never for
the batch. Background work that was passed over for long gets one slice in between: on a server that is
always asked something, new memories must still become findable.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from recollect.providers.embedders.rush import Rush

LONGEST_WAIT_S = 0.25


class Turns:
    """A lock that the urgent get first, and keep getting until they are through."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._taken = False
        self._urgent = 0
        self._overdue = False

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Someone urgent is here, maybe for several turns: nobody else begins one meanwhile."""
        with self._free:
            self._urgent += 1
        try:
            yield
        finally:
            with self._free:
                self._urgent -= 1
                self._free.notify_all()

    @contextmanager
    def take(self, *, urgent: bool) -> Iterator[None]:
        with self._free:
            if urgent:
                self._free.wait_for(lambda: not self._taken and not self._overdue)
            elif not self._free.wait_for(lambda: not self._taken and not self._urgent, LONGEST_WAIT_S):
                self._overdue = True
                self._free.wait_for(lambda: not self._taken)
                self._overdue = False
            self._taken = True
        try:
            yield
        finally:
            with self._free:
                self._taken = False
                self._free.notify_all()


class Desk:
    """The two threads and the turn-taking of one process; a forked child starts with its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._open()

    @property
    def batches(self) -> ThreadPoolExecutor:
        self._after_fork()
        return self._batches

    @property
    def rush(self) -> Rush:
        self._after_fork()
        return self._rush

    @property
    def turns(self) -> Turns:
        self._after_fork()
        return self._turns

    def _after_fork(self) -> None:
        if self._owner != os.getpid():
            # Whatever the parent's threads held at the time of the fork, nobody will ever release it here.
            self._lock = threading.Lock()
            self._open()

    def _open(self) -> None:
        with self._lock:
            if self._owner != os.getpid():
                self._turns = Turns()
                self._queries = ThreadPoolExecutor(1, thread_name_prefix="recollect-embed-query")
                self._rush = Rush(self._queries)
                self._batches = ThreadPoolExecutor(1, thread_name_prefix="recollect-embed-batch")
                self._owner = os.getpid()
