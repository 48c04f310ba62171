"""Questions that wait at the same moment are embedded together: a model takes several for little more than one.

Whoever gets the thread answers everybody who waits by then, up to a few; the others find that nothing is left to do.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MOST_TOGETHER = 12
"""Texts embedded at once."""


class Model(Protocol):
    @property
    def model(self) -> str: ...

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class Asked:
    model: Model
    texts: Sequence[str]
    answer: Future[NDArray[np.float32]] = field(default_factory=Future)


class Rush:
    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._waiting: deque[Asked] = deque()
        self._lock = threading.Lock()

    async def answer(self, model: Model, texts: Sequence[str]) -> NDArray[np.float32]:
        asked = Asked(model, texts)
        with self._lock:
            self._waiting.append(asked)
        self._thread.submit(self._serve)
        return await asyncio.wrap_future(asked.answer)

    def _serve(self) -> None:
        served = self._next()
        if not served:
            return
        with _ToThoseWhoAsked(served):
            vectors = served[0].model.embed_now([text for each in served for text in each.texts])
            for each in served:
                own, vectors = vectors[: len(each.texts)], vectors[len(each.texts) :]
                each.answer.set_result(own)

    def _next(self) -> list[Asked]:
        """The first who waits, and those behind with the same model, as long as they are few. Who left is passed over."""
        served: list[Asked] = []
        with self._lock:
            while self._waiting and _together([*served, self._waiting[0]]):
                asked = self._waiting.popleft()
                if asked.answer.set_running_or_notify_cancel():
                    served.append(asked)
        return served


def _together(asked: Sequence[Asked]) -> bool:
    same = all(each.model.model == asked[0].model.model for each in asked)
    return len(asked) == 1 or (same and sum(len(each.texts) for each in asked) <= MOST_TOGETHER)


class _ToThoseWhoAsked:
    """What a model throws belongs to those who asked it, not to the thread."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked = asked

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        for each in self._asked:
            if error is not None and not each.answer.done():
                each.answer.set_exception(error)
        return error is not None
