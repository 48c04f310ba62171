"""What this contract asks that takes the engine more than one call: finding an entry by its id alone, and surveying a space."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from recollect.doors.companion.summary import Survey
from recollect.doors.companion.translate import Embeddings, target_of
from recollect.engine import Engine
from recollect.errors import NotFound
from recollect.model import Listing, Memory, Scope, Status

T = TypeVar("T")
SAMPLE = 500
PINS = 20


async def wherever(
    engine: Engine, scope: Scope, space: str | None, do: Callable[[Scope], Awaitable[T]]
) -> tuple[Scope, T]:
    """Do it in the space that is named, or else in whichever of the caller's own spaces the entry is.

    The contract names entries by their id alone; the caller's usual space is tried first.
    """
    if space is not None:
        return scope.within(space), await do(scope.within(space))
    try:
        return scope, await do(scope)
    except NotFound as absent:
        for other in await engine.spaces(scope.tenant, scope.user):
            if other != scope.space:
                try:
                    return scope.within(other), await do(scope.within(other))
                except NotFound:
                    continue
        raise absent


async def embeddings_of(engine: Engine, scope: Scope, memories: Sequence[Memory]) -> Embeddings:
    return await engine.embedding_status(scope, [target_of(memory) for memory in memories])


async def surveyed(engine: Engine, scope: Scope) -> Survey:
    one = Listing(limit=1)
    newest = await engine.list(scope, replace(one, limit=SAMPLE))
    pinned = await engine.list(scope, replace(one, limit=PINS, pinned=True))
    return Survey(
        scope=scope,
        settings=await engine.space_settings(scope),
        total=newest.total,
        pinned_count=pinned.total,
        saved_count=(await engine.list(scope, replace(one, manually_saved=True))).total,
        archived_count=(await engine.list(scope, replace(one, statuses=(Status.ARCHIVED,)))).total,
        themes=await engine.themes(scope),
        newest=newest.items,
        pinned=pinned.items,
    )
