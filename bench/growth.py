"""growth: what the memories of others cost a person.

The number of people grows tenfold from step to step while each has the same number of memories, so whatever gets slower does so
because of the others. People are picked at random: a first question finds nothing prepared, the following ones do.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from time import perf_counter

from rich.progress import Progress, TaskID

from bench.ground import BULK, bytes_on_disk, engine_over, fresh_store, put_memories, resident_mb
from bench.report import Row, bar, ratio, summary
from bench.texts import notes, questions
from recollect.engine import Engine, embed
from recollect.model import Query, Scope
from recollect.ports import Store

PROBED = 10
"""As many at every step: how many copies a process holds is not the question here."""
TOGETHER = 16
"""People filled before their vectors are made: as many as one pass over the queue takes."""
COLUMNS = {
    "what": "memories\n/ people", "recall_p50_ms": "recall\np50", "recall_p95_ms": "\np95", "first_p50_ms": "first\np50",
    "write_p50_ms": "write\np50", "write_p95_ms": "\np95", "slower": "×\nrecall", "write_slower": "×\nwrite",
    "disk_bytes": "bytes\neach", "resident_mb": "MB\nhere", "fill_per_s": "filled\nper s",
}  # fmt: skip


def steps_to(users: int) -> list[int]:
    """10, 100, … people, and all of them last."""
    steps = [10]
    while steps[-1] * 10 < users:
        steps.append(steps[-1] * 10)
    return [step for step in steps if step < users] + [users]


async def run(kind: str, total: int, users: int, count: int) -> list[Row]:
    each = max(1, total // users)
    rows: list[Row] = []
    async with fresh_store(kind) as (store, settings):
        empty = await bytes_on_disk(settings)
        present = 0
        for people in steps_to(users):
            filled = await _grow(store, range(present, people), each)
            here = (people - present) * each
            present = people
            engine = engine_over(store)
            row: Row = {
                "what": f"{people * each:,} / {people:,}",
                "memories": people * each,
                "users": people,
                "each": each,
                "fill_s": round(filled, 1),
                "fill_per_s": round(here / filled),
                **await _recall(engine, people, count),
                **await _write(engine, people, count),
                "disk_bytes": round((await bytes_on_disk(settings) - empty) / (people * each)),
                "resident_mb": round(resident_mb()),
            }
            first = rows[0] if rows else row
            row["slower"] = ratio(row, first, "recall_p50_ms")
            row["write_slower"] = ratio(row, first, "write_p50_ms")
            rows.append(row)
    return rows


def _person(number: int) -> Scope:
    return Scope("bench", f"person-{number:06}")


async def _grow(store: Store, numbers: Sequence[int], each: int) -> float:
    engine = engine_over(store, config=BULK)
    started = perf_counter()
    with bar() as progress:
        task = progress.add_task(f"{len(numbers):,} more people", total=len(numbers) * each)
        for begin in range(0, len(numbers), TOGETHER):
            for number in numbers[begin : begin + TOGETHER]:
                async for _ in put_memories(engine, _person(number), notes(each, seed=number)):
                    pass
            await _embed(engine, progress, task)
    return perf_counter() - started


async def _embed(engine: Engine, progress: Progress, task: TaskID) -> None:
    await embed.drain(engine, lambda step: progress.update(task, advance=step.embedded))


async def _recall(engine: Engine, people: int, count: int) -> Row:
    random = Random(people)
    probed = [_person(number) for number in random.sample(range(people), min(PROBED, people))]
    first, warm = [], []
    for scope in probed:
        started = perf_counter()
        await engine.recall(scope, Query(text="What did Dana say about the garden?"))
        first.append(perf_counter() - started)
    for text in questions(count, seed=people):
        scope = random.choice(probed)
        started = perf_counter()
        await engine.recall(scope, Query(text=text))
        warm.append(perf_counter() - started)
    return {**summary(warm, "recall_"), **summary(first, "first_")}


async def _write(engine: Engine, people: int, count: int) -> Row:
    random = Random(people)
    seconds = []
    for number, text in enumerate(notes(count, seed=people + 1)):
        scope = _person(random.randrange(people))
        started = perf_counter()
        await engine.remember(scope, {"content": f"{text} ({people}-{number})"})
        seconds.append(perf_counter() - started)
    await embed.drain(engine)
    return summary(seconds, "write_")
