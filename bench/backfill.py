"""backfill: how fast one worker gives stored texts their vectors, against the bare model in the same run.

A batch of the queue (claim, embed, settle) and a bare batch of as many other texts take turns, so that a busy moment of the
machine hits both.
"""

from __future__ import annotations

from itertools import islice
from time import perf_counter

from bench.ground import ANA, engine_over, fresh_store, put_memories
from bench.report import Row, bar
from bench.texts import notes
from recollect.bootstrap import embedder_config
from recollect.engine import EngineConfig, embed
from recollect.providers.embedders import choose

COLUMNS = {"what": "", "texts": "texts", "seconds": "seconds", "per_s": "per second", "ratio": "× bare"}


async def run(kind: str, count: int, batch: int = EngineConfig().embed_batch) -> list[Row]:
    async with fresh_store(kind) as (store, settings):
        model = choose(embedder_config(settings))
        assert model is not None
        engine = engine_over(store, model, EngineConfig(embed_batch=batch))
        async for _ in put_memories(engine, ANA, notes(count, seed=1)):
            pass
        await model.embed(["warm up"])
        whole = bare = 0.0
        done = 0
        with bar() as progress:
            task = progress.add_task("embedding", total=count)
            while done < count:
                started = perf_counter()
                step = await embed.run_once(engine)
                whole += perf_counter() - started
                if not step.embedded:
                    raise RuntimeError(f"the queue stopped after {done} of {count} texts")
                texts = list(islice(notes(count, seed=3), done, done + step.embedded))
                started = perf_counter()
                await model.embed(texts)
                bare += perf_counter() - started
                done += step.embedded
                progress.update(task, completed=done)
        name = model.model
        await model.close()
    return [
        _row(f"queue, {kind}, batches of {batch}", done, whole, bare) | {"model": name},
        _row(f"bare {name}", done, bare, bare) | {"model": name},
    ]


def _row(what: str, texts: int, seconds: float, bare: float) -> Row:
    return {
        "what": what,
        "texts": texts,
        "seconds": round(seconds, 3),
        "per_s": round(texts / seconds, 1),
        "ratio": round(seconds / bare, 3),
    }
