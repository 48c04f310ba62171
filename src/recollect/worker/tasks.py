"""The Celery runner: the jobs of `jobs` as tasks under the names the contracts give them, with a schedule for each.

    memory_embed_backfill               texts get their vectors; sent by every write
    compute_memory_item_embedding       the same, beginning with the space of one memory
    memory_extract                      a model reads the turns of a session
    memory_sessions                     sessions that went quiet end; unread turns are found
    memory_maintain                     retention, trimming, clean-up, archive
    memory_roll_up                      old memories are summed up
    memory_generations                  a new model's vectors are completed, an old one's removed

A message holds names and ids, never text, and its loss costs seconds. Tasks may be sent twice, late, or to a queue nobody reads.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.apps.beat import Beat
from celery.apps.worker import Worker
from kombu.exceptions import OperationalError

from recollect.engine import Engine
from recollect.model import Scope
from recollect.worker import jobs
from recollect.worker.child import Child, Opening
from recollect.worker.embedded import Round
from recollect.worker.waking import BACKFILL, EXTRACT

__all__ = ["Schedule", "celery_app", "run_beat", "run_worker", "sender", "serve_schedule", "serve_tasks"]

QUEUE = "recollect"
ENOUGH_WAITING = 200
"""Wake-ups in the queue beyond which one more wakes nobody."""
BROKER_SECONDS = 2.0
logger = logging.getLogger("recollect.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How often each round is gone; None: never."""

    backfill: timedelta = timedelta(seconds=30)
    generations: timedelta = timedelta(minutes=1)
    sessions: timedelta = timedelta(minutes=5)
    maintain: timedelta | None = timedelta(hours=24)
    roll_up: timedelta | None = None

    def entries(self) -> dict[str, dict[str, Any]]:
        """As Celery takes them. What isn't known to have been sent is due now: where that knowledge ends with the process (a
        container without a volume), one that is started anew every day would never send what is due once a day."""
        now = datetime.now(UTC)
        every = {
            BACKFILL: self.backfill,
            "memory_generations": self.generations,
            "memory_sessions": self.sessions,
            "memory_maintain": self.maintain,
            "memory_roll_up": self.roll_up,
        }
        return {
            name: {
                "task": name,
                "schedule": pause,
                "last_run_at": now - pause,
                "options": {"expires": max(60.0, pause.total_seconds())},
            }
            for name, pause in every.items()
            if pause is not None
        }

    def rounds(self) -> list[Round]:
        """The same for whoever goes them unasked; embedding is looked for all the time."""
        every = {
            "generations": (self.generations, jobs.complete_generations),
            "sessions": (self.sessions, jobs.look_after_sessions),
            "tidy_up": (self.maintain, jobs.tidy_up),
            "roll_up": (self.roll_up, jobs.roll_up),
        }
        return [Round(name, pause, run) for name, (pause, run) in every.items() if pause is not None]


def celery_app(broker_url: str) -> Celery:
    """The way to the broker, enough for sending. Neither side ever waits long for it."""
    app = Celery("recollect", broker=broker_url, set_as_current=False)
    app.conf.update(
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_publish_retry=False,
        broker_connection_timeout=BROKER_SECONDS,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_pool_limit=2,
        broker_transport_options={
            "socket_connect_timeout": BROKER_SECONDS,
            "socket_timeout": BROKER_SECONDS,
            "max_retries": 0,
        },
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        timezone="UTC",
        enable_utc=True,
    )
    return app


def sender(app: Celery) -> Callable[[str, Mapping[str, str]], None]:
    """Sends a task by its name; `OSError` when that can't be done now."""

    def send(name: str, about: Mapping[str, str]) -> None:
        way = app.connection_for_write()
        try:
            with way as connection:
                channel = connection.default_channel
                if channel.queue_declare(queue=QUEUE).message_count < ENOUGH_WAITING:
                    app.send_task(name, kwargs=dict(about), connection=connection, retry=False, expires=3600)
        except (OperationalError, *way.connection_errors, *way.channel_errors) as problem:
            raise ConnectionError(type(problem).__name__) from None

    return send


def serve_schedule(app: Celery, schedule: Schedule) -> None:
    """Make this app one that sends what is due."""
    signals.setup_logging.connect(_keep_our_log, weak=False)
    app.conf.beat_schedule = schedule.entries()


def serve_tasks(app: Celery, opening: Opening, poll_s: float, rounds: Sequence[Round] = ()) -> None:
    """Make this app one that does the work: each of its processes opens an engine of its own, and goes the `rounds` that nobody
    asks for in time."""
    children: list[Child] = []

    def born(**_: Any) -> None:
        child = Child(opening, poll_s, rounds)
        child.start()
        children.append(child)

    def parting(**_: Any) -> None:
        while children:
            children.pop().stop()

    signals.worker_process_init.connect(born, weak=False)
    signals.worker_process_shutdown.connect(parting, weak=False)
    signals.setup_logging.connect(_keep_our_log, weak=False)
    signals.task_failure.connect(_told, weak=False)
    _register(app, lambda: children[-1])


def _register(app: Celery, child: Callable[[], Child]) -> None:
    def embed_backfill() -> int:
        return child().embed()

    def compute_embedding(
        item_id: str, tenant: str = "default", user: str | None = None, space: str = "default"
    ) -> int:
        """Where the owner isn't named the item is one of many: whoever waits longest comes first, and it is among them."""
        return child().embed(None if user is None else Scope(tenant, user, space))

    def extract(tenant: str, user: str, space: str, session_id: str) -> int:
        async def read(engine: Engine) -> int:
            engine.sessions.remind(Scope(tenant, user, space), session_id)
            return await jobs.read_turns(engine)

        return child().do("read_turns", read)

    def plain(name: str, job: Callable[[Engine], Awaitable[int]]) -> Callable[[], int]:
        def run() -> int:
            return child().do(name, job)

        return run

    tasks: dict[str, Callable[..., int]] = {
        BACKFILL: embed_backfill,
        "compute_memory_item_embedding": compute_embedding,
        EXTRACT: extract,
        "memory_sessions": plain("sessions", jobs.look_after_sessions),
        "memory_maintain": plain("tidy_up", jobs.tidy_up),
        "memory_roll_up": plain("roll_up", jobs.roll_up),
        "memory_generations": plain("generations", jobs.complete_generations),
    }
    for name, task in tasks.items():
        app.task(task, name=name)


def run_worker(app: Celery, processes: int) -> int:
    """Work until told to end; the exit code."""
    worker = Worker(
        app=app,
        pool="prefork",
        concurrency=processes,
        quiet=True,
        loglevel="WARNING",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


def run_beat(app: Celery, beat_file: Path) -> None:
    """Send what is due by the schedule, note there what was, and do nothing else, until told to end."""
    Beat(app=app, schedule=str(beat_file), quiet=True, loglevel="WARNING").run()


def _keep_our_log(**_: Any) -> None:
    """That somebody listens keeps Celery from setting up a log of its own."""
    logging.getLogger("celery.app.trace").setLevel(logging.CRITICAL)  # it would quote what went wrong


def _told(sender: Any = None, exception: BaseException | None = None, **_: Any) -> None:
    logger.error("the task %s failed: %s", getattr(sender, "name", "?"), type(exception).__name__, exc_info=exception)
