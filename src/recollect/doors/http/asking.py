"""What every door asks of a request: the engine, on this occasion; whose memory; who is asking.

    async def handler(engine: TheEngine, scope: TheScope) -> …
    async def reserved(engine: TheEngine, caller: TheAdmin) -> …

The caller was established before the door was reached. The space is the caller's to choose among their own, by `X-Space`; the
session, by `X-Session-ID`, or by a field of the door's own (`in_session`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Header, Request

from recollect.doors.http.auth.caller import Caller
from recollect.engine import Engine
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import Occasion, Scope, checked_id

__all__ = ["Caller", "TheAdmin", "TheCaller", "TheEngine", "TheScope", "in_session"]

SpaceHeader = Annotated[
    str | None,
    Header(alias="X-Space", min_length=1, max_length=255, description="Which of your spaces; else the usual one."),
]
SessionHeader = Annotated[
    str | None,
    Header(alias="X-Session-ID", min_length=1, max_length=255, description="The session this is asked in."),
]


def caller_of(request: Request, space: SpaceHeader = None) -> Caller:
    caller: Caller = request.state.caller
    return caller if space is None else replace(caller, scope=caller.scope.within(_text(space, "X-Space")))


def scope_of(caller: Annotated[Caller, Depends(caller_of)]) -> Scope:
    return caller.scope


def engine_of(request: Request, caller: Annotated[Caller, Depends(caller_of)], session: SessionHeader = None) -> Engine:
    engine: Engine = request.app.state.engine
    session_id = None if session is None else checked_id(_text(session, "X-Session-ID"), "X-Session-ID")
    return engine.on(Occasion(actor=caller.actor, session_id=session_id, correlation_id=request.state.correlation_id))


def admin_of(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
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


def _text(value: str, what: str) -> str:
    """Header values are bytes; ours are UTF-8."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        raise InvalidInput(f"{what} is not UTF-8") from None


TheCaller = Annotated[Caller, Depends(caller_of)]
TheScope = Annotated[Scope, Depends(scope_of)]
TheEngine = Annotated[Engine, Depends(engine_of)]
TheAdmin = Annotated[Caller, Depends(admin_of)]
