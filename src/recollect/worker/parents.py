"""Processes that were started by another of ours end when that one is gone, however it went.

Killed without warning it can tell nobody. Those it started would go on: servers at a port that the next one wants, a schedule
that nobody knows of.
"""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait

PARTING_SECONDS = 60.0


def end_with_parent() -> None:
    """From now on. In a process that nobody of ours has started, nothing."""
    if (parent := parent_process()) is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), name="recollect-parent", daemon=True).start()


def _watch(sentinel: int) -> None:  # pragma: no cover -- in a process of its own
    """In good order, as if told to; at once, if that is not heeded."""
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(PARTING_SECONDS)
    os._exit(1)
