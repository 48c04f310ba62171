"""Turn one parameter of a recipe at a time and watch what it does to accuracy and brevity.

The dials are those of the companion contract: the weights of relevance, recency and importance, how fast recency fades, the
constant of rank fusion, how many entries are shown, and how much difference between them counts. Everything else stays at the
recipe's own value, the set is stored and embedded once, and the dials are turned over the same questions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.table import Table

from eval.golden import Answer, Stage
from eval.verdict import figures, percent, precision_at, recall_at
from recollect.errors import InvalidInput
from recollect.policy.recipes import RECIPES, Recipe, TriScore

COLUMNS = 4


class NoPlot(RuntimeError):
    def __init__(self) -> None:
        super().__init__("matplotlib is not installed: `make eval` brings it, or `pip install recollect[eval]`")


@dataclass(frozen=True)
class Dial:
    """One parameter: what it is called, where it is tried, how it is set and what it is set to by default."""

    name: str
    values: tuple[float, ...]
    turn: Callable[[Recipe, float], Recipe]
    at: Callable[[Recipe], float]


def _of_score(name: str) -> tuple[Callable[[Recipe, float], Recipe], Callable[[Recipe], float]]:
    def turn(recipe: Recipe, value: float) -> Recipe:
        changed: dict[str, Any] = {name: value}
        return replace(recipe, rescore=replace(_score(recipe), **changed))

    return turn, lambda recipe: float(getattr(_score(recipe), name))


def _score(recipe: Recipe) -> TriScore:
    if not isinstance(recipe.rescore, TriScore):
        raise InvalidInput(f"the recipe {recipe.name!r} has no alpha, beta, gamma, tau or lambda; `companion` has")
    return recipe.rescore


def _with_tau(recipe: Recipe, days: float) -> Recipe:
    return replace(recipe, rescore=replace(_score(recipe), tau=timedelta(days=days)))


WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
DIALS = {
    dial.name: dial
    for dial in (
        Dial("alpha", WEIGHTS, *_of_score("alpha")),
        Dial("beta", WEIGHTS, *_of_score("beta")),
        Dial("gamma", WEIGHTS, *_of_score("gamma")),
        Dial("tau", (1, 3, 7, 14, 30, 90, 365), _with_tau, lambda recipe: _score(recipe).tau / timedelta(days=1)),
        Dial("k", (1, 10, 30, 60, 120), lambda r, value: replace(r, rrf_k=int(value)), lambda r: float(r.rrf_k)),
        Dial("N", (1, 3, 5, 8, 12, 16), lambda r, value: replace(r, limit=int(value)), lambda r: float(r.limit)),
        Dial("lambda", (0.0, 0.3, 0.5, 0.7, 0.85, 1.0), *_of_score("diversity")),
    )
}


@dataclass(frozen=True)
class Point:
    """One value of one dial, and what came of it. `recall` and `precision` are over all that is shown, however many."""

    dial: str
    value: float
    default: bool
    recall_at_5: float | None
    precision_at_5: float | None
    recall: float | None
    precision: float | None
    tokens: float
    latency_ms_p50: float | None


def checked(recipe: str, dials: Sequence[str]) -> list[str]:
    """The dials, if they exist and this recipe has them: said before anything is stored."""
    for name in dials:
        if name not in DIALS:
            raise InvalidInput(f"no dial is called {name!r}; there are {', '.join(DIALS)}")
        DIALS[name].at(RECIPES[recipe])
    return list(dials)


async def sweep(stage: Stage, recipe: str, dials: Sequence[str]) -> list[Point]:
    plain = RECIPES[recipe]
    points = []
    for dial in (DIALS[name] for name in dials):
        default = dial.at(plain)
        for value in sorted({*dial.values, default}):
            with registered(replace(dial.turn(plain, value), name=f"{recipe} {dial.name}={value:g}")) as turned:
                points.append(
                    _point(
                        dial,
                        value,
                        value == default,
                        turned.limit,
                        await stage.ask(turned.name, f"{dial.name}={value:g}"),
                    )
                )
    return points


@contextmanager
def registered(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe among those that can be asked for, for a while."""
    RECIPES[recipe.name] = recipe
    try:
        yield recipe
    finally:
        del RECIPES[recipe.name]


def _point(dial: Dial, value: float, default: bool, limit: int, answers: Sequence[Answer]) -> Point:
    measured = figures(answers)
    return Point(
        dial=dial.name,
        value=value,
        default=default,
        recall_at_5=measured["recall_at_5"],
        precision_at_5=measured["precision_at_5"],
        recall=percent(recall_at(answer, limit) for answer in answers),
        precision=percent(precision_at(answer, limit) for answer in answers),
        tokens=round(sum(answer.tokens for answer in answers) / max(len(answers), 1), 1),
        latency_ms_p50=measured["latency_ms_p50"],
    )


def table(points: Sequence[Point]) -> Table:
    shown = Table(title="one dial at a time, the others at their defaults (*)")
    for column in ("dial", "value", "Recall@5", "Precision@5", "Recall@N", "Precision@N", "tokens", "p50 ms"):
        shown.add_column(column, justify="left" if column == "dial" else "right")
    for before, point in zip([None, *points], points, strict=False):
        if before is not None and before.dial != point.dial:
            shown.add_section()
        cells = (
            point.recall_at_5,
            point.precision_at_5,
            point.recall,
            point.precision,
            point.tokens,
            point.latency_ms_p50,
        )
        shown.add_row(point.dial, f"{point.value:g}{'*' if point.default else ''}", *map(str, cells))
    return shown


def plotting() -> Any:
    """Matplotlib, drawing to files; `NoPlot` when it isn't there."""
    try:
        importlib.import_module("matplotlib").use("Agg")
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as problem:
        raise NoPlot from problem


def plot(points: Sequence[Point], path: Path) -> None:
    """A panel for each dial: recall and precision to the left, tokens to the right, the default as a dotted line."""
    pyplot = plotting()
    names = list(dict.fromkeys(point.dial for point in points))
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, layout="constrained")
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    lowest = min(min(point.recall_at_5 or 0.0, point.precision_at_5 or 0.0) for point in points)
    for name, axis in zip(names, axes.flat, strict=False):
        _panel(axis, name, [point for point in points if point.dial == name])
        axis.set_ylim(max(0.0, lowest - 5), 102)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _panel(axis: Any, name: str, points: Sequence[Point]) -> None:
    values = [point.value for point in points]
    axis.plot(values, [point.recall_at_5 for point in points], "o-", label="Recall@5, %")
    axis.plot(values, [point.precision_at_5 for point in points], "s-", label="Precision@5, %")
    axis.plot([], [], "^:", color="grey", label="tokens shown (right)")
    axis.set_title(name)
    for point in points:
        if point.default:
            axis.axvline(point.value, linestyle=":", color="black", linewidth=0.8)
    if name in {"tau", "k"}:
        axis.set_xscale("log")
    beside = axis.twinx()
    beside.plot(values, [point.tokens for point in points], "^:", color="grey")
    beside.set_ylim(0, 1.3 * max(point.tokens for point in points) + 1)
