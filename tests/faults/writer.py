"""A writer that is going to be killed: a few threads that use one `Memory` and say what they do and what was acknowledged.

Each step is announced before it is asked for and confirmed after it was acknowledged, so whoever listens knows which steps must
have survived and which one per thread may have gone either way.
"""

from __future__ import annotations

import sys
import time
from random import Random
from threading import Thread
from typing import Any

import recollect.stores.postgres  # both stores are loaded before the fork, so that each writer starts at once
import recollect.stores.sqlite  # noqa: F401
from recollect import Memory, RecollectError
from tests.faults.nursery import say

LONGEST_LIFE = 120.0


def write_as_told(order: dict[str, Any]) -> None:
    with Memory(order["url"], user="ana", embedder="off", pool_size=order["threads"] + 1) as memory:
        say(event="open")
        threads = [Thread(target=Hand(memory, order, number).work) for number in range(order["threads"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Hand:
    """One thread's work. `steps` bounds it; `changes` mixes updates and forgetting into it, `repeats` what others say too."""

    def __init__(self, memory: Memory, order: dict[str, Any], number: int) -> None:
        self._memory = memory
        self._name = f"r{order['round']}h{number}"
        self._chance = Random(f"{order['round']} {number}")
        self._changes = order.get("changes", False)
        self._steps = order.get("steps", sys.maxsize)
        self._repeats = order.get("repeats", False)
        self._mine: dict[str, str] = {}
        self._count = 0

    def work(self) -> None:
        end = time.monotonic() + LONGEST_LIFE
        try:
            while self._count < self._steps and time.monotonic() < end:
                self._step()
        except RecollectError as problem:
            say(event="trouble", hand=self._name, error=type(problem).__name__, message=problem.message)

    def _step(self) -> None:
        self._count += 1
        kind = self._chance.random()
        if kind < 0.25:
            self._talk()
        elif self._repeats and kind < 0.5:
            self._add(f"everybody says this{self._chance.randrange(10)}")
        elif self._changes and self._mine and kind < 0.4:
            self._update(*self._chance.choice([*self._mine.items()]))
        elif self._changes and self._mine and kind < 0.55:
            self._forget(*self._mine.popitem())
        else:
            self._add(self._text())

    def _text(self) -> str:
        filling = " ".join(
            self._chance.choices(("tea", "boat", "harbour", "lamp", "茶", "🍵"), k=self._chance.randint(1, 60))
        )
        return f"{self._name}n{self._count} {filling}"

    def _add(self, text: str) -> None:
        say(event="intent", hand=self._name, do="add", text=text)
        receipt = self._memory.add(text, tags=[self._name])
        assert receipt.id is not None
        self._mine[receipt.id] = text
        say(event="done", hand=self._name, do="add", id=receipt.id, text=text)

    def _update(self, id: str, old: str) -> None:
        text = self._text()
        say(event="intent", hand=self._name, do="update", id=id, old=old, text=text)
        self._memory.update(id, text=text)
        self._mine[id] = text
        say(event="done", hand=self._name, do="update", id=id, text=text)

    def _forget(self, id: str, text: str) -> None:
        say(event="intent", hand=self._name, do="forget", id=id, text=text)
        self._memory.forget(id)
        say(event="done", hand=self._name, do="forget", id=id, text=text)

    def _talk(self) -> None:
        turns = [
            {"role": "user", "content": self._text() + f" t{part}", "id": f"{self._name}-{self._count}-{part}"}
            for part in range(3)
        ]
        texts = {turn["id"]: turn["content"] for turn in turns}
        say(event="intent", hand=self._name, do="talk", texts=texts)
        self._memory.add_turns(self._chance.choice(("kitchen", "garden")), turns)
        say(event="done", hand=self._name, do="talk", texts=texts)
