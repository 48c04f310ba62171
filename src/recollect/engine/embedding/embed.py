"""embed: the background work. The database is the queue of record; whoever runs this may die at any point.

A batch is claimed under a lease, embedded, and settled only where the content is still what was embedded (`batches`). Everybody
with work due gets a turn (`fairness`), and no provider is asked more often than it allows (`pacing`). What fails is tried again
later, longer apart each time, but never by more than an hour or so: what seems to be was put off by a clock that ran ahead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from recollect.engine.embedding import elsewhere
from recollect.engine.embedding.batches import Batch, Pass, ahead_of, claim, embedded
from recollect.errors import RecollectError, Unavailable
from recollect.model import Backlog, Generation, GenerationState, Scope
from recollect.policy.budget import count_tokens
from recollect.ports import Embedder, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

__all__ = [
    "GoOn",
    "Pass",
    "always",
    "clear_away",
    "complete",
    "drain",
    "embedded",
    "fill",
    "flush",
    "reembed",
    "run_once",
    "warm",
]

SCOPES_AT_ONCE = 16
LOOKED_AT = 512
"""How many who wait are considered for a turn: whoever isn't among the longest waiting now will be, when those were served."""
ENQUEUE_AT_ONCE = 500
FLUSH_POLL_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0
"""Between two looks at whether a provider may be asked again, so that whoever wants to end need not wait."""
GoOn = Callable[[], bool]


def always() -> bool:
    return True


async def warm(engine: Engine) -> None:
    """Load tokenizer and local model before anybody asks; a model that lives elsewhere is sent nothing it wasn't asked."""
    await asyncio.to_thread(count_tokens, "Good morning")
    with suppress(RecollectError):
        serving = await engine.generations.serving()
        embedder = await engine.generations.embedder(serving) if serving else None
        if embedder is not None and embedder.provider == "local":
            await embedder.embed(["Good morning"], query=True)


async def run_once(engine: Engine, scope: Scope | None = None) -> Pass:
    """Claim what is due for up to a batch of scopes, or for this one, embed it and write it down."""
    done = Pass()
    scopes = [scope] if scope is not None else await _next(engine)
    if not scopes:
        return done
    for generation in await engine.generations.alive():
        pause = await engine.pace.wait(generation.provider)
        if pause:
            done.wait_s = max(done.wait_s, pause)
        elif claimed := await claim(engine, generation, scopes):
            await Batch(engine, await engine.generations.embedder(generation), done).run(claimed)
    return done


async def _next(engine: Engine) -> Sequence[Scope]:
    now = engine.clock.now()
    ahead = ahead_of(engine, now)
    waiting = await engine.store.system(lambda system: system.waiting(now, LOOKED_AT, ahead=ahead))
    return engine.turns.next(waiting, SCOPES_AT_ONCE)


async def drain(engine: Engine, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always) -> Pass:
    """Work until nothing is due, or until `go_on` says no."""
    total = Pass()
    while go_on():
        step = await run_once(engine)
        total.embedded += step.embedded
        total.failed += step.failed
        if progress:
            progress(step)
        if not step.worked:
            if not step.wait_s:
                break
            await asyncio.sleep(min(step.wait_s, LONGEST_PAUSE_SECONDS))
    return total


async def fill(
    engine: Engine, generation: Generation, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always
) -> Backlog:
    """Queue everything a generation still lacks, in every scope, and embed it. Safe to repeat after any interruption."""
    after: Scope | None = None
    while go_on():
        start = after
        scopes = await engine.store.system(lambda system, start=start: system.scopes(start, SCOPES_AT_ONCE))  # type: ignore[misc]
        for scope in scopes:
            while go_on():
                queued = await engine.store.write(scope, partial(_enqueue, engine, generation))
                if not queued:
                    break
                await drain(engine, progress, go_on)
        if len(scopes) < SCOPES_AT_ONCE:
            break
        after = scopes[-1]
    await drain(engine, progress, go_on)
    return await engine.store.system(lambda system: system.backlog(generation.id))


async def reembed(
    engine: Engine,
    embedder: Embedder,
    progress: Callable[[Pass], None] | None = None,
    go_on: GoOn = always,
) -> tuple[Generation, Backlog]:
    """Build a generation with `embedder` while the old one serves, then switch."""
    generation = await engine.generations.start(embedder)
    return generation, await complete(engine, generation, progress, go_on)


async def complete(
    engine: Engine, generation: Generation, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always
) -> Backlog:
    """Fill a generation that was begun, then switch to it; one that was given up meanwhile is left alone.

    Not switched while anything is still to come. A text that the new model refuses for good doesn't hold up the others: it is
    found by its words, and its state says why.
    """
    await engine.generations.refresh()
    if generation.id not in {each.id for each in await engine.generations.alive()}:
        return Backlog()
    backlog = await fill(engine, generation, progress, go_on)
    whole = go_on() and not backlog.pending and not backlog.retrying
    if whole and generation.state is not GenerationState.SERVING:
        await engine.generations.switch(generation.id)
    return backlog


async def clear_away(engine: Engine, go_on: GoOn = always) -> None:
    """Remove generations that no longer serve.

    Not before every process has noticed the switch: until then they write for the old one. What they wrote meanwhile is queued
    for the one that serves.
    """
    if await engine.generations.forgettable():
        serving = await engine.generations.serving()
        if serving is not None:
            await fill(engine, serving, go_on=go_on)
        if go_on():
            await elsewhere.retire(engine, await engine.generations.drop_retired())


def _enqueue(engine: Engine, generation: Generation, tx: Tx) -> int:
    return tx.embeddings.enqueue_missing(generation.id, engine.clock.now(), ENQUEUE_AT_ONCE)


async def flush(engine: Engine, scope: Scope, timeout: float | None = None) -> None:
    """Wait until nothing of this scope is pending in the serving generation, doing the work here if nobody else does.

    What failed and is to be tried again later is not waited for: it would make a caller hang on someone else's outage.
    """
    serving = await engine.generations.serving()
    if serving is None:
        return
    deadline = asyncio.get_running_loop().time() + timeout if timeout is not None else None
    if await engine.generations.embedder(serving) is not None:
        # What was stored while no model was configured has no place in the queue yet.
        while await engine.store.write(scope, partial(_enqueue, engine, serving)):
            pass
    while True:
        step = await run_once(engine)
        backlog = await engine.store.read(scope, lambda tx: tx.embeddings.backlog(serving.id))
        if not backlog.pending:
            return
        if deadline is not None and asyncio.get_running_loop().time() >= deadline:
            raise Unavailable(f"{backlog.pending} embeddings are still pending after {timeout} seconds")
        if not step.worked:
            await asyncio.sleep(FLUSH_POLL_SECONDS)
