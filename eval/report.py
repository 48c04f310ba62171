"""A golden run as people read it: the figures against their thresholds, where it hurts, and each case that went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from eval.golden import Answer, Missing
from eval.verdict import THRESHOLDS, Threshold, faults

WIDTH = 78
PLAIN_WIDTH = 200  # for output that goes to a file


def show(console: Console, report: Mapping[str, Any], answers: Sequence[Answer], failures: Sequence[Threshold]) -> None:
    console.print(_overall(report["figures"], [each.figure for each in failures]))
    console.print(_parts("by category", report["by_category"]))
    console.print(_parts("by language", report["by_lang"]))
    wrong = [answer for answer in answers if faults(answer)]
    if wrong:
        console.print(_wrong(wrong))
    for each in failures:
        value = report["figures"][each.figure]
        console.print(f"{each.title} is {value} {each.unit}, {each.bound:g} {each.unit} are needed", style="red")
    console.print("FAIL" if failures else "PASS", style="bold red" if failures else "bold green")


def _overall(figures: Mapping[str, Any], failures: Sequence[str]) -> Table:
    table = Table(title=f"memory: {figures['cases']} cases")
    for column in ("metric", "figure", "threshold", "", "our aim", ""):
        table.add_column(column, justify="right" if column in {"figure", "threshold", "our aim"} else "left")
    for each in THRESHOLDS:
        value, sign = figures[each.figure], "≤" if each.most else "≥"
        missed = "[red]FAIL[/]" if each.figure in failures else "[yellow]warn[/]"
        verdict = "[green]ok[/]" if each.holds(value) else missed
        aimed = "[green]reached[/]" if each.aimed(value) else "[yellow]not yet[/]"
        bound, aim = (f"{sign} {number:g} {each.unit}" for number in (each.bound, each.aim))
        table.add_row(each.title, _number(value, each.unit), bound, verdict, aim, aimed)
    for figure, title in (
        ("latency_ms_p50", "latency p50"),
        ("rightly_empty", "rightly empty"),
        ("wrongly_empty", "wrongly empty"),
        ("degraded", "degraded"),
    ):
        table.add_row(title, _number(figures[figure], "ms" if "ms" in figure else "%"), "", "", "", "")
    return table


def _parts(title: str, parts: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(title=title)
    table.add_column(title.removeprefix("by "))
    for column in ("cases", "Recall@5", "Precision@5", "p95 ms", "at fault"):
        table.add_column(column, justify="right")
    for name, figures in sorted(parts.items()):
        row = (figures[key] for key in ("cases", "recall_at_5", "precision_at_5", "latency_ms_p95", "at_fault"))
        table.add_row(name, *("" if value is None else str(value) for value in row))
    return table


def _wrong(answers: Sequence[Answer]) -> Table:
    table = Table(title=f"{len(answers)} cases at fault", show_lines=True)
    for column in ("case", "fault", "asked and expected", "what came, with its relevance"):
        table.add_column(column, overflow="fold")
    for answer in answers:
        lost = {each.content: _place(each) for each in answer.missing}
        expected = [f"→ {_short(text)}{lost.get(text, '')}" for text in sorted(answer.case.expected)] or ["→ nothing"]
        came = [
            f"{_mark(answer, each.content)} {each.relevance:.2f} {_short(each.content)}" for each in answer.shown[:5]
        ]
        table.add_row(
            answer.case.id,
            ", ".join(faults(answer)),
            escape("\n".join([_short(answer.case.query), *expected])),
            escape("\n".join(came or ["nothing"])),
        )
    return table


def _place(missing: Missing) -> str:
    if missing.rank is None or missing.relevance is None:
        return " (not found)"
    return f" (would be no. {missing.rank}, {missing.relevance:.2f})"


def _mark(answer: Answer, content: str) -> str:
    if content in answer.case.expected:
        return "✓"
    return "·" if content in answer.case.acceptable else "✗"


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.1f} {unit}"
