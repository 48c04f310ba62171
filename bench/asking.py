"""Questions over data: what memory adds to a request, and how long it takes to look back.

People ask the real server of the sample database, which rules answer without a model. Every other question is asked with
`use_memory` off, in the same minute and of the same server, so that the difference is the memory's and not the machine's; with it
on, every other one is a follow-up that only the conversation explains. A conversation goes on for a while, then a new one begins.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter

from bench.load import PATIENCE_S, Load, Person, Seen, serving
from bench.report import Row, percentile
from recollect.providers.answerers import sample_database

YEARS = (2022, 2023, 2024, 2025)
FIGURES = ("total sales", "average sales", "number of sales")
PARTS = ("region", "product", "customer", "category", "segment")
A_CONVERSATION = 20
WARM_UP = 6
ADDS_MS, RETRIEVAL_MS = 50.0, 100.0
COLUMNS = {
    "what": "",
    "requests": "requests",
    "per_s": "per s",
    "errors": "errors",
    "unanswered": "unanswered",
    "server_p50_ms": "server p50",
    "server_p95_ms": "server p95",
    "client_p50_ms": "client p50",
    "client_p95_ms": "client p95",
    "retrieval_p50_ms": "retrieval p50",
    "retrieval_p95_ms": "retrieval p95",
}


@dataclass
class Asked(Seen):
    retrieval_ms: list[float] = field(default_factory=list)
    unanswered: int = 0

    @property
    def tried(self) -> bool:
        return bool(self.client_ms or self.errors)

    def row(self, what: str, seconds: float) -> Row:
        looked = {
            "retrieval_p50_ms": percentile(self.retrieval_ms, 0.50) if self.retrieval_ms else None,
            "retrieval_p95_ms": percentile(self.retrieval_ms, 0.95) if self.retrieval_ms else None,
        }
        return {**super().row(what, seconds), "unanswered": self.unanswered, **looked}


async def run(load: Load) -> list[Row]:
    """A row without memory, one with it, and what it adds."""
    with tempfile.TemporaryDirectory(prefix="recollect-asking-") as folder:
        data = {
            "RECOLLECT_DATA_URL": await asyncio.to_thread(sample_database, Path(folder)),
            "RECOLLECT_ANSWERER": "rules",
            "RECOLLECT_RATE_LIMIT": "0",
        }
        async with serving(load, **data) as port:
            people = [Person(f"person-{number}", port) for number in range(load.users)]
            chance = Random(0)
            for _ in range(WARM_UP):  # a server that runs knows its people
                await asyncio.gather(*(_ask(each, _whole(chance, 2024), "before", True, Asked()) for each in people))
            seen = {"without memory": Asked(), "with memory": Asked()}
            started = perf_counter()
            await asyncio.gather(*(_visit(person, load, seen, started) for person in people))
            took = perf_counter() - started
            for person in people:
                await person.leave()
    return [*(what.row(name, took) for name, what in seen.items()), _added(*seen.values())]


def fell_short(rows: Sequence[Row]) -> list[str]:
    """What is over the aim. (The aim is for a machine that does nothing else.)"""
    added, looked = rows[2]["server_p95_ms"], rows[1]["retrieval_p95_ms"]
    wrong = [f"memory adds {added:.1f} ms at p95, {ADDS_MS:g} are allowed"] if added >= ADDS_MS else []
    if looked is not None and looked >= RETRIEVAL_MS:
        wrong.append(f"looking back takes {looked:.1f} ms at p95, {RETRIEVAL_MS:g} are allowed")
    return wrong


def _added(without: Asked, remembering: Asked) -> Row:
    row: Row = {"what": "added", "requests": len(remembering.client_ms), "errors": 0}
    for side in ("server", "client"):
        for name, share in (("p50", 0.50), ("p95", 0.95)):
            one, other = (percentile(getattr(each, f"{side}_ms"), share) for each in (remembering, without))
            row[f"{side}_{name}_ms"] = one - other
    return row


async def _visit(person: Person, load: Load, seen: dict[str, Asked], started: float) -> None:
    chance = Random(person.name)
    pause = load.users / load.rate if load.rate else 0.0
    await asyncio.sleep(chance.random() * pause)
    number, year = 0, chance.choice(YEARS)
    while perf_counter() - started < load.seconds or not all(each.tried for each in seen.values()):
        if chance.random() < 0.5:
            await _ask(person, _whole(chance, chance.choice(YEARS)), None, False, seen["without memory"])
        else:
            year = chance.choice([each for each in YEARS if each != year])
            session, place = divmod(number, A_CONVERSATION)
            question = f"What about {year}?" if place % 2 else _whole(chance, year)
            await _ask(person, question, f"talk-{session}", True, seen["with memory"])
            number += 1
        left = max(0.0, load.seconds - (perf_counter() - started))
        await asyncio.sleep(min(left, chance.expovariate(1 / pause)) if pause else 0)


def _whole(chance: Random, year: int) -> str:
    return f"Show me {chance.choice(FIGURES)} by {chance.choice(PARTS)} for {year}"


async def _ask(person: Person, question: str, session: str | None, memory: bool, seen: Asked) -> None:
    body = {"question": question, "session_id": session, "use_memory": memory}
    before = perf_counter()
    try:
        async with asyncio.timeout(PATIENCE_S):
            status, server_ms, content = await person.ask("POST", "/memoryChat", body)
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as problem:
        seen.errors[type(problem).__name__] += 1
        await person.leave()
        return
    seen.client_ms.append((perf_counter() - before) * 1000)
    seen.server_ms.append(server_ms)
    if status != 200:
        seen.errors[str(status)] += 1
        return
    told = json.loads(content)
    seen.unanswered += not told["sql_query"]
    if memory:
        seen.retrieval_ms.append(float(told["memory_retrieval_time"]) * 1000)
