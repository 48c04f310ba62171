"""A worker process of Celery: one engine on one event loop, the tasks that are brought to it, and a look of its own now and then.

Messages are wake-ups. Should none come, because the broker was emptied, is away or nobody sends any, the process looks into the
store by itself, and so everything is done all the same, a few seconds later.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Scope
from recollect.worker import jobs

logger = logging.getLogger("recollect.worker")

Opening = Callable[[], AbstractAsyncContextManager[tuple[Engine, jobs.During]]]
"""An engine, and what watches its work."""
TASK_SECONDS = 30.0
"""How long one message keeps a process busy with embedding: others want their turn, and so does whoever ends it in good order."""


class Child:
    def __init__(self, opening: Opening, poll_s: float) -> None:
        self._opening = opening
        self._poll_s = poll_s
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
        for task in (self._watching, self._cleaning):
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
            await self._embed(None)
            await asyncio.sleep(self._poll_s)

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
            with self._during(name):
                return await job(engine)

        return await self._done(watched)

    async def _done(self, job: Callable[[Engine], Awaitable[int]]) -> int:
        assert self._ready is not None
        await self._ready.wait()
        assert self._engine is not None
        try:
            return await job(self._engine)
        except RecollectError as problem:
            logger.warning("background work failed and will be tried again: %s", type(problem).__name__)
            return 0
