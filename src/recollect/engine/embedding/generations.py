"""Which embedding generations are alive, and who can make vectors for each.

One generation serves questions. Others may be building beside it: they get every new text too, so that the switch loses
nothing. The list changes rarely and is read on every verb, so it is kept for a few seconds; so is the news that another model
was configured, which `follow` brings.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from recollect.errors import RecollectError
from recollect.model import Generation, GenerationState
from recollect.ports import Clock, Embedder, Store, System

Recollector = Callable[[Generation], Awaitable[Embedder | None]]
"""Finds the embedder of a generation that isn't the configured one; None when it can't be had any more."""

Follower = Callable[[], Awaitable[None]]
"""Looks whether another model was configured meanwhile, and if so has it adopted."""

KEPT_SECONDS = 5.0
ANNOUNCE_AGAIN_SECONDS = 15.0
GRACE_SECONDS = 3 * KEPT_SECONDS


async def _nobody() -> None:
    """Follows nothing: the settings are all there is."""


def generation_id(provider: str, model: str, dimensions: int) -> str:
    return f"{provider}:{model}:{dimensions}"


def generation_of(embedder: Embedder) -> str:
    return generation_id(embedder.provider, embedder.model, embedder.dimensions)


class Generations:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        configured: Embedder | None,
        recollect: Recollector,
        *,
        insist: bool = True,
    ) -> None:
        """`insist`: the configured model was asked for by name, so another one that serves is to be replaced by it."""
        self._store = store
        self._clock = clock
        self._recollect = recollect
        self._configured = configured
        self._insist = insist
        self._embedders: dict[str, Embedder | None] = {}
        self._alive: tuple[Generation, ...] = ()
        self._read_at = float("-inf")
        self._announced = False
        self._announce_after = float("-inf")
        self._former: set[Embedder] = set()
        self.follow: Follower = _nobody
        self._retired_since: dict[str, float] = {}
        self.unfilled: set[str] = set()
        """Generations this process has begun: what was stored before them is not in their queue yet."""

    async def alive(self) -> tuple[Generation, ...]:
        """The serving generation first, then those building."""
        if time.monotonic() - self._read_at > KEPT_SECONDS:
            await self.refresh()
        return self._alive

    async def refresh(self) -> None:
        await self.follow()
        if not self._announced and time.monotonic() >= self._announce_after:
            await self._announce()
        everything = await self._store.system(lambda system: system.generations())
        alive = [each for each in everything if each.state is not GenerationState.RETIRED]
        self._alive = tuple(sorted(alive, key=lambda each: each.state is not GenerationState.SERVING))
        self._read_at = time.monotonic()

    async def serving(self) -> Generation | None:
        alive = await self.alive()
        return alive[0] if alive and alive[0].state is GenerationState.SERVING else None

    async def to_fill(self) -> tuple[str, ...]:
        """The generations that new text is to be embedded in."""
        return tuple(each.id for each in await self.alive())

    async def embedder(self, generation: Generation) -> Embedder | None:
        """Who makes vectors for this generation; None when that model can't be had under the present settings."""
        if generation.id not in self._embedders:
            self._embedders[generation.id] = await self._recollect(generation)
        return self._embedders[generation.id]

    async def configured(self) -> Embedder | None:
        """The model that is configured now, whether it serves already or not."""
        await self.refresh()
        return self._configured

    async def start(self, embedder: Embedder) -> Generation:
        """Begin (or take up again) a generation beside the serving one. The very first one serves at once."""
        # A server may have to be asked for its dimensions, which takes a while.
        id = await asyncio.to_thread(generation_of, embedder)
        self._embedders[id] = embedder
        fresh = Generation(
            id=id,
            provider=embedder.provider,
            model=embedder.model,
            dimensions=embedder.dimensions,
            state=GenerationState.BUILDING,
            created_at=self._clock.now(),
        )

        started, begun = await self._store.system(lambda system: _start(system, fresh))
        if begun:
            self.unfilled.add(id)
        self._read_at = float("-inf")
        return started

    async def switch(self, id: str) -> None:
        """From now on `id` answers questions and the one before is retired, in one step. One that was given up stays so."""

        def work(system: System) -> None:
            if any(each.id == id and each.state is not GenerationState.RETIRED for each in system.generations()):
                system.set_generation(id, GenerationState.SERVING)

        await self._store.system(work)
        await self.refresh()

    def adopt(self, embedder: Embedder | None, *, insist: bool = True, keep: bool = True) -> None:
        """From now on this is the configured model; None when there is none. Without `keep`, no server that was asked before
        is asked again; with it, the one that serves does so until the new one can."""
        known = {each for each in (self._configured, *self._embedders.values()) if each is not None}
        self._former = (self._former | known) - {embedder}
        if not keep:
            self._embedders = {}
        self._configured, self._insist = embedder, insist
        self._announced = False
        self._announce_after = self._read_at = float("-inf")

    async def give_up(self, *, serving: bool = False) -> None:
        """Retire what is being built for models that are configured no more; with `serving`, what serves too."""
        wanted = None
        if self._configured is not None and self._announced:
            wanted = await asyncio.to_thread(generation_of, self._configured)

        def work(system: System) -> None:
            for each in system.generations():
                built = each.state is GenerationState.BUILDING and wanted is not None and each.id != wanted
                if built or (serving and each.state is not GenerationState.RETIRED):
                    system.set_generation(each.id, GenerationState.RETIRED)

        await self._store.system(work)
        await self.refresh()

    async def forgettable(self) -> bool:
        """Whether generations are retired, and for longer than anyone goes on writing for them."""
        everything = await self._store.system(lambda system: system.generations())
        retired = {each.id for each in everything if each.state is GenerationState.RETIRED}
        now = time.monotonic()
        self._retired_since = {id: self._retired_since.get(id, now) for id in retired}
        return any(now - since > GRACE_SECONDS for since in self._retired_since.values())

    async def drop_retired(self) -> list[str]:
        """Remove generations that serve nobody any more, with their vectors; which ones."""

        def work(system: System) -> list[str]:
            retired = [each.id for each in system.generations() if each.state is GenerationState.RETIRED]
            for id in retired:
                system.drop_generation(id)
            return retired

        return await self._store.system(work)

    async def _announce(self) -> None:
        """The configured embedder becomes a generation as soon as it can say what it is."""
        if self._configured is not None and (self._insist or not await self._served()):
            try:
                await self.start(self._configured)
            except RecollectError:
                # An endpoint that is down can't tell its dimensions yet. Asking takes time, which someone is waiting for.
                self._announce_after = time.monotonic() + ANNOUNCE_AGAIN_SECONDS
                return
        self._announced = True

    async def _served(self) -> bool:
        """Whether a generation serves whose model can be had: then a mere default doesn't push it aside."""
        for generation in await self._store.system(lambda system: system.generations()):
            if generation.state is GenerationState.SERVING:
                return await self.embedder(generation) is not None
        return False

    async def close(self) -> None:
        known = {self._configured, *self._embedders.values(), *self._former}
        embedders = {each for each in known if each is not None}
        await asyncio.gather(*(embedder.close() for embedder in embedders))


def _start(system: System, fresh: Generation) -> tuple[Generation, bool]:
    """The generation as it stands, and whether this made it so."""
    known: Sequence[Generation] = system.generations()
    same = next((each for each in known if each.id == fresh.id), None)
    if same is not None and same.state is not GenerationState.RETIRED:
        return same, False
    if same is not None:
        system.drop_generation(
            same.id
        )  # Taken up again it starts anew: what it missed meanwhile is nowhere written down.
    system.add_generation(fresh)
    state = (
        GenerationState.BUILDING
        if any(each.state is GenerationState.SERVING for each in known)
        else GenerationState.SERVING
    )
    system.set_generation(fresh.id, state)
    return next(each for each in system.generations() if each.id == fresh.id), True
