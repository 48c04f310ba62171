"""recall: answering one question over one person's memory, against a bare full-text query plus one matrix product.

Both ways to search are measured at every size, whatever the settings would choose: exactly over a copy in memory, and through
the store's own indexes. Where the second begins to win is where `RECOLLECT_EXACT_BELOW` belongs.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter, process_time

from bench.floor import bare_search
from bench.ground import ANA, FreeEmbedder, bytes_on_disk, engine_over, fill, fresh_store, resident_mb
from bench.report import Row, bar, percentile, ratio, summary
from bench.texts import notes, questions
from recollect.bootstrap import embedder_config, open_embedder
from recollect.engine import Engine, EngineConfig
from recollect.model import Query, Scope
from recollect.ports import Store
from recollect.settings import Settings

NOBODY = Scope("bench", "nobody")
WARM_UP = 10
LEAST = 20
PATHS = {"memory": 5_000_000, "index": 0}
"""The two ways to search, by the `exact_below` that forces them."""
COLUMNS = {
    "what": "", "p50_ms": "p50\nms", "p95_ms": "p95\nms", "store_p50_ms": "store\np50", "store_p95_ms": "store\np95",
    "cpu_p50_ms": "cpu\np50", "first_ms": "first\nms", "ratio_p50": "× floor\np50", "ratio_p95": "× floor\np95",
}  # fmt: skip
FILLING = {
    "what": "", "fill_s": "filled in\ns", "fill_per_s": "per\nsecond", "disk_bytes": "bytes on disk\neach",
    "mb_per_10000": "MB in memory\nper 10,000",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asking:
    """How long and how often to ask: a slow way is asked fewer times, never fewer than `LEAST`."""

    count: int
    seconds: float
    recipes: Sequence[str]
    paths: Sequence[str]


@dataclass
class Measured:
    first: float
    whole: list[float]
    store: list[float]
    cpu: list[float]
    """What this process itself worked for each question: waiting for a busy machine is not in it, nor is a server's work."""
    hits: int


async def run(kind: str, sizes: Sequence[int], asking: Asking) -> tuple[list[Row], list[Row]]:
    """The rows of questions, and those of filling."""
    rows: list[Row] = []
    filling: list[Row] = []
    for size in sizes:
        async with fresh_store(kind) as (store, settings):
            filled = await _filled(store, size)
            filled["disk_bytes"] = round(await bytes_on_disk(settings) / size)
            floor = {
                "what": "  bare full text + product",
                "size": size,
                "path": "floor",
                **summary(await bare_search(settings, size, asking.count, asking.seconds)),
            }
            for path in asking.paths:
                found, grown = await _by(path, store, size, asking, floor)
                rows += found
                if path == "memory":
                    filled["mb_per_10000"] = round(grown * 10_000 / size, 1)
            rows.append(floor)
            rows.append(await _with_model(store, size, settings, asking) | {"section": True})
            filling.append(filled)
    return rows, filling


def threshold(rows: Sequence[Row]) -> list[Row]:
    """For each size and recipe, which way was quicker and by how much."""
    p50 = {(row["size"], row["recipe"], row["path"]): row["store_p50_ms"] for row in rows if "recipe" in row}
    both = [key[:2] for key in p50 if key[2] == "memory" and (*key[:2], "index") in p50]
    verdicts = []
    for size, recipe in both:
        memory, index = p50[size, recipe, "memory"], p50[size, recipe, "index"]
        quicker, times = ("memory", index / memory) if memory <= index else ("index", memory / index)
        verdicts.append({"what": f"{recipe} {size:,}", "size": size, "quicker": quicker, "times": round(times, 1)})
    return verdicts


async def _filled(store: Store, size: int) -> Row:
    with bar() as progress:
        task = progress.add_task(f"filling {size:,}", total=size)
        started = perf_counter()
        await fill(store, ANA, notes(size), lambda count: progress.update(task, advance=count))
    seconds = perf_counter() - started
    return {"what": f"{size:,}", "size": size, "fill_s": round(seconds, 1), "fill_per_s": round(size / seconds)}


async def _by(path: str, store: Store, size: int, asking: Asking, floor: Row) -> tuple[list[Row], float]:
    """One way to search, through a fresh engine, so that the first question finds nothing prepared."""
    engine = engine_over(store, config=EngineConfig(exact_below=PATHS[path]))
    await engine.recall(NOBODY, Query(text="Dictionaries and the like are loaded by whoever asks first: 你好"))
    gc.collect()
    before = resident_mb()
    rows = []
    for number, recipe in enumerate(asking.recipes):
        measured = await _ask(engine, recipe, asking)
        row: Row = {
            "what": f"{recipe} {size:,}, {path}",
            "size": size,
            "recipe": recipe,
            "path": path,
            "default": (size <= EngineConfig().exact_below) == (path == "memory"),
            **summary(measured.whole),
            **summary(measured.store, "store_"),
            **summary(measured.cpu, "cpu_"),
            "hits": round(measured.hits / len(measured.whole), 1),
        }
        if number == 0:  # what the first recipe prepared the next one finds
            row["first_ms"] = round(measured.first * 1000, 1)
        for key in ("p50", "p95"):
            row[f"ratio_{key}"] = ratio(row, floor, f"{key}_ms", of=f"store_{key}_ms")
        row["what"] += " *" if row["default"] else ""
        rows.append(row)
    gc.collect()
    return rows, resident_mb() - before


async def _ask(engine: Engine, recipe: str, asking: Asking) -> Measured:
    started = perf_counter()
    await engine.recall(ANA, Query(text="a first question", recipe=recipe))
    measured = Measured(perf_counter() - started, [], [], [], 0)
    until = perf_counter() + asking.seconds
    for number, text in enumerate(questions(asking.count + WARM_UP)):
        started, worked = perf_counter(), process_time()
        recalled = await engine.recall(ANA, Query(text=text, recipe=recipe))
        seconds, worked = perf_counter() - started, process_time() - worked
        if number < WARM_UP:
            continue
        measured.whole.append(seconds)
        measured.cpu.append(worked)
        measured.store.append(recalled.trace.timings_ms["store"] / 1000)
        measured.hits += len(recalled.hits)
        if perf_counter() > until and len(measured.whole) >= LEAST:
            break
    return measured


async def _with_model(store: Store, size: int, settings: Settings, asking: Asking) -> Row:
    """The same, as the settings have it, with the local model embedding each question: what a caller waits for."""
    model = await open_embedder(embedder_config(settings))
    assert model is not None
    engine = engine_over(store, FreeEmbedder())
    await model.embed(["warm up"], query=True)
    await engine.recall(ANA, Query(text="warm up"))
    seconds, embedding = [], []
    until = perf_counter() + asking.seconds
    for text in questions(asking.count, seed=23):
        started = perf_counter()
        await model.embed([text], query=True)
        embedding.append(perf_counter() - started)
        await engine.recall(ANA, Query(text=text))
        seconds.append(perf_counter() - started)
        if perf_counter() > until and len(seconds) >= LEAST:
            break
    await model.close()
    return {
        "what": f"  native {size:,} + embedding",
        "size": size,
        "path": "with model",
        "model": model.model,
        **summary(seconds),
        "embed_p50_ms": round(percentile(embedding, 0.5) * 1000, 3),
    }
