"""Quality, measured.

    python -m eval --dataset memory [--store sqlite|postgres] [--recipe recall] [--outage dense|lexical] [--json OUT]
    python -m eval --dataset tasks [--store sqlite|postgres] [--outage dense|redis|recall] [--json OUT]
    python -m eval --dataset memory --sweep [alpha,beta,gamma,tau,k,N,lambda] [--plot FILE]
    python -m eval --dataset sets --path DIR --sets a,b --store sqlite|postgres --json OUT [--limit N] [--ablate]
    python -m eval --dataset followups --path DIR [--sets sparc_dev,cast,…] [--store sqlite|postgres] [--limit N] [--json OUT]
    python -m eval --dataset followup --path DIR [--sets canard_dev,cast,…] [--limit N]
    python -m eval --dataset injection --path DIR
    python -m eval --dataset dedupe|conflicts --path DIR [--store sqlite|postgres] [--limit N]

`memory` is our own golden set (or the one at --path), `tasks` are our own conversations over several sessions, lived with
a memory and without; both end with PASS or FAIL, and FAIL exits with 1. `sets` are public ones, `followup` asks questions that
lean on a conversation, `followups` asks such questions of the data chat, `injection` texts that try to give orders, `dedupe` and
`conflicts` what is said again and what is said otherwise; they exit with 1 when they fall short.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from eval import ablate, conflicts, dedupe, followup, followups, injection, memory, sets, tasks  # noqa: E402
from eval.cases import kind_of, names  # noqa: E402
from eval.ground import opened  # noqa: E402
from recollect.bootstrap import embedder_config, engine_over, open_embedder, open_store  # noqa: E402
from recollect.settings import Settings  # noqa: E402


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m eval", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset",
        choices=["memory", "tasks", "sets", "followup", "followups", "injection", "dedupe", "conflicts"],
        required=True,
    )
    parser.add_argument("--path", type=Path, help="the folder of the sets; or another golden set than the shipped one")
    parser.add_argument("--sets", help="which of them, separated by commas; all when left out")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--limit", type=int, help="at most this many questions of each set")
    parser.add_argument("--ablate", action="store_true", help="sets: each step of the ranking switched off alone")
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    memory.arguments(parser)
    return parser.parse_args(given)


def _chosen(asked: argparse.Namespace, kind: str) -> list[str]:
    """The sets to run: those named, which must be there, or all of this kind."""
    if asked.path is None or not asked.path.is_dir():
        sys.exit("error: --path must be a folder with *.cases.jsonl files")
    there = names(asked.path)
    chosen = asked.sets.split(",") if asked.sets else [name for name in there if kind_of(asked.path, name) == kind]
    for name in chosen:
        if name not in there:
            sys.exit(f"error: no set is called {name!r} there; there are {', '.join(there)}")
        if kind_of(asked.path, name) != kind:
            sys.exit(f"error: {name} is no {kind} set but one of {kind_of(asked.path, name)}")
    return chosen


async def _run_followup(asked: argparse.Namespace) -> list[dict[str, Any]]:
    model = await open_embedder(embedder_config(Settings.load()))
    embedder = None if model is None else sets.OnceEmbedder(model)
    return await followup.run(asked.path, _chosen(asked, "followup"), asked.limit, embedder)


async def _run_sets(asked: argparse.Namespace) -> list[dict[str, Any]]:
    chosen = _chosen(asked, "retrieval")
    with tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder:
        settings = Settings.load(
            store="postgres" if asked.store == "postgres" else "", data_dir=Path(folder), secrets="keep"
        )
        model = await open_embedder(embedder_config(settings))
        assert model is not None
        embedder = sets.OnceEmbedder(model)
        engine = engine_over(await open_store(settings), embedder, settings)
        try:
            recipes = ablate.recipes() if asked.ablate else sets.OURS
            return await sets.run(engine, embedder, asked.path, chosen, asked.limit, recipes)
        finally:
            await engine.close()


def _show_sets(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        table = Table(title=f"{row['set']}: {row['cases']} questions, {row['recall_ms_p50']} ms")
        metrics = list(row["metrics"]["ours"])
        for column in ("system", *metrics):
            table.add_column(column)
        for system, figures in row["metrics"].items():
            table.add_row(system, *(str(figures.get(metric, "")) for metric in metrics))
        Console().print(table)
        print(f"empty answers: {row['empty_when_answerable']} % of answerable, {row['empty_when_not']} % of the others")
        for kind, told in row["silence"].items():
            if told:
                shares = f"{told['silent']} % silent, {told['at_a_point']} % at a point of recall less"
                print(f"{kind}: {told['cases']}, AUC {told['auc']}, {shares}")


async def _run_order(asked: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    """What is said again, or otherwise: the rows, shown, and where they fall short."""
    if asked.path is None or not asked.path.is_dir():
        sys.exit("error: --path must be a folder with *.cases.jsonl files")
    async with opened(asked.store) as ground:
        if asked.dataset == "dedupe":
            rows = await dedupe.run(ground.engine, asked.path, asked.limit)
            dedupe.show(rows, Console())
            return rows, dedupe.passed(rows, asked.limit)
        rows = await conflicts.run(ground.engine, asked.path, asked.limit)
        conflicts.show(rows, Console())
        return rows, conflicts.passed(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _arguments(arguments)
    if asked.dataset in ("memory", "tasks"):
        try:
            sys.exit(memory.run(asked) if asked.dataset == "memory" else tasks.run(asked))
        except (*memory.PROBLEMS, *tasks.PROBLEMS) as problem:
            print(f"error: {problem}", file=sys.stderr)
            sys.exit(2)
    short: list[str] = []
    if asked.dataset in ("dedupe", "conflicts"):
        rows, short = asyncio.run(_run_order(asked))
    elif asked.dataset == "sets":
        rows = asyncio.run(_run_sets(asked))
        _show_sets(rows)
    elif asked.dataset == "followups":
        rows = asyncio.run(followups.run(asked.path, _chosen(asked, "followup"), asked.store, asked.limit))
        followups.show(rows, Console())
        short = followups.passed(rows)
    elif asked.dataset == "injection":
        rows = injection.run(asked.path)
        injection.show(rows, Console())
    else:
        rows = asyncio.run(_run_followup(asked))
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    if asked.json:
        asked.json.write_text(json.dumps({"store": asked.store, "rows": rows}, indent=2, ensure_ascii=False) + "\n")
    if short:
        sys.exit("FAIL: " + "; ".join(short))


if __name__ == "__main__":
    main()
