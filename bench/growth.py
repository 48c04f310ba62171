"""growth: what the memories of others cost a person.

The number of people grows tenfold from step to step while each has the same number of memories, so whatever gets slower does so
because of the others. Ten people in a database of their own are asked in turn with them: what the machine is busy with otherwise
slows both alike. People are picked at random: a first question finds nothing prepared, the following ones do. On Postgres the
filled database is also asked how it would carry out every statement, and what a memory takes in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic, perf_counter
from typing import Any

from bench.filling import Size, grow, person
from bench.ground import bytes_on_disk, engine_over, fresh_store, resident_mb
from bench.report import Row, ratio, summary
from bench.texts import notes, questions
from recollect.bootstrap import postgres_url
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.model import Query

PROBED = 10
"""As many at every step: how many copies a process holds is not the question here."""
ALONE = 10
"""So many have a database to themselves."""
KEPT = "growth.json"
"""Beside a database that is kept: the steps that were measured when it was smaller."""
COLUMNS = {
    "what": "memories\n/ people", "recall_p50_ms": "recall\np50", "recall_p95_ms": "\np95", "slower": "×\np50",
    "slower_p95": "\np95", "first_p50_ms": "first\np50", "write_p50_ms": "write\np50", "write_p95_ms": "\np95",
    "write_slower": "×\np50", "disk_bytes": "bytes\neach", "fill_per_s": "filled\na sec",
}  # fmt: skip


@dataclass
class Grown:
    each: int
    empty: int | None = None
    """Bytes of the database before anybody was in it."""
    rows: list[Row] = field(default_factory=list)
    plan: dict[str, Any] | None = None
    """Whether every statement has its index, over this very database; Postgres only."""
    room: dict[str, Any] | None = None
    """Bytes of each memory, by part; Postgres only."""

    @property
    def said(self) -> str:
        """What the table has no column for."""
        if self.plan is None or self.room is None:
            return ""
        faults = self.plan["faults"]
        plans = f"{self.plan['statements']} statements, " + ("; ".join(faults) if faults else "an index behind each")
        return f"{plans}; {self.room['said']}"


def steps_to(users: int) -> list[int]:
    """10, 100, … people, and all of them last."""
    steps = [10]
    while steps[-1] * 10 < users:
        steps.append(steps[-1] * 10)
    return [step for step in steps if step < users] + [users]


async def run(kind: str, size: Size, count: int, folder: Path | None = None) -> Grown:
    """`folder` keeps the database and what was measured, and the next run goes on from there."""
    until = monotonic() + size.seconds
    grown = _kept(folder, size.each)
    few = range(min(ALONE, size.written or size.users))
    async with (
        fresh_store(kind, folder) as (store, settings),
        fresh_store(kind, folder / "few" if folder else None) as (small, _),
    ):
        url = await postgres_url(settings) if kind == "postgres" else None
        if grown.empty is None:
            grown.empty = await bytes_on_disk(settings)
        alone, _ = await grow(small, None, few, size, until)
        there: list[int] = []
        for people in steps_to(size.users):
            started = perf_counter()
            more, new = await grow(store, url, range(len(there), people), size, until)
            took = perf_counter() - started
            there += more
            if there and people not in {row["users"] for row in grown.rows}:
                sides = Side(engine_over(store), there), Side(engine_over(small), alone)
                row = await _measured(sides, size.each, count)
                row |= {"fill_s": round(took, 1), "filled": new, "fill_per_s": round(new / took)}
                row["disk_bytes"] = round((await bytes_on_disk(settings) - grown.empty) / row["memories"])
                grown.rows.append(row)
                _keep(folder, grown)
            if len(there) < people:
                break  # time is up
        if url is not None:
            grown.room, grown.plan = await _room(url), await _plan(url)
    return grown


async def _measured(sides: tuple[Side, Side], each: int, count: int) -> Row:
    many, few = sides
    people = len(many.people)
    for side in sides:
        await side.meet()
    for text in questions(count, seed=people):
        for side in sides:
            await side.ask(text)
    for number, text in enumerate(notes(count, seed=people + 1)):
        for side in sides:
            await side.tell(f"{text} ({people}-{number})")
    for side in sides:
        await embed.drain(side.engine)
    row: Row = {"what": f"{people * each:,} / {people:,}", "memories": people * each, "users": people, "each": each}
    row |= {**many.summary(), **{f"alone_{name}": value for name, value in few.summary().items()}}
    for name, of in (("slower", "recall_p50_ms"), ("slower_p95", "recall_p95_ms"), ("write_slower", "write_p50_ms")):
        row[name] = ratio(row, few.summary(), of)
    return {**row, "hits": round(many.hits / count, 1), "resident_mb": round(resident_mb())}


class Side:
    """One of the two databases, and how long it took to answer."""

    def __init__(self, engine: Engine, people: Sequence[int]) -> None:
        self.engine, self.people = engine, people
        self.hits = 0
        self._random = Random(len(people))
        self._probed = self._random.sample(people, min(PROBED, len(people)))
        self._seconds: dict[str, list[float]] = {"recall_": [], "first_": [], "write_": []}

    async def meet(self) -> None:
        for number in self._probed:
            await self._ask(number, "What did Dana say about the garden?", "first_")

    async def ask(self, text: str) -> None:
        self.hits += await self._ask(self._random.choice(self._probed), text, "recall_")

    async def _ask(self, number: int, text: str, what: str) -> int:
        started = perf_counter()
        found = await self.engine.recall(person(number), Query(text=text))
        self._seconds[what].append(perf_counter() - started)
        return len(found)

    async def tell(self, text: str) -> None:
        started = perf_counter()
        await self.engine.remember(person(self._random.choice(self.people)), {"content": text})
        self._seconds["write_"].append(perf_counter() - started)

    def summary(self) -> Row:
        return {name: value for what, took in self._seconds.items() for name, value in summary(took, what).items()}


async def _room(url: str) -> dict[str, Any]:
    """Asked first: it brings the planner's statistics up to date."""
    from recollect.stores.postgres.sizes import measured

    sizes = await measured(url)
    return {
        "counts": dict(sizes.counts),
        "per_memory": {part: round(each, 1) for part, each in sizes.per_memory.items()},
        "together": round(sum(sizes.per_memory.values())),
        "said": sizes.said,
    }


async def _plan(url: str) -> dict[str, Any]:
    from recollect.stores.postgres.plans import examined

    found = await examined(url)
    faults = [f"{plan.verb} {fault}" for plan in found.plans for fault in plan.faults]
    return {"ok": found.ok, "statements": len(found.plans), "faults": faults}


def _kept(folder: Path | None, each: int) -> Grown:
    if folder is None or not (folder / KEPT).exists():
        return Grown(each)
    kept = Grown(**json.loads((folder / KEPT).read_text()))
    if kept.each != each:
        raise SystemExit(f"{folder} has people with {kept.each:,} memories each, not {each:,}: take another folder")
    return kept


def _keep(folder: Path | None, grown: Grown) -> None:
    if folder is not None:
        (folder / KEPT).write_text(json.dumps({"each": grown.each, "empty": grown.empty, "rows": grown.rows}))
