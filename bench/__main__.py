"""`python -m bench write|recall|growth|parts|backfill|forget|load|opening|page`: run one, print its table, keep it or draw it."""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import asdict
from math import inf
from pathlib import Path
from time import perf_counter

# One thread of arithmetic: what one request costs, undisturbed by how many cores happen to be idle.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from bench import asking, backfill, chats, forget, growth, load, opening, page, parts, plots, recall, write  # noqa: E402
from bench.chaos import soak  # noqa: E402
from bench.chaos.deployment import RUNNERS  # noqa: E402
from bench.filling import Size  # noqa: E402
from bench.peers import compare  # noqa: E402
from bench.peers.install import PEERS  # noqa: E402
from bench.report import keep, show  # noqa: E402


def _sizes(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _peers(text: str) -> list[str]:
    for name in (names := _words(text)):
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"no peer is called {name!r}; there are {', '.join(PEERS)}")
    return names


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    benches = ["write", "recall", "growth", "parts", "backfill", "forget", "load", "opening", "page"]
    parser.add_argument("bench", choices=benches)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--count", type=int, default=300, help="how many operations are timed")
    parser.add_argument("--seconds", type=float, help="recall: per row (20); load: how long (60); growth: to fill")
    parser.add_argument("--existing", type=_sizes, default=[0, 10_000], help="write: how much is stored before")
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000], help="recall, forget: how much is there")
    parser.add_argument("--recipes", type=_words, default=["native", "recall"])
    parser.add_argument("--paths", type=_words, default=list(recall.PATHS), help="recall: memory, index or both")
    parser.add_argument("--peers", type=_peers, default=[], help=f"recall: compare with {','.join(PEERS)}")
    parser.add_argument("--total", type=int, default=100_000, help="growth: memories of all people together")
    parser.add_argument("--lanes", type=int, default=1, help="growth: how many processes fill a Postgres side by side")
    parser.add_argument(
        "--written", type=int, help="growth: people whom the application writes, the others being copies"
    )
    parser.add_argument("--folder", type=Path, help="growth: keep the database here, or go on with the one there")
    parser.add_argument("--users", type=int, help="growth, load: how many people (1,000; datachat 100)")
    parser.add_argument("--rate", type=float, help="load: requests a second of all (200; datachat 100); 0: no pauses")
    parser.add_argument("--workers", type=int, default=1, help="load: server processes")
    parser.add_argument("--embedder", default="auto", help="load: the server's embedder")
    parser.add_argument("--door", choices=["native", "datachat"], default="native", help="load: who is asked")
    parser.add_argument("--chats", type=int, default=0, help="load: instead, this many streaming chats at once")
    parser.add_argument("--chaos", action="store_true", help="load: instead, break a whole deployment meanwhile")
    parser.add_argument("--soak", action="store_true", help="load: instead, the same deployment, and nothing is broken")
    parser.add_argument("--minutes", type=float, default=10.0, help="load --chaos, --soak: how long")
    parser.add_argument("--seed", type=int, help="load --chaos: which blows; any, if not given")
    parser.add_argument("--runner", choices=RUNNERS, default="both", help="load --chaos: which kinds of workers")
    parser.add_argument("--visits", type=int, default=5, help="page: how often each place is visited")
    parser.add_argument("--texts", type=int, default=1_000, help="backfill: how many texts")
    parser.add_argument("--parts", type=int, default=8, help="parts: into how many the tables of one are divided")
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    parser.add_argument("--plot", type=Path, help="an SVG to draw them in")
    return parser.parse_args()


async def _write(asked: argparse.Namespace) -> None:
    rows = await write.run(asked.store, asked.count, asked.existing)
    show("write", rows, write.COLUMNS)
    keep("write", asked.json, rows=rows, store=asked.store)


async def _recall(asked: argparse.Namespace) -> None:
    if asked.peers:
        return await _compare(asked)
    asking = recall.Asking(asked.count, asked.seconds or 20.0, asked.recipes, asked.paths)
    rows, filling = await recall.run(asked.store, asked.sizes, asking)
    verdicts = recall.threshold(rows)
    show(f"recall ({asked.store})", rows, recall.COLUMNS, caption="* the way the default settings take")
    show("filling", filling, recall.FILLING)
    if verdicts:
        show("which way is quicker", verdicts, {"what": "", "quicker": "quicker", "times": "times"})
    keep("recall", asked.json, rows=rows, filling=filling, threshold=verdicts, store=asked.store)
    if asked.plot:
        asked.plot.write_text(plots.recall(rows))
    return None


async def _compare(asked: argparse.Namespace) -> None:
    rows = [row for size in asked.sizes for row in await compare.run(asked.peers, size, asked.count)]
    for size in asked.sizes:
        here = [row for row in rows if row["size"] == size]
        show(f"peers over {size:,} memories", here, compare.COLUMNS, caption=compare.said(here))
    keep("peers", asked.json, rows=rows)
    if asked.plot:
        asked.plot.write_text(plots.peers(rows))


async def _growth(asked: argparse.Namespace) -> None:
    started = perf_counter()
    size = Size(asked.total, asked.users or 1_000, asked.lanes, asked.seconds or inf, asked.written)
    grown = await growth.run(asked.store, size, asked.count, asked.folder)
    took = round(perf_counter() - started, 1)
    show(f"growth ({asked.store}), milliseconds", grown.rows, growth.COLUMNS, caption=f"took {took:,} s\n{grown.said}")
    keep("growth", asked.json, **asdict(grown), store=asked.store, took_s=took)
    if asked.plot:
        asked.plot.write_text(plots.growth(grown.rows))
    if grown.plan is not None and not grown.plan["ok"]:
        raise SystemExit(1)


async def _parts(asked: argparse.Namespace) -> None:
    size = Size(asked.total, asked.users or 100, asked.lanes, written=asked.written)
    rows = await parts.run(size, asked.count, asked.parts)
    show(f"parts (postgres), {asked.total:,} memories, {size.users:,} people, milliseconds", rows, parts.COLUMNS)
    keep("parts", asked.json, rows=rows, store="postgres")


async def _backfill(asked: argparse.Namespace) -> None:
    rows = [row for count in (1, 2) for row in await backfill.run(asked.store, asked.texts, workers=count)]
    show("backfill", rows, backfill.COLUMNS)
    keep("backfill", asked.json, rows=rows, store=asked.store)


async def _forget(asked: argparse.Namespace) -> None:
    rows = await forget.run(asked.sizes, asked.count)
    show("forget (postgres)", rows, forget.COLUMNS)
    keep("forget", asked.json, rows=rows, store="postgres")


async def _chats(asked: argparse.Namespace) -> None:
    rows = await chats.run(asked.store, asked.chats, asked.embedder, asked.workers)
    show(f"chats ({asked.store}), milliseconds", rows, chats.COLUMNS)
    keep("chats", asked.json, rows=rows, store=asked.store)
    if any(row["errors"] or row["lost"] or row["misordered"] for row in rows):
        raise SystemExit(1)


def _wanted(asked: argparse.Namespace, users: int, rate: float) -> load.Load:
    rate = rate if asked.rate is None else asked.rate
    seconds = asked.seconds or 60.0
    return load.Load(asked.store, asked.users or users, seconds, rate, asked.workers, asked.embedder)


async def _asking(asked: argparse.Namespace) -> None:
    wanted = _wanted(asked, 100, 100.0)
    rows = await asking.run(wanted)
    title = f"questions over data ({asked.store}), {wanted.users:,} people, {wanted.rate:g} a second, milliseconds"
    short = asking.fell_short(rows)
    show(title, rows, asking.COLUMNS, caption="; ".join(short) or None)
    keep("asking", asked.json, rows=rows, asked=asdict(wanted), short=short)
    if short or any(row["errors"] for row in rows):
        raise SystemExit(1)


async def _chaos(asked: argparse.Namespace) -> None:
    seed = asked.seed or int.from_bytes(os.urandom(3))
    rate = 20.0 if asked.rate is None else asked.rate
    wanted = soak.Chaos(60 * asked.minutes, asked.users or 40, rate, seed, asked.runner, asked.soak)
    outcome = await soak.run(wanted, lambda line: print(line, flush=True))
    if outcome.recoveries:
        show("recovery, seconds after the part was back", outcome.recoveries, soak.RECOVERIES)
    show("answers", outcome.requests, soak.REQUESTS)
    show("processes", outcome.gauges, soak.GAUGES)
    show("ledger", outcome.ledger, soak.LEDGER)
    errors = {"promised": dict(outcome.errors.promised), "broken": dict(outcome.errors.broken)}
    print(f"errors: {errors}", *outcome.errors.examples, *outcome.wrong, sep="\n")
    rows = {name: getattr(outcome, name) for name in ("recoveries", "requests", "gauges", "ledger", "wrong")}
    keep("chaos", asked.json, asked=asdict(wanted), errors=errors, **rows)
    if outcome.wrong:
        raise SystemExit(1)


async def _load(asked: argparse.Namespace) -> None:
    if asked.chaos or asked.soak:
        return await _chaos(asked)
    if asked.chats:
        return await _chats(asked)
    if asked.door == "datachat":
        return await _asking(asked)
    wanted = _wanted(asked, 1_000, 200.0)
    rows = await load.run(wanted)
    show(f"load ({asked.store}), {wanted.users:,} people, milliseconds", rows, load.COLUMNS)
    keep("load", asked.json, rows=rows, asked=asdict(wanted))
    if any(row["errors"] or row.get("lost") for row in rows):
        raise SystemExit(1)
    return None


async def _opening(asked: argparse.Namespace) -> None:
    rows = await asyncio.to_thread(opening.run)
    show("opening, seconds since the command was given", rows, opening.COLUMNS)
    keep("opening", asked.json, rows=rows)


async def _page(asked: argparse.Namespace) -> None:
    rows = await asyncio.to_thread(page.run, asked.visits)
    show("page, milliseconds since the address was given", rows, page.COLUMNS)
    keep("page", asked.json, rows=rows)


def main() -> None:
    asked = _arguments()
    benches = {
        "write": _write,
        "recall": _recall,
        "growth": _growth,
        "parts": _parts,
        "backfill": _backfill,
        "forget": _forget,
        "load": _load,
        "opening": _opening,
        "page": _page,
    }
    asyncio.run(benches[asked.bench](asked))


if __name__ == "__main__":
    main()
