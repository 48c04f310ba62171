"""What every door asks of a request: the engine, on this occasion; whose memory; who is asking.

    async def handler(engine: TheEngine, scope: TheScope) -> …
    async def reserved(engine: TheEngine, caller: TheAdmin) -> …

The caller was established before the door was reached. The space is the caller's to choose among their own, by `X-Space`; the
session, by `X-Session-ID`, or by a field of the door's own (`in_session`).

Each of these is a coroutine of the bare request. A plain function would be sent to a thread and back for every request, and
declared headers and nested dependencies be solved anew each time; both cost more than many an answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request

from recollect.doors.http.auth.caller import Caller
from recollect.engine import Engine
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import Occasion, Scope, checked_id

__all__ = ["SESSION", "SPACE", "Caller", "TheAdmin", "TheCaller", "TheEngine", "TheScope", "in_session"]

SPACE, SESSION = "X-Space", "X-Session-ID"


async def caller_of(request: Request) -> Caller:
    return _caller(request)


async def scope_of(request: Request) -> Scope:
    return _caller(request).scope


async def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    actor: str = request.state.caller.actor
    return engine.on(
        Occasion(actor=actor, session_id=_named(request, SESSION), correlation_id=request.state.correlation_id)
    )


async def admin_of(request: Request) -> Caller:
    caller = _caller(request)
    if caller.role != "admin":
        raise NotAllowed("this is for administrators")
    return caller


def in_session(engine: Engine, session_id: str | None) -> Engine:
    """The same engine in the session that a door's own field names; without one, as the request's headers say.

    Where both are given they must agree: naming a second session is no way out of one that leaves no trace.
    """
    if session_id is None or session_id == engine.occasion.session_id:
        return engine
    if engine.occasion.session_id is not None:
        raise InvalidInput("X-Session-ID and session_id name different sessions")
    return engine.on(replace(engine.occasion, session_id=checked_id(session_id, "session_id")))


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    space = _named(request, SPACE)
    return caller if space is None else replace(caller, scope=caller.scope.within(space))


def _named(request: Request, header: str) -> str | None:
    """An id from a header, which is bytes; ours are UTF-8."""
    given = request.headers.get(header)
    if given is None:
        return None
    try:
        return checked_id(given.encode("latin-1").decode(), header)
    except UnicodeError:
        raise InvalidInput(f"{header} is not UTF-8") from None


TheCaller = Annotated[Caller, Depends(caller_of)]
TheScope = Annotated[Scope, Depends(scope_of)]
TheEngine = Annotated[Engine, Depends(engine_of)]
TheAdmin = Annotated[Caller, Depends(admin_of)]
