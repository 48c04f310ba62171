"""A small picture of a result: bars for names, a line for periods. Drawn only where one column names and one counts.

An SVG as a data URI, without scripts, links or styles from outside; every text in it is escaped.
"""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from typing import Any

from recollect.providers.answerers.database import Rows

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 320, 20, 60, 24
MOST = 30
_PERIOD = re.compile(r"^(?:(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?|1[0-2]|[1-9])$")


def chart(result: Rows, title: str) -> str:
    """A data URI, or nothing where a picture would say nothing."""
    series = _series(result)
    if series is None:
        return ""
    labels, values = series
    low, high = min(0.0, *values), max(0.0, *values)
    if low == high:
        return ""
    step = (WIDTH - 2 * LEFT) / len(values)

    def y(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    middles = [round(LEFT + step * (at + 0.5), 1) for at in range(len(values))]
    if len(values) > 2 and all(map(_PERIOD.match, labels)):
        points = " ".join(f"{x},{y(value)}" for x, value in zip(middles, values, strict=True))
        marks = f'<polyline points="{points}" fill="none" stroke="#3b6ea5" stroke-width="2"/>'
    else:
        marks = "".join(
            f'<rect x="{x - 0.35 * step:.1f}" y="{min(y(value), y(0))}" width="{0.7 * step:.1f}" '
            f'height="{abs(y(value) - y(0)):.1f}" fill="#3b6ea5"/>'
            for x, value in zip(middles, values, strict=True)
        )
    names = "".join(
        f'<text x="{x}" y="{HEIGHT - BOTTOM + 14}" font-size="10" text-anchor="end" '
        f'transform="rotate(-35 {x} {HEIGHT - BOTTOM + 14})">{_text(label, 16)}</text>'
        for x, label in zip(middles, labels, strict=True)
    )
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" role="img">'
        f'<title>{_text(title, 200)}</title><text x="{LEFT}" y="14" font-size="12">{_text(title, 80)}</text>'
        f'<line x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{y(0)}" y2="{y(0)}" stroke="#999"/>{marks}{names}</svg>'
    )
    return "data:image/svg+xml;base64," + b64encode(drawn.encode()).decode()


def _series(result: Rows) -> tuple[list[str], list[float]] | None:
    if not 2 <= len(result.rows) <= MOST or len(result.columns) != 2:
        return None
    labels, values = zip(*result.rows, strict=True)
    if not all(map(_is_number, values)) and all(map(_is_number, labels)):
        labels, values = values, labels
    if not all(map(_is_number, values)):
        return None
    return ["" if each is None else str(each) for each in labels], [float(each) for each in values]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _text(text: str, most: int) -> str:
    shown = "".join(char for char in text if char.isprintable())
    return escape(shown if len(shown) <= most else shown[: most - 1] + "…")
