"""`--dataset memory`: store the golden set, ask, judge, show, keep."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from eval import golden, ground, report, sweep, tracking, verdict
from recollect._version import __version__
from recollect.errors import RecollectError
from recollect.policy.recipes import RECIPES
from recollect.settings import Settings

PROBLEMS = (golden.BadSet, tracking.NoMlflow, sweep.NoPlot, RecollectError, OSError)
"""What is said in one line instead of a traceback."""


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--dataset memory and tasks")
    group.add_argument(
        "--recipe", choices=sorted(RECIPES), help="how memories are ranked: recall; for a sweep companion"
    )
    group.add_argument(
        "--outage", choices=["dense", "lexical", "redis", "recall"], help="what is down while questions are asked"
    )
    group.add_argument("--mlflow", type=Path, metavar="DIR", help="where runs are kept; `mlflow` in the data folder")
    group.add_argument("--no-mlflow", action="store_true", help="measure without keeping the run")
    group.add_argument(
        "--sweep",
        nargs="?",
        const=",".join(sweep.DIALS),
        metavar="DIALS",
        help=f"turn one parameter at a time instead: {', '.join(sweep.DIALS)}",
    )
    group.add_argument(
        "--plot", type=Path, metavar="FILE", help="where a sweep is drawn; `sweep.png` in the data folder"
    )


def run(asked: argparse.Namespace) -> int:
    """The exit code: 0 for PASS, 1 for FAIL. A sweep measures and doesn't judge."""
    return _sweep(asked) if asked.sweep else _judge(asked)


@asynccontextmanager
async def _stored(asked: argparse.Namespace, chosen: golden.GoldenSet) -> AsyncIterator[tuple[golden.Stage, str]]:
    """The set in a fresh store, and who made its vectors; the outage has begun."""
    async with ground.opened(asked.store, asked.outage) as place:
        stage = golden.Stage(place.engine, chosen.cases[: asked.limit])
        await stage.store()
        place.break_down()
        yield stage, place.embedder


def _judge(asked: argparse.Namespace) -> int:
    if not asked.no_mlflow:
        tracking.available()
    chosen = golden.read(asked.path or golden.SHIPPED)
    recipe = asked.recipe or "recall"

    async def ask() -> tuple[list[golden.Answer], str]:
        async with _stored(asked, chosen) as (stage, embedder):
            return await stage.ask(recipe), embedder

    answers, embedder = asyncio.run(ask())
    measured = verdict.report(answers)
    failures = verdict.failed(measured["figures"], outage=asked.outage is not None)
    report.show(_console(), measured, answers, failures)
    parameters = {**_parameters(asked, chosen, embedder), "recipe": recipe, "cases": len(answers)}
    kept = {"parameters": parameters, "passed": not failures, **measured}
    _write(asked.json, kept)
    if not asked.no_mlflow:
        folder = asked.mlflow or Settings.load().data_dir / "mlflow"
        _console().print(f"kept in MLflow as run {tracking.keep(folder, parameters, kept)}")
    return 1 if failures else 0


def _sweep(asked: argparse.Namespace) -> int:
    sweep.plotting()
    chosen = golden.read(asked.path or golden.SHIPPED)
    recipe, dials = asked.recipe or "companion", sweep.checked(asked.recipe or "companion", asked.sweep.split(","))

    async def turn() -> tuple[list[sweep.Point], str]:
        async with _stored(asked, chosen) as (stage, embedder):
            return await sweep.sweep(stage, recipe, dials), embedder

    points, embedder = asyncio.run(turn())
    _console().print(sweep.table(points))
    drawn = asked.plot or Settings.load().data_dir / "sweep.png"
    sweep.plot(points, drawn)
    _console().print(f"drawn in {drawn}")
    parameters = {**_parameters(asked, chosen, embedder), "recipe": recipe}
    _write(asked.json, {"parameters": parameters, "points": [asdict(point) for point in points]})
    return 0


def _parameters(asked: argparse.Namespace, chosen: golden.GoldenSet, embedder: str) -> dict[str, Any]:
    return {
        "store": asked.store,
        "outage": asked.outage,
        "embedder": embedder,
        "set_version": chosen.version,
        "recollect": __version__,
    }


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else report.PLAIN_WIDTH)


def _write(path: Path | None, what: Mapping[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps(what, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
