"""sweep: look after sessions that have gone quiet, a little at a time.

This process knows which scopes were active in it. Those of earlier processes are looked through once, a page at a time, so that
what they left unread or unfinished is found again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.engine.conversations import working
from recollect.model import Scope
from recollect.ports import System

if TYPE_CHECKING:
    from recollect.engine import Engine

SCOPES_AT_ONCE = 100


async def sweep(engine: Engine) -> working.Cleaned:
    removed = archived = 0
    if engine.copies is not None:
        await engine.copies.settle()
    for scope in await _left_behind(engine):
        await working.adopt(engine, scope)
        if engine.reviewer is not None:
            engine.debts.disputed.add(scope)
    for scope in engine.sessions.quiet(engine.clock.now() - working.IDLE):
        cleaned = await working.clean(engine, scope)
        removed, archived = removed + cleaned.removed, archived + cleaned.archived
    return working.Cleaned(removed, archived)


async def _left_behind(engine: Engine) -> Sequence[Scope]:
    """The next page of scopes that were there before this process was."""
    sessions = engine.sessions
    if sessions.knows_all:
        return ()
    start = sessions.looked_through

    def page(system: System) -> Sequence[Scope]:
        return system.scopes(start, SCOPES_AT_ONCE)

    scopes = await engine.store.system(page)
    sessions.knows_all = len(scopes) < SCOPES_AT_ONCE
    sessions.looked_through = scopes[-1] if scopes else start
    return scopes
