"""A small portal from ordinary code to the asynchronous core: one event loop on one thread, and calls that wait for it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from recollect.client import AsyncMemory
from recollect.engine.chatting import talks as engine
from recollect.errors import Unavailable
from recollect.model import Memory as MemoryRecord
from recollect.model import Receipt, Scope
from recollect.model.talk import Event, Reply, Said
from recollect.policy.render import Block

P = ParamSpec("P")
T = TypeVar("T")


class Portal:
    """An event loop that runs on its own thread until it is closed."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closing = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recollect-portal", daemon=True)
        self._thread.start()

    @property
    def is_foreign(self) -> bool:
        """Whether this process is a child that was forked after the portal was opened: its thread did not come along."""
        return os.getpid() != self._pid

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `coroutine` on the portal's loop and wait for it."""
        with ExitStack() as refused:
            refused.callback(coroutine.close)
            if self.is_foreign:
                raise Unavailable("this memory was opened before the process was forked; open one in the child")
            with self._lock:
                if self._closing:
                    raise Unavailable("this memory is closed; open a new one")
                future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            refused.pop_all()
        try:
            return future.result()
        except CancelledError:
            raise Unavailable("this memory was closed before the call was done") from None

    def close(self) -> None:
        """End what is still going on, then the loop. In a forked child there is nothing to end."""
        if self.is_foreign:
            return
        with self._lock:
            if self._closing:
                return
            self._closing = True
        asyncio.run_coroutine_threadsafe(_end_the_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_the_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_default_executor()


def _waiting(
    method: Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Memory, P], T]:
    """The same method, for callers that wait."""

    @wraps(method)
    def call(self: Memory, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._portal.call(method(self._memory, *args, **kwargs))

    return call  # type: ignore[return-value]


class Talk:
    """A turn of a chat under way: its events, its words, or the whole of it, for callers that wait.

    It goes on whether or not anybody follows it.
    """

    def __init__(self, talk: engine.Talk, portal: Portal) -> None:
        self._talk, self._portal = talk, portal

    def __iter__(self) -> Iterator[Event]:
        """Everything that happens: `recollect.model.talk` describes the events."""
        while (event := self._portal.call(self._talk.next())) is not None:
            yield event

    def words(self) -> Iterator[str]:
        """The reply alone, piece by piece. What goes wrong on the way is in `whole`, which may be asked for afterwards."""
        for event in self:
            if isinstance(event, Said):
                yield event.text

    def whole(self) -> Reply:
        """The turn to its end, collected, whoever followed it before."""
        return self._portal.call(self._talk.whole())

    def leave(self) -> None:
        """Nobody listens any more: the model need not go on. What it has said is kept, and learnt from."""
        self._portal.call(_left(self._talk))


async def _left(talk: engine.Talk) -> None:
    talk.leave()


class Memory:
    """A person's memory. Three lines are enough:

    >>> memory = Memory("memory://", user="ana")
    >>> receipt = memory.add("I prefer uv over pip for Python projects", type="preference")
    >>> memory.search("Which package manager do I like?").hits[0].memory.content
    'I prefer uv over pip for Python projects'
    >>> memory.close()

    Safe from many threads. `recollect.AsyncMemory` has the same methods for asynchronous programs.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        user: str | None = None,
        space: str | None = None,
        **settings: Any,
    ):
        self._memory = AsyncMemory(url, user, space, **settings)
        with ExitStack() as undo:
            self._portal = Portal()
            undo.callback(self._portal.close)
            self._portal.call(self._memory._open())
            undo.pop_all()

    @property
    def scope(self) -> Scope:
        """Whose memory this is: tenant, user and space."""
        return self._memory.scope

    def at(self, user: str | None = None, space: str | None = None, tenant: str | None = None) -> Self:
        """The same store and model for another user or space, without opening anything twice."""
        other = type(self).__new__(type(self))
        other._memory = self._portal.call(self._memory.at(user, space, tenant))
        other._portal = self._portal
        return other

    def add(self, text: str, **fields: Any) -> Receipt:
        """Remember something. The receipt says what became of it; it can be found as soon as this returns.

        >>> with Memory("memory://", user="ana") as memory:
        ...     memory.add("Ana's cat is called Miso", tags=["pets"]).outcome
        'stored'
        """
        return self._portal.call(self._memory.add(text, **fields))

    def chat(self, text: str, *, session_id: str | None = None, message_id: str | None = None) -> Talk:
        """Say something in a conversation; a new one begins without `session_id`. The message is stored when this returns.

        `talk.words()` gives the reply as it is said, iterating over `talk` everything that happens, `talk.whole()` all of it at
        once. The configured chat model answers, with what is remembered; without one the memory itself does. "Forget that", "pin
        this", "turn memory off" and the like are carried out. The reply is stored, followed or not; `talk.leave()` ends it early.
        The same `message_id` twice is one message.

        >>> with Memory("memory://", user="ana", chat_url="") as memory:
        ...     said = memory.chat("Remember that the standup is at 9:30").whole()
        ...     "9:30" in memory.chat("When is the standup?").whole().text
        True
        """
        return Talk(
            self._portal.call(self._memory.chat(text, session_id=session_id, message_id=message_id)), self._portal
        )

    def context(self, query: str, *, token_budget: int = 1000, **search: Any) -> Block:
        """What belongs to a question as a block of text for a model's prompt: delimited, escaped, within the budget.

        >>> with Memory("memory://", user="ana") as memory:
        ...     receipt = memory.add("The standup is at 9:30")
        ...     "The standup is at 9:30" in memory.context("when is standup?").text
        True
        """
        return self._portal.call(self._memory.context(query, token_budget=token_budget, **search))

    def update(self, id: str, **fields: Any) -> MemoryRecord:
        """Change fields of a memory; `text` is its content."""
        return self._portal.call(self._memory.update(id, **fields))

    add_turns = _waiting(AsyncMemory.add_turns)
    take_in = _waiting(AsyncMemory.take_in)
    search = _waiting(AsyncMemory.search)
    get = _waiting(AsyncMemory.get)
    list = _waiting(AsyncMemory.list)
    themes = _waiting(AsyncMemory.themes)
    pin = _waiting(AsyncMemory.pin)
    archive = _waiting(AsyncMemory.archive)
    restore = _waiting(AsyncMemory.restore)
    repeats = _waiting(AsyncMemory.repeats)
    unmerge = _waiting(AsyncMemory.unmerge)
    conflicts = _waiting(AsyncMemory.conflicts)
    resolve = _waiting(AsyncMemory.resolve)
    maintain = _waiting(AsyncMemory.maintain)
    health = _waiting(AsyncMemory.health)
    forget = _waiting(AsyncMemory.forget)
    load = _waiting(AsyncMemory.load)
    flush = _waiting(AsyncMemory.flush)

    def export(self, session_id: str | None = None) -> Iterator[dict[str, Any]]:
        """Everything in this space, as JSON-ready lines that `load` takes back; or one conversation with what was learnt."""
        lines = self._memory.export(session_id)
        while (line := self._portal.call(_next(lines))) is not None:
            yield line

    def close(self) -> None:
        """Finish the batch in hand and let go of the store; what is left to embed waits for next time. Twice is harmless."""
        if self._memory._shared or self._memory._closed or self._portal.is_foreign:
            return
        self._portal.call(self._memory.close())
        self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


async def _next(lines: AsyncIterator[T]) -> T | None:
    return await anext(lines, None)
