"""`recollect worker`: the background work in a process of its own, beside servers that leave it undone.

Alone it looks into the store every few seconds. With a broker it is woken by every write, and may have many processes on many
machines. Ends on Ctrl-C or SIGTERM after the batch in hand; ended otherwise, what it held is taken up by others.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Annotated

import typer

from recollect.bootstrap import open_engine, open_spans, open_store, sqlite_path
from recollect.cli.measuring import Counted, counted
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say
from recollect.doors.http import logs
from recollect.engine import Engine
from recollect.errors import InvalidInput, Unavailable, Unsupported
from recollect.settings import Settings
from recollect.worker import jobs
from recollect.worker.embedded import EmbeddedWorker, Round
from recollect.worker.heaps import few_heaps

try:
    from recollect.worker.beating import beating
    from recollect.worker.tasks import Schedule, celery_app, run_beat, run_worker, serve_schedule, serve_tasks
except ImportError:  # an extra of its own: without it there is no broker, and everything else works
    celery_app = None  # type: ignore[assignment]

app = typer.Typer(add_completion=False)
BEAT_FILE = "schedule"


@command(app)
async def worker(
    call: Call,
    celery: Annotated[
        bool | None,
        typer.Option("--celery/--no-celery", help="Be woken through the broker. Default: if one is configured."),
    ] = None,
    beat: Annotated[
        bool, typer.Option("--beat", help="Also send what is due by the schedule; one worker should.")
    ] = False,
    only_beat: Annotated[
        bool, typer.Option("--only-beat", help="Only send what is due by the schedule; do no other work.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, max=128, help="With a broker: how many.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, then end.")] = False,
) -> None:
    """Do the background work in a process of its own. Embeds, reads turns, tidies up; ends on Ctrl-C."""
    few_heaps()
    settings = call.settings(worker_processes=processes)
    if sqlite_path(settings) == ":memory:":
        raise InvalidInput("a database in memory has no other process to work for: name a file or a server")
    logs.configure(settings.log_format)
    by_broker = bool(settings.broker_url) if celery is None else celery
    if once:
        await _once(call, settings)
    elif by_broker or only_beat:
        await _try_store(settings)
        _at_the_broker(settings, beat=beat, works=not only_beat)
    else:
        await _alone(settings)


@asynccontextmanager
async def _engine(settings: Settings, metrics: Counted | None = None) -> AsyncIterator[tuple[Engine, jobs.During]]:
    """An engine whose background work is ours to do, and what traces that, if anything does. Opened in the very process that
    works: what sends traces is a thread, and threads don't survive a fork."""
    spans = open_spans(settings)
    try:
        running = await open_engine(replace(settings, worker=False, broker_url=""), spans=spans)
        if metrics is not None:
            running.engine.heard = metrics.heard
        try:
            yield running.engine, jobs.unwatched if spans is None else spans.job
        finally:
            await running.close()
    finally:
        if spans is not None:
            await asyncio.to_thread(spans.close)


async def _once(call: Call, settings: Settings) -> None:
    rounds = {
        "generations": jobs.complete_generations,
        "sessions": jobs.look_after_sessions,
        "tidied": jobs.tidy_up,
    }
    async with _engine(settings) as (engine, during):
        done = {"embedded": await jobs.Backfill(engine, during).run()}
        for name, job in rounds.items():
            with during(name):
                done[name] = await job(engine)
    if call.json:
        print_json(done)
    else:
        say("; ".join(f"{name}: {count:,}" for name, count in done.items()))


async def _try_store(settings: Settings) -> None:
    """Once, before there are several processes: what is wrong with it is one line, and its schema is there. One that is away
    is waited for by each."""
    with suppress(Unavailable):
        store = await open_store(settings)
        await store.close()


async def _alone(settings: Settings) -> None:
    with counted(settings.worker_metrics_host, settings.worker_metrics_port) as metrics:
        await _work_alone(settings, metrics)


async def _work_alone(settings: Settings, metrics: Counted | None) -> None:
    async with _engine(settings, metrics) as (engine, during):
        rounds = _rounds(settings)
        working = EmbeddedWorker(engine, longest_sleep=settings.worker_poll_s, rounds=rounds, during=during)
        working.start()
        say("Working; Ctrl-C ends it.")
        try:
            await _told_to_end()
        finally:
            await asyncio.to_thread(working.stop)


async def _told_to_end() -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, ending.set)
    await ending.wait()


def _rounds(settings: Settings) -> list[Round]:
    """What the engine doesn't go round by itself: the sessions of other processes, and summing up."""
    rounds = [Round("sessions", timedelta(minutes=settings.worker_round_minutes), jobs.look_after_sessions)]
    if settings.roll_up_hours:
        rounds.append(Round("roll_up", timedelta(hours=settings.roll_up_hours), jobs.roll_up))
    return rounds


def _at_the_broker(settings: Settings, *, beat: bool, works: bool) -> None:
    if celery_app is None:
        raise Unsupported("a broker needs the package 'celery': install recollect[celery]")
    if not settings.broker_url:
        raise InvalidInput("RECOLLECT_BROKER_URL says where the broker is, and is not set")
    schedule = Schedule(
        sessions=timedelta(minutes=settings.worker_round_minutes),
        maintain=timedelta(hours=settings.cleanup_hours) if settings.cleanup_hours else None,
        roll_up=timedelta(hours=settings.roll_up_hours) if settings.roll_up_hours else None,
    )
    tasks = celery_app(settings.broker_url)
    # The round of tidying up comes by the schedule, once for all processes.
    own = replace(settings, cleanup_hours=0)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    beat_file = settings.data_dir / BEAT_FILE
    with ExitStack() as held:
        shown = counted(settings.worker_metrics_host, settings.worker_metrics_port, together=True)
        metrics = held.enter_context(shown)
        if not works:
            say("Sending what is due; Ctrl-C ends it.")
            serve_schedule(tasks, schedule)
            return run_beat(tasks, beat_file)
        # Who goes one for all must tell the others; where nothing is shared each would go every one of them.
        rounds = schedule.rounds() if settings.redis_url else []
        serve_tasks(tasks, lambda: _engine(own, metrics), settings.worker_poll_s, rounds)
        if beat:
            prepare = partial(logs.configure, settings.log_format)
            held.enter_context(beating(settings.broker_url, schedule, beat_file, prepare))
        say(f"Working with {settings.worker_processes} process(es); Ctrl-C ends it.")
        code = run_worker(tasks, settings.worker_processes)
    if code:
        raise typer.Exit(code)
    return None
