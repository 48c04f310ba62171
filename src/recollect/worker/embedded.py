"""The embedded runner: one daemon thread beside the library or server, with an event loop of its own.

It sleeps until it is woken by a write or until the next retry is due. It may be killed at any moment: what it had claimed
becomes claimable again when the lease ends.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress

from recollect.engine import Engine, embed, extract
from recollect.errors import RecollectError
from recollect.model import Generation, GenerationState

logger = logging.getLogger("recollect.worker")

LONGEST_SLEEP = 30.0
SHORTEST_SLEEP = 0.2  # work that is due but held by someone else's lease must not keep us spinning
PAUSE_AFTER_TROUBLE = 2.0


class EmbeddedWorker:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: asyncio.Event | None = None
        self._called = asyncio.Event()
        self._stopping = threading.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._main, name="recollect-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._started.wait()
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
        self._engine.sessions.called = self._call
        self._called = asyncio.Event()
        reading = asyncio.create_task(self._read())
        self._started.set()
        while not self._stopping.is_set():
            try:
                await self._work()
                pause = await self._time_to_next()
            except Exception as problem:  # The loop must outlive whatever a store or provider throws at it.
                logger.warning("background work failed and will be tried again: %s", type(problem).__name__)
                pause = PAUSE_AFTER_TROUBLE
            await self._sleep(pause)
        reading.cancel()
        await asyncio.wait([reading])

    async def _read(self) -> None:
        """Let a model read turns beside everything else: it takes seconds where the rest takes milliseconds."""
        while True:
            try:
                await extract.read_waiting(self._engine)
            except RecollectError as problem:
                logger.warning("reading turns failed and will be tried again: %s", type(problem).__name__)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._called.wait(), LONGEST_SLEEP)
            self._called.clear()

    def _call(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._called.set)

    async def _work(self) -> None:
        while self._goes_on():
            step = await embed.run_once(self._engine)
            if not step.worked:
                break
        await self._engine.settle_debts()
        for generation in await self._engine.generations.alive():
            if self._goes_on():
                await self._complete(generation)
        if self._goes_on():
            await embed.clear_away(self._engine, self._goes_on)

    async def _complete(self, generation: Generation) -> None:
        """Bring a generation that is not whole yet up to what is stored; one that was building then serves."""
        generations = self._engine.generations
        embedder = await generations.embedder(generation)
        if embedder is not None and generation.state is GenerationState.BUILDING:
            await embed.complete(self._engine, generation, go_on=self._goes_on)
        elif embedder is not None and generation.id in generations.unfilled:
            await embed.fill(self._engine, generation, go_on=self._goes_on)
        if self._goes_on():
            generations.unfilled.discard(generation.id)

    def _goes_on(self) -> bool:
        return not self._stopping.is_set()

    async def _time_to_next(self) -> float:
        due = await self._engine.store.system(lambda system: system.next_due())
        if due is None:
            return LONGEST_SLEEP
        return min(max((due - self._engine.clock.now()).total_seconds(), SHORTEST_SLEEP), LONGEST_SLEEP)

    async def _sleep(self, seconds: float) -> None:
        assert self._woken is not None
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            return
        self._woken.clear()
