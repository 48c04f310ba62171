"""Questions that wait together are answered together, each with its own vectors, and a failure is told to those it concerns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.errors import Unavailable
from recollect.providers.embedders.rush import MOST_TOGETHER, Rush


class Lengths:
    """A model whose vector of a text is its length; it can be held up, and refuses what is called `bad`."""

    def __init__(self, model: str = "lengths") -> None:
        self.model = model
        self.calls: list[list[str]] = []
        self.gate = threading.Event()
        self.busy = threading.Event()

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.busy.set()
        self.gate.wait(60)
        self.calls.append(list(texts))
        if "bad" in texts:
            raise Unavailable("not today")
        return np.array([[len(text)] for text in texts], np.float32)


@pytest.fixture
def rush() -> Rush:
    return Rush(ThreadPoolExecutor(1))


async def _all_waiting(
    rush: Rush, model: Lengths, asked: Sequence[Sequence[str]]
) -> list[asyncio.Task[NDArray[np.float32]]]:
    """The first is being answered and can't be joined any more; the rest wait behind it."""
    tasks = [asyncio.create_task(rush.answer(model, asked[0]))]
    await asyncio.to_thread(model.busy.wait, 60)
    tasks += [asyncio.create_task(rush.answer(model, texts)) for texts in asked[1:]]
    await asyncio.sleep(0)  # each has put itself in line
    model.gate.set()
    return tasks


async def test_everyone_gets_their_own(rush: Rush) -> None:
    model = Lengths()
    asked = [["first"], ["a"], ["bb", "ccc"], ["dddd"]]
    answers = await asyncio.gather(*await _all_waiting(rush, model, asked))
    assert [answer.ravel().tolist() for answer in answers] == [[5], [1], [2, 3], [4]]
    assert model.calls == [["first"], ["a", "bb", "ccc", "dddd"]]


async def test_no_more_than_a_few_at_once(rush: Rush) -> None:
    model = Lengths()
    asked = [["first"], *([str(n)] for n in range(2 * MOST_TOGETHER + 1))]
    await asyncio.gather(*await _all_waiting(rush, model, asked))
    assert [len(call) for call in model.calls] == [1, MOST_TOGETHER, MOST_TOGETHER, 1]


async def test_a_failure_reaches_those_it_concerns_and_the_next_go_on(rush: Rush) -> None:
    model = Lengths()
    answers = await asyncio.gather(
        *await _all_waiting(rush, model, [["first"], ["bad"], ["along"]]), return_exceptions=True
    )
    assert [isinstance(answer, Unavailable) for answer in answers] == [False, True, True]
    assert (await rush.answer(model, ["after"])).tolist() == [[5]]


async def test_who_leaves_is_passed_over(rush: Rush) -> None:
    model = Lengths()
    first, gone, stays = await _all_waiting(rush, model, [["first"], ["gone"], ["stays"]])
    gone.cancel()
    assert (await first).tolist() == [[5]]
    assert (await stays).tolist() == [[5]]


async def test_different_models_are_asked_apart(rush: Rush) -> None:
    one, other = Lengths("one"), Lengths("other")
    one.gate.set()
    other.gate.set()
    answers = await asyncio.gather(rush.answer(one, ["a"]), rush.answer(other, ["bb"]), rush.answer(one, ["ccc"]))
    assert [answer.ravel().tolist() for answer in answers] == [[1], [2], [3]]
    assert other.calls == [["bb"]]
