"""Which scopes a command about order goes through: one space, all spaces of a user, or everybody's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

import typer

from recollect.cli.opening import Opened
from recollect.cli.options import Call
from recollect.cli.output import visible
from recollect.model import Scope
from recollect.ports import System

PAGE = 100
Everyone = Annotated[bool, typer.Option("--everyone", help="Of every user, not only of this one.")]


async def scopes_meant(call: Call, here: Opened, everyone: bool) -> AsyncIterator[Scope]:
    """The space that was named; without a name every space of the user that holds anything."""
    if call.space is not None and not everyone:
        yield here.scope
        return
    after: Scope | None = None
    tenant = call.tenant if everyone else here.scope.tenant
    user = None if everyone else here.scope.user
    while True:
        start = after

        def page(system: System, start: Scope | None = start) -> Sequence[Scope]:
            return system.scopes(start, PAGE, tenant, user)

        scopes = await here.engine.store.system(page)
        for scope in scopes:
            if call.space in (None, scope.space):
                yield scope
        if len(scopes) < PAGE:
            return
        after = scopes[-1]


def named(scope: Scope) -> str:
    return visible(f"{scope.user} · {scope.space}" if scope.tenant == "default" else " · ".join(_parts(scope)))


def _parts(scope: Scope) -> tuple[str, str, str]:
    return scope.tenant, scope.user, scope.space
