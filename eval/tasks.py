"""`--dataset tasks`: live the tasks, ask, judge, show, keep."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from eval import citing, lives, tracking
from eval.ground import Outage, StoreKind, opened
from eval.lives import Asked
from eval.report import PLAIN_WIDTH
from eval.task_verdict import failed, is_right, report, thresholds
from eval.verdict import Threshold
from recollect._version import __version__
from recollect.errors import RecollectError
from recollect.ports import Chat, Embedder
from recollect.settings import Settings
from recollect.testing.clock import ManualClock

PROBLEMS = (lives.BadTasks, tracking.NoMlflow, RecollectError, OSError)
"""What is said in one line instead of a traceback."""
EXPERIMENT = "recollect-tasks"


def run(asked: argparse.Namespace) -> int:
    """The exit code: 0 for PASS, 1 for FAIL."""
    if not asked.no_mlflow:
        tracking.available()
    chosen = lives.few(lives.read(asked.path or lives.SHIPPED), asked.limit)
    answers, judged, about = asyncio.run(answered(chosen.tasks, asked.store, asked.outage))
    measured = report(answers, judged)
    failures = failed(measured["figures"], asked.outage)
    show(_console(), measured, answers, failures, asked.outage)
    parameters = {**about, "store": asked.store, "outage": asked.outage, "set_version": chosen.version}
    kept = {"parameters": parameters | {"recollect": __version__}, "passed": not failures, **measured}
    if asked.json is not None:
        asked.json.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if not asked.no_mlflow:
        folder = asked.mlflow or Settings.load().data_dir / "mlflow"
        id = tracking.keep(folder, kept["parameters"], kept, experiment=EXPERIMENT)
        _console().print(f"kept in MLflow as run {id}")
    return 1 if failures else 0


async def answered(
    tasks: Sequence[lives.Task],
    store: StoreKind = "sqlite",
    outage: Outage | None = None,
    embedder: Embedder | None = None,
    chat: Chat | None = None,
) -> tuple[list[Asked], Mapping[int, bool], dict[str, Any]]:
    """The tasks through an engine of their own: the answers, a judge's verdicts, and who embedded and who spoke.

    `embedder` and `chat` replace the configured ones.
    """
    async with opened(store, outage, embedder, rate_limit=10 if outage == "redis" else 0) as ground:
        clock = ManualClock(lives.START)
        ground.engine.clock = clock
        ground.engine.chat = chat or ground.engine.chat
        stage = lives.Stage(ground, clock, tasks)
        await stage.live()
        ground.break_down()
        answers = await stage.ask()
        speaker = ground.engine.chat
        judged = await citing.judge(speaker, answers) if speaker is not None else {}
        return answers, judged, {"embedder": ground.embedder, "chat": speaker.model if speaker else "recall-only"}


def show(
    console: Console,
    measured: Mapping[str, Any],
    asked: Sequence[Asked],
    failures: Sequence[Threshold],
    outage: Outage | None = None,
) -> None:
    console.print(_overall(measured["figures"], [each.figure for each in failures], outage))
    console.print(_parts({**measured["by_category"], **measured["by_lang"]}))
    wrong = [each for each in asked if each.with_memory and not is_right(each)]
    if wrong:
        console.print(_wrong(wrong))
    for each in failures:
        value = measured["figures"][each.figure]
        console.print(
            f"{each.title}: {value} %, {'at most' if each.most else 'at least'} {each.bound:g} %", style="red"
        )
    console.print("FAIL" if failures else "PASS", style="bold red" if failures else "bold green")


def _overall(figures: Mapping[str, Any], failures: Sequence[str], outage: Outage | None) -> Table:
    down = f", {outage} down" if outage else ""
    table = Table(title=f"tasks: {figures['tasks']} of them, {figures['questions']} questions{down}")
    for column in ("figure", "%", "threshold", ""):
        table.add_column(column)
    for each in thresholds(outage):
        value = figures[each.figure]
        verdict = "[red]FAIL[/]" if each.figure in failures else "" if value is None or not each.blocking else "ok"
        bound = f"{'≤' if each.most else '≥'} {each.bound:g}" if each.blocking else ""
        table.add_row(each.title, "not measured" if value is None else f"{value:.1f}", bound, verdict)
    table.add_row("whole tasks", f"{figures['tasks_done']:.1f}", "", "")
    return table


def _parts(parts: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title="by kind and language")
    columns = ("questions", "right", "right_without", "cited")
    for column in ("", *(name.replace("_", " ") for name in columns)):
        table.add_column(column)
    for name, figures in parts.items():
        table.add_row(name, *("" if figures[each] is None else str(figures[each]) for each in columns))
    return table


def _wrong(wrong: Sequence[Asked]) -> Table:
    table = Table(title="what went wrong", show_lines=True)
    for column in ("task", "question", "wanted", "answer"):
        table.add_column(column)
    for each in wrong:
        question = each.question
        wanted = " + ".join(question.needs) or ("nothing" if question.nothing else "not " + ", ".join(question.secret))
        said = each.reply.text if each.reply else "no answer"
        table.add_row(each.task.id, escape(question.ask), escape(wanted), escape(said[:600]))
    return table


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
