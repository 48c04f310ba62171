"""An embedder that lives elsewhere, before which nobody queues.

Questions are answered by their words, too, so none waits long for its vector. After two that waited in vain nobody asks any
more: every question goes without at once, and from time to time one word is sent to see whether the provider is back. One that
refuses or hangs up at once costs nobody time and is asked again each time. Texts to be remembered are not held back: they wait in
a queue that has pauses of its own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.errors import RecollectError, Unavailable
from recollect.ports import Embedder
from recollect.ports.around import AroundEmbedder
from recollect.providers.caches.breaker import Breaker

LONGEST_S = 10.0
"""How long a question may wait for its vector."""
SLOW_S = 1.0
"""A failure that takes longer than this has kept somebody waiting."""
LOOK = "Good morning"

logger = logging.getLogger("recollect.embedder")


class GuardedEmbedder(AroundEmbedder):
    def __init__(
        self,
        embedder: Embedder,
        longest_s: float = LONGEST_S,
        breaker: Breaker | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(embedder)
        self._longest_s = longest_s
        self._breaker = breaker or Breaker(longest_s=10.0)
        self._now = now
        self._looking: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        began = self._now()
        vectors = await (self._in_time(texts) if query else self._embedder.embed(texts))
        # A batch may take its time; one that took longer than a question waits shows nothing but that.
        if self._now() - began <= self._longest_s:
            self._answered()
        return vectors

    async def close(self) -> None:
        looking = self._looking
        if looking is not None and looking.get_loop() is asyncio.get_running_loop():
            looking.cancel()
            await asyncio.wait([looking])
        await super().close()

    async def _in_time(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._breaker.is_open:
            if self._breaker.due():
                self._looking = asyncio.get_running_loop().create_task(self._look())
            raise Unavailable("the embedding provider kept others waiting; nobody asks it until it answers")
        began = self._now()
        try:
            async with asyncio.timeout(self._longest_s):
                return await self._embedder.embed(texts, query=True)
        except TimeoutError:
            self._missed()
            raise Unavailable(f"the embedding provider did not answer within {self._longest_s:g} s") from None
        except Unavailable:
            if self._now() - began >= SLOW_S:
                self._missed()
            raise

    def _missed(self) -> None:
        if self._breaker.failed():
            logger.warning("the embedding provider does not answer; questions go without it")

    async def _look(self) -> None:
        """Nobody waits for this one, so it has all the time the provider is given."""
        try:
            await self._embedder.embed([LOOK], query=True)
        except RecollectError:
            return
        self._answered()

    def _answered(self) -> None:
        if self._breaker.succeeded():
            logger.info("the embedding provider answers again")
