"""Quality, measured.

    python -m eval --dataset memory [--store sqlite|postgres] [--recipe recall] [--outage dense|lexical] [--json OUT]
    python -m eval --dataset memory --sweep [alpha,beta,gamma,tau,k,N,lambda] [--plot FILE]
    python -m eval --dataset sets --path DIR --sets a,b --store sqlite|postgres --json OUT [--limit N]

`memory` is our own golden set (or the one at --path); it ends with PASS or FAIL, and FAIL exits with 1. `sets` are public ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from eval import memory, sets  # noqa: E402
from eval.cases import names  # noqa: E402
from recollect.bootstrap import embedder_config, engine_over, open_embedder, open_store  # noqa: E402
from recollect.settings import Settings  # noqa: E402


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m eval", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", choices=["memory", "sets"], required=True)
    parser.add_argument("--path", type=Path, help="the folder of the sets; or another golden set than the shipped one")
    parser.add_argument("--sets", help="which of them, separated by commas; all when left out")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--limit", type=int, help="at most this many questions of each set")
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    memory.arguments(parser)
    return parser.parse_args()


async def _run_sets(asked: argparse.Namespace) -> list[dict[str, Any]]:
    if asked.path is None or not asked.path.is_dir():
        sys.exit("error: --path must be a folder with *.cases.jsonl files")
    chosen = asked.sets.split(",") if asked.sets else names(asked.path)
    for name in chosen:
        if name not in names(asked.path):
            sys.exit(f"error: no set is called {name!r} there; there are {', '.join(names(asked.path))}")
    with tempfile.TemporaryDirectory(prefix="recollect-eval-") as folder:
        settings = Settings.load(store="postgres" if asked.store == "postgres" else "", data_dir=Path(folder))
        model = await open_embedder(embedder_config(settings))
        assert model is not None
        embedder = sets.OnceEmbedder(model)
        engine = engine_over(await open_store(settings), embedder, settings)
        try:
            return await sets.run(engine, embedder, asked.path, chosen, asked.limit)
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


def main() -> None:
    asked = _arguments()
    if asked.dataset == "memory":
        try:
            sys.exit(memory.run(asked))
        except memory.PROBLEMS as problem:
            print(f"error: {problem}", file=sys.stderr)
            sys.exit(2)
    rows = asyncio.run(_run_sets(asked))
    _show_sets(rows)
    if asked.json:
        asked.json.write_text(json.dumps({"store": asked.store, "rows": rows}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
