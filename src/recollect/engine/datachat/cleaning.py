"""Ending what has reached its end, for everybody, at once: what the periodic round does, when somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.engine.upkeep import maintain
from recollect.model import Scope
from recollect.model.scope import DATA
from recollect.ports import System

if TYPE_CHECKING:
    from recollect.engine import Engine

AT_ONCE = 100


async def clean(engine: Engine) -> int:
    """How many conversations of the data chat were ended; what should have been put away and couldn't is left."""
    ended = 0
    after: Scope | None = None
    while True:
        start = after

        def page(system: System, start: Scope | None = start) -> Sequence[Scope]:
            return system.scopes(start, AT_ONCE)

        scopes = await engine.store.system(page)
        for scope in scopes:
            if scope.space.startswith(DATA):
                upkeep = await maintain.carry_out(engine, scope, await maintain.planned(engine, scope))
                ended += upkeep.done.get("drop_conversation", 0)
        if len(scopes) < AT_ONCE:
            break
        after = scopes[-1]
    await maintain.scrub(engine)
    return ended
