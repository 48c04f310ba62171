"""Figures on the screen and in a file: percentiles, ratios, and where they were taken.

The table shows what a reader compares, within a hundred columns; the file has everything.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

Row = dict[str, Any]
WIDTH = 100


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def summary(seconds: Sequence[float], prefix: str = "") -> Row:
    """Milliseconds, because that is what people feel."""
    return {
        f"{prefix}n": len(seconds),
        f"{prefix}p50_ms": round(percentile(seconds, 0.50) * 1000, 3),
        f"{prefix}p95_ms": round(percentile(seconds, 0.95) * 1000, 3),
        f"{prefix}mean_ms": round(sum(seconds) / len(seconds) * 1000, 3),
    }


def ratio(measured: Row, floor: Row, key: str = "p50_ms", of: str | None = None) -> float:
    """`of`: the measured row's name for it, where that differs."""
    return round(measured[of or key] / floor[key], 2) if floor[key] else float("inf")


def bar() -> Progress:
    """Progress on stderr, so that a table sent to a file stays a table."""
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*shown, console=Console(stderr=True), transient=True)


def show(title: str, rows: Iterable[Row], columns: Mapping[str, str], caption: str | None = None) -> None:
    """`columns`: which figures, and what they are called. A row marked `section` ends with a line."""
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    for key, heading in columns.items():
        table.add_column(heading, justify="left" if key == "what" else "right", no_wrap=key == "what")
    for row in rows:
        table.add_row(*(_shown(row.get(key)) for key in columns), end_section=bool(row.get("section")))
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table)


def keep(name: str, out: Path | None, **facts: Any) -> None:
    if out is None:
        return
    machine = {
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
    }
    out.write_text(json.dumps({"bench": name, **facts, "machine": machine}, indent=2, ensure_ascii=False) + "\n")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 10 else f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
