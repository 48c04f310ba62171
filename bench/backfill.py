"""backfill: how fast workers give stored texts their vectors, against the bare model in the same run.

A batch of the queue (claim, embed, settle) and a bare batch of as many other texts take turns in every worker, so that a busy
moment of the machine hits both. Several workers are processes of their own at one queue, each with a model of its own.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from time import perf_counter

from bench.ground import ANA, engine_over, fresh_store, put_memories
from bench.report import Row, bar
from bench.texts import notes
from recollect.bootstrap import embedder_config, open_store, postgres_url, sqlite_path
from recollect.engine import EngineConfig
from recollect.engine.embedding import embed
from recollect.ports import Embedder, Store
from recollect.providers.embedders import choose
from recollect.settings import Settings

COLUMNS = {
    "what": "",
    "workers": "workers",
    "texts": "texts",
    "seconds": "seconds",
    "per_s": "per second",
    "ratio": "× bare",
}
LONGEST_SECONDS = 3600.0


@dataclass(frozen=True)
class Took:
    """What one worker did, and in how many seconds: of the queue, and of the bare model with as many texts."""

    texts: int
    whole: float
    bare: float
    model: str


async def run(kind: str, count: int, batch: int = EngineConfig().embed_batch, workers: int = 1) -> list[Row]:
    async with fresh_store(kind) as (store, settings):
        model = _model(settings)
        async for _ in put_memories(engine_over(store, model), ANA, notes(count, seed=1)):
            pass
        if workers == 1:
            with bar() as progress:
                task = progress.add_task("embedding", total=count)
                took = [await _work(store, model, count, batch, lambda done: progress.update(task, completed=done))]
        else:
            took = await _work_together(settings, count, batch, workers)
        await model.close()
    done = sum(each.texts for each in took)
    if done != count:
        raise RuntimeError(f"the queue stopped after {done} of {count} texts")
    # The slowest says when all of it was done.
    whole, bare = max(each.whole for each in took), max(each.bare for each in took)
    about = {"model": took[0].model, "workers": workers}
    return [
        _row(f"queue, {kind}, batches of {batch}", done, whole, bare) | about,
        _row(f"bare {took[0].model}", done, bare, bare) | about,
    ]


async def _work(store: Store, model: Embedder, count: int, batch: int, noted: Callable[[int], None]) -> Took:
    engine = engine_over(store, model, EngineConfig(embed_batch=batch))
    await model.embed(["warm up"])
    whole = bare = 0.0
    done = 0
    while True:
        started = perf_counter()
        step = await embed.run_once(engine)
        took = perf_counter() - started
        if not step.embedded:
            return Took(done, whole, bare, model.model)
        whole += took
        texts = list(islice(notes(count, seed=3), done, done + step.embedded))
        started = perf_counter()
        await model.embed(texts)
        bare += perf_counter() - started
        done += step.embedded
        noted(done)


async def _work_together(settings: Settings, count: int, batch: int, workers: int) -> list[Took]:
    """Each in a process of its own; all begin at once, when the last has its model."""
    path = sqlite_path(settings)
    url = path if path is not None else await postgres_url(settings)
    context = multiprocessing.get_context("spawn")
    began, told = context.Barrier(workers), context.Queue()
    order = (url, settings.data_dir, count, batch)
    processes = [context.Process(target=_alone, args=(order, began, told)) for _ in range(workers)]
    for process in processes:
        process.start()
    try:
        return [await asyncio.to_thread(told.get, True, LONGEST_SECONDS) for _ in processes]
    finally:
        for process in processes:
            process.join()


def _alone(
    order: tuple[str, Path, int, int], began: Barrier, told: multiprocessing.Queue[Took]
) -> None:  # pragma: no cover -- in a process of its own
    async def work() -> Took:
        url, folder, count, batch = order
        settings = Settings.load(store=url, data_dir=folder)
        store, model = await open_store(settings), _model(settings)
        await model.embed(["warm up"])
        began.wait(LONGEST_SECONDS)
        took = await _work(store, model, count, batch, lambda _: None)
        await model.close()
        await store.close()
        return took

    told.put(asyncio.run(work()))


def _model(settings: Settings) -> Embedder:
    model = choose(embedder_config(settings))
    assert model is not None
    return model


def _row(what: str, texts: int, seconds: float, bare: float) -> Row:
    return {
        "what": what,
        "texts": texts,
        "seconds": round(seconds, 3),
        "per_s": round(texts / seconds, 1),
        "ratio": round(seconds / bare, 3),
    }
