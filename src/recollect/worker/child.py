"""A worker process of Celery: one engine on one event loop, the tasks that are brought to it, and a look of its own now and then.

Messages are wake-ups. Should none come, because the broker was emptied, is away or nobody sends any, the process looks into the
store by itself, and goes the rounds that nobody has gone in time: everything is done all the same, a little later.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from functools import partial

from recollect.engine import Engine
from recollect.engine.embedding.embed import always
from recollect.errors import RecollectError, Unavailable
from recollect.model import Scope
from recollect.worker import jobs
from recollect.worker.embedded import Round

logger = logging.getLogger("recollect.worker")

Opening = Callable[[], AbstractAsyncContextManager[tuple[Engine, jobs.During]]]
"""An engine, and what watches its work."""
TASK_SECONDS = 30.0
"""How long one message keeps a process busy with embedding: others want their turn, and so does whoever ends it in good order."""


class Child:
    def __init__(self, opening: Opening, poll_s: float, rounds: Sequence[Round] = ()) -> None:
        """`rounds` are those to be gone here as well; whoever goes one for all others to see needs a cache that all share."""
        self._opening = opening
        self._poll_s = poll_s
        self._rounds = {each.name: replace(each) for each in rounds}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recollect-child", daemon=True)
        self._held = AsyncExitStack()
        self._ready: asyncio.Event | None = None
        self._engine: Engine | None = None
        self._during: jobs.During = jobs.unwatched
        self._backfill: jobs.Backfill | None = None
        self._embedding = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._cleaning: asyncio.Task[None] | None = None
        self._going: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Return at once: a store that is away at the start is waited for in the background."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()

    def do(self, name: str, job: Callable[[Engine], Awaitable[int]]) -> int:
        """Run a job here and wait for it. What it couldn't do is left for the next time, and said in the log."""
        return asyncio.run_coroutine_threadsafe(self._watched(name, job), self._loop).result()

    def embed(self, scope: Scope | None = None) -> int:
        return asyncio.run_coroutine_threadsafe(self._embed(scope), self._loop).result()

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _begin(self) -> None:
        self._ready = asyncio.Event()
        self._begin_watch()

    def _begin_watch(self) -> None:
        self._watching = self._loop.create_task(self._watch())
        self._watching.add_done_callback(self._fell)

    def _fell(self, watching: asyncio.Task[None]) -> None:
        """Whatever a store or a provider throws at it: somebody looks."""
        if not watching.cancelled():
            logger.warning("the look for work broke off (%s) and goes on", type(watching.exception()).__name__)
            self._loop.call_later(self._poll_s, self._begin_watch)

    async def _end(self) -> None:
        for task in (self._watching, self._cleaning, self._going):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        async with self._embedding:
            await self._held.aclose()

    async def _watch(self) -> None:
        """Open the engine as soon as that can be done, then look from time to time whether there is something to do."""
        while self._engine is None:
            try:
                self._engine, self._during = await self._held.enter_async_context(self._opening())
            except RecollectError as problem:
                logger.warning("the store can't be opened yet: %s", type(problem).__name__)
                await asyncio.sleep(self._poll_s)
        self._backfill = self._backfill or jobs.Backfill(self._engine, self._during)
        assert self._ready is not None
        self._ready.set()
        while True:
            if self._cleaning is None or self._cleaning.done():
                self._cleaning = self._loop.create_task(jobs.clean_files(self._engine, self._during, self._poll_s))
            if self._going is None or self._going.done():
                self._going = self._loop.create_task(self._go_round(self._engine))
            await self._embed(None)
            await asyncio.sleep(self._poll_s)

    async def _go_round(self, engine: Engine) -> None:
        for each in self._rounds.values():
            if await each.is_due(engine):
                await self._done(partial(self._gone, each.name, _whole(each)))

    async def _embed(self, scope: Scope | None) -> int:
        if self._embedding.locked() and scope is None:
            return 0  # whoever is at it goes on until nothing is due
        async with self._embedding:
            end = time.monotonic() + TASK_SECONDS
            return await self._done(lambda engine: self._filled(engine, end, scope))

    async def _filled(self, engine: Engine, end: float, scope: Scope | None) -> int:
        assert self._backfill is not None
        return await self._backfill.run(lambda: time.monotonic() < end, scope)

    async def _watched(self, name: str, job: Callable[[Engine], Awaitable[int]]) -> int:
        async def watched(engine: Engine) -> int:
            if name in self._rounds:
                await self._rounds[name].begun(engine)
            return await self._gone(name, job, engine)

        return await self._done(watched)

    async def _gone(self, name: str, job: Callable[[Engine], Awaitable[int]], engine: Engine) -> int:
        try:
            with self._during(name):
                return await job(engine)
        except Unavailable:
            if name in self._rounds:
                await self._rounds[name].broke_off(engine)
            raise

    async def _done(self, job: Callable[[Engine], Awaitable[int]]) -> int:
        assert self._ready is not None
        await self._ready.wait()
        assert self._engine is not None
        try:
            return await job(self._engine)
        except RecollectError as problem:
            logger.warning("background work failed and will be tried again: %s", type(problem).__name__)
            return 0


def _whole(round: Round) -> Callable[[Engine], Awaitable[int]]:
    return lambda engine: round.run(engine, always)
