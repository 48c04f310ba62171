"""Sending what is due by the schedule, beside a worker: a process of its own, and another one whenever it ends.

It is started afresh, not forked, because the worker has threads by then. Should the worker be killed, it notices and ends, too: a
schedule that nobody knows of would go on for ever.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from recollect.worker.parents import end_with_parent
from recollect.worker.tasks import Schedule, celery_app, run_beat, serve_schedule

logger = logging.getLogger("recollect.worker")

PAUSE_SECONDS = 2.0
"""Between the end of one and the start of the next: what ends at once would otherwise do nothing but start."""
PARTING_SECONDS = 10.0

Prepare = Callable[[], None]
"""What a new process does first; sent to it, so that it must be a function that can be found by its name."""


@contextmanager
def beating(broker_url: str, schedule: Schedule, beat_file: Path, prepare: Prepare) -> Iterator[None]:
    """While the block lasts, somebody sends what is due."""
    ending = threading.Event()
    order = (broker_url, schedule, beat_file, prepare)
    watch = threading.Thread(target=_watch, args=(order, ending), name="recollect-beat", daemon=True)
    watch.start()
    try:
        yield
    finally:
        ending.set()
        watch.join()


def _watch(order: tuple[str, Schedule, Path, Prepare], ending: threading.Event) -> None:
    while not ending.is_set():
        process = get_context("spawn").Process(target=_beat, args=order, name="recollect-beat", daemon=True)
        try:
            process.start()
        except OSError as problem:  # no memory, or no room for another process: there may be some later
            logger.warning("no process can be started to send what is due: %s", problem.strerror)
        else:
            _last(process, ending)
        if not ending.is_set():
            logger.warning("the process that sends what is due ended (%s); another is started", process.exitcode)
            ending.wait(PAUSE_SECONDS)


def _last(process: BaseProcess, ending: threading.Event) -> None:
    """Until it ends, by itself or because it is told to."""
    while process.is_alive():
        if ending.wait(0.2):
            process.terminate()
            process.join(PARTING_SECONDS)
            if process.is_alive():
                process.kill()
        process.join(0.2)


def _beat(
    broker_url: str, schedule: Schedule, beat_file: Path, prepare: Prepare
) -> None:  # pragma: no cover -- in a process of its own
    prepare()
    end_with_parent()
    app = celery_app(broker_url)
    serve_schedule(app, schedule)
    run_beat(app, beat_file)
