"""Chaos: people use a whole deployment while its parts are killed, frozen and restarted at random, one at a time.

    python -m bench load --minutes 10 --chaos

Afterwards every acknowledged write is looked up in the database by plain SQL: there once, with its embedding, and what was
forgotten is not. Errors are counted by kind; in trouble a server may say 503 in its own words, and one that was killed may hang
up: everything else is broken. The seed of a run is printed, and draws the same blows again.

    python -m bench load --minutes 60 --soak

is the same without a blow: the same people, and beside them somebody new every second, who says something, asks and never comes
back. It tells what a process keeps of those whom it has seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from bench.chaos.blows import blows
from bench.chaos.deployment import LEASE_S, STEADY, Deployment, deployed
from bench.chaos.gauges import Look, growth, look
from bench.chaos.ledger import Verdict
from bench.chaos.people import Books, Errors, Somebody
from bench.chaos.striking import Striker
from bench.report import Row, percentile

SETTLED_S = LEASE_S + 180.0
LOOK_EVERY_S = 5.0
GUEST_EVERY_S = 1.0
RECOVERIES = {
    "what": "",
    "blows": "blows",
    "recovered": "recovered",
    "away_s": "away at most",
    "stored_p50_s": "stored p50",
    "stored_max_s": "max",
    "embedded_p50_s": "embedded p50",
    "embedded_max_s": "max",
}
GAUGES = {
    "what": "",
    "first_mb": "MB at first",
    "thirds_mb": "by thirds",
    "last_mb": "at last",
    "first_files": "files at first",
    "last_files": "at last",
    "first_threads": "threads at first",
    "last_threads": "at last",
    "flat": "flat",
}
REQUESTS = {"what": "", "requests": "requests", "p50_ms": "p50 ms", "p95_ms": "p95 ms", "max_ms": "max ms"}
LEDGER = {"what": "", **{name: name for name in ("acknowledged", "forgotten", "unknown", "lost", "doubled")}} | {
    name: name for name in ("returned", "strange", "unembedded")
}


@dataclass(frozen=True)
class Chaos:
    seconds: float = 600.0
    users: int = 40
    rate: float = 20.0
    seed: int = 1
    runner: str = "both"
    calm: bool = False
    """Nothing is broken, and people come who never come back."""


@dataclass
class Outcome:
    chaos: Chaos
    memories: Verdict
    messages: Verdict
    errors: Errors
    requests: list[Row]
    recoveries: list[Row]
    gauges: list[Row]
    wrong: list[str] = field(default_factory=list)

    @property
    def ledger(self) -> list[Row]:
        return [{"what": "memories", **self.memories.counts()}, {"what": "messages", **self.messages.counts()}]


async def run(chaos: Chaos, told: Callable[[str], None]) -> Outcome:
    held = deployed(chaos.runner)
    deployment = await asyncio.to_thread(held.__enter__)
    try:
        return await _run(chaos, deployment, told)
    finally:
        await asyncio.to_thread(held.__exit__, None, None, None)


async def _run(chaos: Chaos, deployment: Deployment, told: Callable[[str], None]) -> Outcome:
    striker = Striker(deployment)
    books = striker.books = Books(Errors(striker.explains))
    people = [
        Somebody(f"person-{number}", deployment.ports, books, chaos.seed, number) for number in range(chaos.users)
    ]
    await asyncio.gather(*(each.move_in() for each in people))
    await _settled(deployment)
    looks = {name: [look(part)] for name, part in deployment.parts.items()}
    told("everybody has moved in" + ("" if chaos.calm else f"; blows are drawn with the seed {chaos.seed}"))
    end = perf_counter() + chaos.seconds

    def over() -> bool:
        return perf_counter() > end

    lives = [each.live(chaos.users / chaos.rate, over) for each in people]
    deck = {name: part.kinds for name, part in deployment.parts.items()}
    beside = _receive(deployment, books, over) if chaos.calm else striker.run(blows(chaos.seed, deck), over, told)
    await asyncio.gather(beside, _watch(deployment, looks, over), *lives)
    settled = await _settled(deployment)
    for name, part in deployment.parts.items():
        looks[name].append(look(part))
    return _judged(chaos, deployment, striker, books, looks, settled)


async def _watch(deployment: Deployment, looks: dict[str, list[Look]], over: Callable[[], bool]) -> None:
    """Those that live through it, every few seconds: of the others there is nothing to compare."""
    while not over():
        await asyncio.sleep(LOOK_EVERY_S)
        for name in STEADY:
            looks[name].append(look(deployment.parts[name]))


async def _receive(deployment: Deployment, books: Books, over: Callable[[], bool]) -> None:
    """Somebody new every now and then."""
    number = 0
    while not over():
        await Somebody(f"guest-{number}", deployment.ports, books, number, number).visit(over)
        number += 1
        await asyncio.sleep(GUEST_EVERY_S)


async def _settled(deployment: Deployment) -> bool:
    """Until everything has its embedding, and a moment more."""
    deadline = perf_counter() + SETTLED_S
    while await asyncio.to_thread(deployment.unsettled):
        if perf_counter() > deadline:
            return False
        await asyncio.sleep(0.5)
    await asyncio.sleep(2.0)
    return True


def _judged(
    chaos: Chaos, deployment: Deployment, striker: Striker, books: Books, looks: dict[str, list[Look]], settled: bool
) -> Outcome:
    memories = books.memories.judge(*_found(deployment, "memory"))
    messages = books.messages.judge(*_found(deployment, "message"))
    gauges = [growth(name, looks[name]) for name in deployment.parts]
    outcome = Outcome(chaos, memories, messages, books.errors, _requests(books), striker.rows(), gauges)
    orphans = sum(part.orphans for part in deployment.parts.values())
    wrong = {
        "not every text has its embedding": not settled,
        "memories were lost, doubled or came back": not memories.clean,
        "messages were lost, doubled or came back": not messages.clean,
        "errors that nobody promised": bool(books.errors.broken),
        f"no recovery from: {', '.join(striker.unrecovered)}": bool(striker.unrecovered),
        f"{orphans} processes outlived the one that started them": bool(orphans),
        "memory or files grew": any(row["flat"] is False for row in gauges if row["what"] in STEADY),
    }
    outcome.wrong += [sentence for sentence, is_so in wrong.items() if is_so]
    return outcome


def _found(deployment: Deployment, kind: str) -> tuple[list[str], list[str]]:
    """Every text of a kind, as often as it is stored; and those of them that have a vector."""
    table = {"memory": "memories", "message": "messages"}[kind]
    stored = deployment.rows(f"SELECT content FROM {table}")
    embedded = deployment.rows(
        f"SELECT t.content FROM {table} t JOIN embeddings e ON (e.tenant_id, e.user_id, e.target_id)"
        f" = (t.tenant_id, t.user_id, t.id) WHERE e.kind = '{kind}' AND e.state = 'ready' AND e.vector IS NOT NULL"
    )
    return [str(text) for (text,) in stored], [str(text) for (text,) in embedded]


def _requests(books: Books) -> list[Row]:
    return [
        {
            "what": what,
            "requests": len(times),
            "p50_ms": round(percentile(times, 0.5) * 1000, 1),
            "p95_ms": round(percentile(times, 0.95) * 1000, 1),
            "max_ms": round(max(times) * 1000, 1),
        }
        for what, times in sorted(books.took.items())
    ]
