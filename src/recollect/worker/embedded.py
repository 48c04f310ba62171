"""The embedded runner: one daemon thread with an event loop of its own, beside the library or server, or alone in its process.

It sleeps until it is woken by a write, until the next retry is due, or until it is time to look for what other processes left. It
may be killed at any moment: what it had claimed becomes claimable again when the lease ends.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollect.engine import Engine
from recollect.engine.conversations import extract
from recollect.engine.embedding.embed import GoOn
from recollect.engine.remembering import judging
from recollect.errors import RecollectError, Unavailable
from recollect.policy.backoff import is_due
from recollect.worker import jobs

logger = logging.getLogger("recollect.worker")

LONGEST_SLEEP = 30.0
SHORTEST_SLEEP = 0.2  # work that is due but held by someone else's lease must not keep us spinning
PAUSE_AFTER_TROUBLE = 2.0
SOON = timedelta(minutes=1)

Duties = Literal["all", "own"]
"""`own`: only what no other process can do, because it is noted nowhere but here."""


@dataclass
class Round:
    """Something to be done from time to time. Workers that share a cache share the rounds, too: one goes, for all."""

    name: str
    every: timedelta
    run: Callable[[Engine, GoOn], Awaitable[int]]
    next_at: datetime | None = None

    async def is_due(self, engine: Engine) -> bool:
        now = engine.clock.now()
        if not is_due(self.next_at, now, self.every):
            return False
        self.next_at = now + self.every
        if engine.cache is None:
            return True
        # 0: nobody counts, because the shared cache is away. Then each goes: twice is better than never.
        return await engine.cache.add(self._key, 0.9 * self.every.total_seconds()) <= 1

    async def begun(self, engine: Engine) -> None:
        """Somebody asked for it. Others leave it alone for longer than whoever asks every time takes to ask again."""
        self.next_at = engine.clock.now() + self.every
        if engine.cache is not None:
            await engine.cache.set(self._key, b"1", 1.5 * self.every.total_seconds())

    async def broke_off(self, engine: Engine) -> None:
        """It is due again soon, and not when its time comes round: that may be a day."""
        self.next_at = engine.clock.now() + min(self.every, SOON)
        if engine.cache is not None:
            await engine.cache.drop(self._key)

    @property
    def _key(self) -> str:
        return f"worker_round:{self.name}"


class EmbeddedWorker:
    def __init__(
        self,
        engine: Engine,
        *,
        duties: Duties = "all",
        longest_sleep: float = LONGEST_SLEEP,
        rounds: Sequence[Round] = (),
        during: jobs.During = jobs.unwatched,
    ) -> None:
        self._engine = engine
        self._duties = duties
        self._longest_sleep = longest_sleep
        self._rounds = rounds
        self._during = during
        self._backfill = jobs.Backfill(engine, during)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: asyncio.Event | None = None
        self._called = asyncio.Event()
        self._stopping = threading.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._main, name="recollect-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._started.wait()
        if self._duties == "all":
            self._engine.wake = self.wake

    def wake(self) -> None:
        loop, woken = self._loop, self._woken
        if loop is not None and woken is not None and not loop.is_closed():
            loop.call_soon_threadsafe(woken.set)

    def stop(self) -> None:
        """Finish the batch in hand and end."""
        self._stopping.set()
        self.wake()
        self._thread.join()

    def _main(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._called = asyncio.Event()
        works = {"reading turns": self._read, "cleaning files": self._clean} if self._duties == "all" else {}
        beside = {name: asyncio.create_task(work()) for name, work in works.items()}
        self._started.set()
        while not self._stopping.is_set():
            try:
                pause = await self._work()
            except Exception as problem:  # The loop must outlive whatever a store or provider throws at it.
                logger.warning("background work failed and will be tried again: %s", type(problem).__name__)
                pause = PAUSE_AFTER_TROUBLE
            for name, task in beside.items():
                if task.done():
                    logger.warning("%s broke off (%s) and goes on", name, type(task.exception()).__name__)
                    beside[name] = asyncio.create_task(works[name]())
            await self._sleep(pause)
        for task in beside.values():
            task.cancel()
        if beside:
            await asyncio.wait(beside.values())

    async def _read(self) -> None:
        """Let a model read turns beside everything else: it takes seconds where the rest takes milliseconds."""
        self._engine.sessions.called = self._call
        while True:
            try:
                with self._during("read_turns"):
                    await extract.read_waiting(self._engine)
                    await judging.review(self._engine)
            except RecollectError as problem:
                logger.warning("reading turns failed and will be tried again: %s", type(problem).__name__)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._called.wait(), LONGEST_SLEEP)
            self._called.clear()

    async def _clean(self) -> None:
        """Let what was removed leave the files beside everything else: of large tables it takes minutes to hours."""
        await jobs.clean_files(self._engine, self._during, LONGEST_SLEEP)

    def _call(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._called.set)

    async def _work(self) -> float:
        """What there is to do now; then for how long there is nothing."""
        if self._duties == "own":
            with self._during("debts"):
                await jobs.settle_own(self._engine)
            return self._engine.config.notes_every.total_seconds()
        await self._backfill.run(self._goes_on)
        with self._during("debts"):
            await self._engine.settle_debts()
        with self._during("generations"):
            await jobs.complete_generations(self._engine, self._goes_on)
        for each in self._rounds:
            if self._goes_on() and await each.is_due(self._engine):
                await self._go(each)
        return await self._time_to_next()

    async def _go(self, each: Round) -> None:
        try:
            with self._during(each.name):
                await each.run(self._engine, self._goes_on)
        except Unavailable:
            await each.broke_off(self._engine)
            raise

    def _goes_on(self) -> bool:
        return not self._stopping.is_set()

    async def _time_to_next(self) -> float:
        now = self._engine.clock.now()
        due = await self._engine.store.system(lambda system: system.next_due())
        times = [max(due, self._backfill.resume_at or due)] if due is not None else []
        times += [each.next_at for each in self._rounds if each.next_at is not None]
        if not times:
            return self._longest_sleep
        return min(max((min(times) - now).total_seconds(), SHORTEST_SLEEP), self._longest_sleep)

    async def _sleep(self, seconds: float) -> None:
        assert self._woken is not None
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            return
        self._woken.clear()
