"""Quality, measured.

    python -m eval --dataset memory [--store sqlite|postgres] [--recipe recall] [--outage dense|lexical] [--json OUT]
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

from eval import golden, ground, report, sets, tracking, verdict  # noqa: E402
from eval.cases import names  # noqa: E402
from recollect._version import __version__  # noqa: E402
from recollect.bootstrap import embedder_config, engine_over, open_embedder, open_store  # noqa: E402
from recollect.errors import RecollectError  # noqa: E402
from recollect.policy.recipes import RECIPES  # noqa: E402
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
    memory = parser.add_argument_group("--dataset memory")
    memory.add_argument("--recipe", choices=sorted(RECIPES), default="recall", help="how memories are ranked")
    memory.add_argument(
        "--outage", choices=["dense", "lexical", "redis"], help="what is down while questions are asked"
    )
    memory.add_argument("--mlflow", type=Path, metavar="DIR", help="where runs are kept; `mlflow` in the data folder")
    memory.add_argument("--no-mlflow", action="store_true", help="measure without keeping the run")
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


async def _ask_golden(asked: argparse.Namespace, chosen: golden.GoldenSet) -> tuple[list[golden.Answer], str]:
    async with ground.opened(asked.store, asked.outage) as place:
        stage = golden.Stage(place.engine, chosen.cases[: asked.limit])
        await stage.store()
        place.break_down()
        return await stage.ask(asked.recipe), place.embedder


def _run_memory(asked: argparse.Namespace) -> int:
    """0 for PASS, 1 for FAIL."""
    if not asked.no_mlflow:
        tracking.available()
    chosen = golden.read(asked.path or golden.SHIPPED)
    answers, embedder = asyncio.run(_ask_golden(asked, chosen))
    parameters = {
        "store": asked.store,
        "recipe": asked.recipe,
        "outage": asked.outage,
        "embedder": embedder,
        "set_version": chosen.version,
        "cases": len(answers),
        "recollect": __version__,
    }
    measured = verdict.report(answers)
    failures = verdict.failed(measured["figures"], outage=asked.outage is not None)
    console = Console(width=None if sys.stdout.isatty() else report.PLAIN_WIDTH)
    report.show(console, measured, answers, failures)
    kept = {"parameters": parameters, "passed": not failures, **measured}
    if asked.json:
        _write(asked.json, kept)
    if not asked.no_mlflow:
        folder = asked.mlflow or Settings.load().data_dir / "mlflow"
        console.print(f"kept in MLflow as run {tracking.keep(folder, parameters, kept)}")
    return 1 if failures else 0


def _write(path: Path, what: dict[str, Any]) -> None:
    path.write_text(json.dumps(what, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    asked = _arguments()
    if asked.dataset == "memory":
        try:
            sys.exit(_run_memory(asked))
        except (golden.BadSet, tracking.NoMlflow, RecollectError, OSError) as problem:
            print(f"error: {problem}", file=sys.stderr)
            sys.exit(2)
    rows = asyncio.run(_run_sets(asked))
    _show_sets(rows)
    if asked.json:
        _write(asked.json, {"store": asked.store, "rows": rows})


if __name__ == "__main__":
    main()
