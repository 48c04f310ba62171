"""Cleaning the files after removals, once for all who wait for it.

It is the dearest thing a store does, and many may forget something in the same moment. Whoever comes while one is under way
shares the next with everybody else who does: that one begins after all of their removals, and so it is theirs. So there is never
more than one at a time in a process, and never more than two that anybody waits for.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress

from recollect.errors import RecollectError, Unavailable


class Scrubs:
    """Safe from any thread, on any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: Future[bool] | None = None
        """Not begun: may still be shared."""
        self._last: Future[bool] | None = None
        """Under way, or over."""

    async def shared(self, scrub: Callable[[], Awaitable[bool]]) -> bool:
        """What the next one says. Whoever goes away meanwhile takes nobody along who shares it."""
        with self._lock:
            before, theirs = self._last, self._next
            mine: Future[bool] = Future()
            if theirs is None:
                self._next = mine
        return await (self._lead(mine, before, scrub) if theirs is None else _end_of(theirs))

    async def _lead(
        self, mine: Future[bool], before: Future[bool] | None, scrub: Callable[[], Awaitable[bool]]
    ) -> bool:
        try:
            if before is not None:
                with suppress(RecollectError):
                    await _end_of(before)
            with self._lock:
                self._next, self._last = None, mine
            done = await scrub()
            mine.set_result(done)
            return done
        except RecollectError as problem:
            mine.set_exception(problem)
            raise
        finally:
            with self._lock:
                self._next = None if self._next is mine else self._next
            if not mine.done():
                mine.set_exception(Unavailable("the cleaning of files was broken off"))


async def _end_of(scrub: Future[bool]) -> bool:
    return await asyncio.shield(asyncio.wrap_future(scrub))
