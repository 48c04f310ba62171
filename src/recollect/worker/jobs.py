"""What there is to do in the background, as functions that any runner may call at any time, in any process, more than once.

The store says what is due; nothing here is remembered that would be missed. Every function does what it finds and returns how
much that was. `Backfill` alone keeps a state, which is worth losing: how long to leave a provider alone that answers nothing.
A runner says when each begins and ends (`During`), so that whoever traces can tell what belongs together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from random import Random

from recollect.engine import Engine
from recollect.engine.conversations import extract, sweep, working
from recollect.engine.embedding import elsewhere, embed
from recollect.engine.embedding.embed import GoOn
from recollect.engine.forgetting.debts import scrub_in_passing, settle_files
from recollect.engine.remembering import judging
from recollect.engine.upkeep import maintain
from recollect.errors import RecollectError, Unavailable
from recollect.model import Generation, GenerationState, Scope
from recollect.policy.backoff import LONGEST, delay, is_due
from recollect.ports import System

logger = logging.getLogger("recollect.worker")

SCOPES_AT_ONCE = 100
LONGEST_OUTAGE_PAUSE = timedelta(seconds=30)

During = Callable[[str], AbstractContextManager[None]]
"""Around each piece of work, by its name."""


def unwatched(_: str) -> AbstractContextManager[None]:
    return nullcontext()


class Backfill:
    """Give texts their vectors, batch after batch, and leave a provider alone for a while that answers nothing."""

    def __init__(self, engine: Engine, during: During = unwatched) -> None:
        self._engine = engine
        self._during = during
        self._random = Random()
        self._outages = 0
        self.resume_at: datetime | None = None
        """Not before then, whoever calls: a provider that is down is not brought back by asking."""

    async def run(self, go_on: GoOn = embed.always, scope: Scope | None = None) -> int:
        done = 0
        while go_on() and not self._rests():
            with self._during("embed"):
                step = await embed.run_once(self._engine, scope)
            done += step.embedded
            self._note(step)
            if not step.worked:
                break
        return done

    def _rests(self) -> bool:
        return not is_due(self.resume_at, self._engine.clock.now(), LONGEST)

    def _note(self, step: embed.Pass) -> None:
        if step.embedded:
            self._outages = 0
        pause = timedelta(seconds=step.wait_s)
        if step.outage and not step.embedded:
            pause = max(pause, min(delay(self._outages, self._random), LONGEST_OUTAGE_PAUSE))
            self._outages += 1
        self.resume_at = self._engine.clock.now() + min(pause, LONGEST) if pause else None


async def complete_generations(engine: Engine, go_on: GoOn = embed.always) -> int:
    """Bring generations that are not whole up to what is stored, switch to what was built, remove what serves nobody."""
    done = 0
    for generation in await engine.generations.alive():
        if go_on():
            done += await _complete(engine, generation, go_on)
    if go_on():
        await embed.clear_away(engine, go_on)
    return done


async def _complete(engine: Engine, generation: Generation, go_on: GoOn) -> int:
    generations = engine.generations
    embedder = await generations.embedder(generation)
    done = 0
    if embedder is not None and generation.state is GenerationState.BUILDING:
        await embed.complete(engine, generation, go_on=go_on)
        done = 1
    elif embedder is not None and generation.id in generations.unfilled:
        await embed.fill(engine, generation, go_on=go_on)
        done = 1
    if go_on():
        generations.unfilled.discard(generation.id)
    return done


async def read_turns(engine: Engine) -> int:
    """Let a model read the turns that wait for it and look at what can't all be true, and trim what has grown by that."""
    done = len(await extract.read_waiting(engine)) + await judging.review(engine)
    await keep_within_bounds(engine)
    return done


async def keep_within_bounds(engine: Engine) -> None:
    """What this process owes for what it wrote itself: spaces that outgrew their cap, words that are still in the files."""
    for _ in range(len(engine.debts.wrote)):
        await maintain.keep_within(engine, engine.debts.wrote.pop())
    await scrub_in_passing(engine)


async def clean_files(engine: Engine, during: During, pause_s: float) -> None:
    """For ever: what was removed, by any process, leaves the files. Of large tables that takes its time."""
    while True:
        try:
            with during("scrub"):
                await settle_files(engine)
        except RecollectError as problem:
            logger.warning("cleaning files failed and will be tried again: %s", type(problem).__name__)
        await asyncio.sleep(pause_s)


async def settle_own(engine: Engine) -> None:
    """The debts of a process that leaves the rest to workers elsewhere: nobody else knows what was noted of its reads, which
    copies of sessions or vectors it could not remove, or what it may search. Sessions that went quiet are ended elsewhere; here
    they are merely forgotten."""
    engine.sessions.quiet(engine.clock.now() - working.IDLE)
    await engine.notes.write(engine.store, engine.clock)
    await keep_within_bounds(engine)
    if engine.copies is not None:
        await engine.copies.settle()
    await elsewhere.settle(engine)


async def look_after_sessions(engine: Engine, go_on: GoOn = embed.always) -> int:
    """Find the sessions of every process: read what is unread, end what went quiet, keep what mattered of it."""
    engine.sessions.looked_through, engine.sessions.knows_all = None, False
    done = 0
    while go_on() and not engine.sessions.knows_all:
        cleaned = await sweep.sweep(engine)
        # Page by page: of all together there may be more than anybody keeps in mind.
        done += cleaned.removed + await judging.review(engine)
    return done + await read_turns(engine)


async def tidy_up(engine: Engine, go_on: GoOn = embed.always) -> int:
    """Everybody's retention, trimming, clean-up and archive, once from the first to the last."""

    async def one(scope: Scope) -> int:
        upkeep = await maintain.maintain(engine, scope)
        return sum(upkeep.done.values()) + (await working.clean(engine, scope)).removed

    return await _for_everybody(engine, go_on, one)


async def roll_up(engine: Engine, go_on: GoOn = embed.always) -> int:
    """Sum up what is old and of one matter, for everybody."""

    async def one(scope: Scope) -> int:
        upkeep = await maintain.maintain(engine, scope, roll_up=True)
        return upkeep.done.get("summarise", 0)

    return await _for_everybody(engine, go_on, one)


async def _for_everybody(engine: Engine, go_on: GoOn, one: Callable[[Scope], Awaitable[int]]) -> int:
    """One who can't be served must not keep the others from it; a store that is away is away for all."""
    done, after = 0, None
    while go_on():
        scopes = await engine.store.system(_page(after))
        for scope in scopes:
            if not go_on():
                break
            try:
                done += await one(scope)
            except Unavailable:
                raise
            except RecollectError as problem:
                logger.warning("one space could not be looked after: %s", type(problem).__name__)
                maintain.tell_failed(engine, scope)
        if len(scopes) < SCOPES_AT_ONCE:
            break
        after = scopes[-1]
    return done


def _page(after: Scope | None) -> Callable[[System], Sequence[Scope]]:
    return lambda system: system.scopes(after, SCOPES_AT_ONCE)
