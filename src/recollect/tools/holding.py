"""Whose memory an agent's tools are about: an engine and a scope, from whoever opened them. Never from the agent."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from recollect.engine import Engine
from recollect.model import Occasion, Scope

T = TypeVar("T")


class Opened(Protocol):
    """What a memory has once it is open."""

    @property
    def engine(self) -> Engine: ...


class Portal(Protocol):
    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it where the memory lives, and wait."""


class Holder(Protocol):
    """`recollect.AsyncMemory`, or whatever else opens an engine for one scope."""

    scope: Scope

    async def _open(self) -> Any: ...


class Waiting(Protocol):
    """`recollect.Memory`: an asynchronous memory, and a way to it from any thread."""

    @property
    def _memory(self) -> Holder: ...
    @property
    def _portal(self) -> Portal: ...


@dataclass(frozen=True, slots=True)
class Held:
    """A scope of an engine that is open: for servers that hold one engine for many people."""

    engine: Engine
    scope: Scope


async def held(memory: Holder | Held, session_id: str | None = None, actor: str = "agent") -> Held:
    """The engine and scope of a memory, asked in this session: an incognito one stays incognito for its tools."""
    if isinstance(memory, Held):
        engine, scope = memory.engine, memory.scope
        occasion = engine.occasion if session_id is None else replace(engine.occasion, session_id=session_id)
        return Held(engine.on(occasion), scope)
    opened: Opened = await memory._open()
    return Held(opened.engine.on(Occasion(actor=actor, session_id=session_id)), memory.scope)
