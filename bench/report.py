"""Figures on the screen and in a file: percentiles, ratios, and where they were taken."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def summary(seconds: Sequence[float]) -> Row:
    """Milliseconds, because that is what people feel."""
    return {
        "n": len(seconds),
        "p50_ms": round(percentile(seconds, 0.50) * 1000, 3),
        "p95_ms": round(percentile(seconds, 0.95) * 1000, 3),
        "mean_ms": round(sum(seconds) / len(seconds) * 1000, 3),
    }


def ratio(measured: Row, floor: Row, key: str = "p50_ms") -> float:
    return round(measured[key] / floor[key], 2) if floor[key] else float("inf")


def publish(name: str, rows: Iterable[Row], out: Path | None, **facts: Any) -> None:
    rows = list(rows)
    table = Table(title=name)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        table.add_row(*(str(row.get(column, "")) for column in columns))
    Console().print(table)
    if out is not None:
        machine = {"python": sys.version.split()[0], "machine": platform.machine(), "system": platform.system()}
        out.write_text(json.dumps({"bench": name, "rows": rows, **facts, "machine": machine}, indent=2) + "\n")
