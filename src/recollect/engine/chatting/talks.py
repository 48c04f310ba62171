"""Turns under way: each runs as a task of its own, so that whoever follows it may leave without taking it along.

A `Talk` is what the caller holds: its events as they come, or the whole reply. `leave` ends the model's work; what was said by
then is stored as partial. Learning from the turn goes on after the last event, and the engine waits for that before it closes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from recollect.errors import Broken
from recollect.model.talk import Done, Event, Failed, Remembered, Reply, Said, Started
from recollect.policy.grounding import whole_characters

logger = logging.getLogger("recollect.chat")


class Talk:
    """A turn of a chat under way: followed event by event, word by word, or as a whole."""

    def __init__(self, turn: Callable[[Talk], Coroutine[Any, Any, None]]) -> None:
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._said: list[Event] = []
        self._left = asyncio.Event()
        self._speaking: asyncio.Task[None] | None = None
        self.task = asyncio.get_running_loop().create_task(turn(self))
        self.task.add_done_callback(self._ended)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.next()) is not None:
            yield event

    async def next(self) -> Event | None:
        """The next event; None when there are no more. Waiting for it may be given up and taken up again."""
        event = await self._events.get()
        if event is None:
            self._events.put_nowait(None)  # whoever asks again after the end is told so again
        return event

    async def words(self) -> AsyncIterator[str]:
        """The reply alone, piece by piece. What goes wrong on the way is in `whole`, which may be asked for afterwards."""
        async for event in self:
            if isinstance(event, Said):
                yield event.text

    async def whole(self) -> Reply:
        """The turn to its end, collected, whoever followed it before."""
        started: Started | None = None
        remembered, text = Remembered(), ""
        done: Done | None = None
        failed: Failed | None = None
        while await self.next() is not None:
            pass
        for event in self._said:
            match event:
                case Started():
                    started = event
                case Remembered():
                    remembered = event
                case Said():
                    text += event.text
                case Failed():
                    failed = event
                case Done():
                    done = event
        if started is None:
            raise Broken("the turn ended before it began")
        return Reply(started=started, remembered=remembered, text=whole_characters(text), done=done, failed=failed)

    def leave(self) -> None:
        """Nobody listens any more: the model need not go on. What it has said is kept, and learnt from."""
        self._left.set()
        if self._speaking is not None:
            self._speaking.cancel()

    async def speak(self, work: Coroutine[Any, Any, None]) -> bool:
        """For the turn: do what ends when nobody listens any more. Whether it came to its end."""
        if self._left.is_set():
            work.close()
            return False
        self._speaking = asyncio.get_running_loop().create_task(work)
        try:
            await self._speaking
        except asyncio.CancelledError:
            if not self._left.is_set():
                raise
            return False
        finally:
            self._speaking = None
        return True

    def say(self, event: Event) -> None:
        """Tell whoever follows."""
        self._said.append(event)
        self._events.put_nowait(event)
        if isinstance(event, Done):
            self._events.put_nowait(None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A turn that ends in another way than it should is told like any other failure, and named in the log."""
        problem = None if task.cancelled() else task.exception()
        if problem is not None:
            logger.error("a turn broke: %s", type(problem).__name__)
            self.say(Failed(code="broken", message="something went wrong on our side"))
        self._events.put_nowait(None)


class Talks:
    """All of them, of every view of an engine."""

    def __init__(self) -> None:
        self._under_way: set[Talk] = set()

    def begin(self, turn: Callable[[Talk], Coroutine[Any, Any, None]]) -> Talk:
        talk = Talk(turn)
        self._under_way.add(talk)
        talk.task.add_done_callback(lambda _: self._under_way.discard(talk))
        return talk

    async def settle(self) -> None:
        """Until every turn has been learnt from, whoever listens or not."""
        here = asyncio.get_running_loop()
        while tasks := [talk.task for talk in self._under_way if talk.task.get_loop() is here]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        for talk in self._under_way:
            talk.leave()
        await self.settle()
