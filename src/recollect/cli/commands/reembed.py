"""`recollect reembed`: a new generation of embeddings beside the serving one, then the switch.

It may be interrupted at any point, by Ctrl-C or by force, and started again: what is done stays done. Texts that an interrupted
run had in hand are free again when its lease ends, so a restart may have to wait for those, two minutes at most.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Annotated, Any

import typer

from recollect.bootstrap import embedder_config, open_embedder, sqlite_path
from recollect.cli.commands.scaling import graphs_built
from recollect.cli.embedding import entries, queue_missing, reasons
from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say, show
from recollect.cli.progress import bar
from recollect.engine.embedding.embed import Pass, fill
from recollect.engine.embedding.embed import reembed as build
from recollect.errors import InvalidInput
from recollect.model import Backlog, Generation
from recollect.ports import Embedder
from recollect.settings import Settings, names_of

app = typer.Typer(add_completion=False)
INCOMPLETE = 5
LOOK_AGAIN_SECONDS = 1.0


@command(app)
async def reembed(
    call: Call,
    provider: Annotated[
        str | None, typer.Option("--provider", help="local, openai, ollama, llamacpp, custom_http.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model's name there.")] = None,
    url: Annotated[str | None, typer.Option("--url", help="The server's address.")] = None,
    dimensions: Annotated[int | None, typer.Option("--dimensions", min=1, help="The vector size to ask for.")] = None,
) -> None:
    """Change the embedding model, or embed what is missing, while the old one serves.

    Without options it completes the embeddings of the configured model. A key is taken from RECOLLECT_EMBEDDER_KEY. The
    switch happens when every text of every user has its new embedding; start again after an interruption, nothing is lost.
    """
    chosen = any((provider, model, url, dimensions))
    wanted = _wanted(call, provider, model, url, dimensions)
    async with AsyncExitStack() as stack:
        named = await open_embedder(embedder_config(wanted)) if chosen else None
        if named is not None:
            await stack.enter_async_context(closing(named))
        here = await stack.enter_async_context(opened(call))
        # Without a name it is the model that is configured, be it by settings or by an administrator.
        embedder = named if chosen else await here.engine.generations.configured()
        if embedder is None:
            raise InvalidInput("embeddings are off; name a model with --provider, --model and --url")
        before = await here.engine.generations.serving()
        generation, backlog = await _build(here, embedder)
        serving = await here.engine.generations.serving()
        why = await reasons(here.engine, generation, backlog.error) if backlog.error else {}
    complete = serving is not None and serving.id == generation.id and not (backlog.pending or backlog.error)
    to_set = _to_set(wanted, here.settings, generation) if complete and chosen else {}
    if call.json:
        print_json(
            {
                "generation": generation.id,
                "complete": complete,
                "switched": complete and (before is None or before.id != generation.id),
                "pending": backlog.pending,
                "failed": backlog.error,
                "reasons": dict(why),
                "settings": to_set,
            }
        )
    else:
        _tell(generation, backlog, complete, why, to_set if chosen else {})
    if not complete:
        raise typer.Exit(INCOMPLETE)


def _wanted(call: Call, provider: str | None, model: str | None, url: str | None, dimensions: int | None) -> Settings:
    """The settings with what was chosen. What they say of a server's model is not meant for the local one."""
    if provider == "local":
        model, url, dimensions = model or "", url or "", dimensions or 0
    return call.settings(
        embedder=provider, embedder_model=model, embedder_url=url, embedder_dimensions=dimensions, worker=False
    )


@asynccontextmanager
async def closing(embedder: Embedder) -> AsyncIterator[None]:
    """The engine closes the embedders it has taken on; one that never got that far is closed here."""
    try:
        yield
    finally:
        await embedder.close()


async def _build(here: Opened, embedder: Embedder) -> tuple[Generation, Backlog]:
    """Rounds of embedding until nothing is pending, or until a round brings nothing but failures."""
    engine = here.engine
    generation = await engine.generations.start(embedder)
    await queue_missing(engine, generation)
    left = await engine.store.system(lambda system: system.backlog(generation.id))
    total = await entries(engine)
    done = max(0, total - left.pending - left.error)
    with bar("embedding", total) as advance:
        advance(done, total)
        progress = _counting(done, lambda so_far: advance(so_far, None))
        while True:
            await fill(engine, generation, progress)
            await _indexed(here)
            _, left = await build(engine, embedder, progress)
            if not left.pending:
                return generation, left
            await _pause(here, left)


async def _indexed(here: Opened) -> None:
    """Before the switch, where the owner's address is at hand: so that those with many memories are found quickly at once."""
    if here.settings.migrate_url and sqlite_path(here.settings) is None:
        await graphs_built(here.settings.migrate_url)


def _counting(done: int, tell: Callable[[int], None]) -> Callable[[Pass], None]:
    def count(step: Pass) -> None:
        nonlocal done
        done += step.embedded
        tell(done)

    return count


async def _pause(here: Opened, left: Backlog) -> None:
    """What is pending and not due is in another process's hands, or was: its lease says until when."""
    due = await here.engine.store.system(lambda system: system.next_due())
    seconds = (due - here.engine.clock.now()) / timedelta(seconds=1) if due else LOOK_AGAIN_SECONDS
    if seconds > LOOK_AGAIN_SECONDS:
        say(f"{left.pending} texts are in the hands of another process, or were when it ended: waiting {seconds:.0f} s")
    await asyncio.sleep(max(seconds, LOOK_AGAIN_SECONDS / 10))


def _to_set(wanted: Settings, configured: Settings, generation: Generation) -> dict[str, Any]:
    """The settings under which the next process finds the model again; empty is for what has to go.

    The key is a secret and stays where it is.
    """
    remote = generation.provider != "local"
    values = {
        "embedder": generation.provider,
        "embedder_url": (wanted.embedder_url or wanted.llamacpp_url) if remote else "",
        "embedder_model": generation.model if remote else wanted.embedder_model,
        "embedder_dimensions": wanted.embedder_dimensions or "",
    }
    return {names_of(name)[0]: value for name, value in values.items() if value or getattr(configured, name)}


def _tell(generation: Generation, backlog: Backlog, complete: bool, why: Any, to_set: dict[str, Any]) -> None:
    if not complete:
        show(f"not complete: {backlog.error} failed, {backlog.pending} pending; the old embeddings go on serving")
        show(*(f"  {count} × {reason}" for reason, count in why.items()))
        show("run the same command again when the cause is mended")
        return
    show(f"{generation.id} serves, and everything has its embedding")
    if to_set:
        show("set this wherever Recollect runs, or the next process goes back to the model it is configured for:")
        show(*(f"  export {name}={shlex.quote(str(value))}" for name, value in to_set.items()))
