"""Figures drawn as SVG by hand, so that drawing needs nothing installed. Axes are logarithmic: what matters is how many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from bench.report import Row

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 210, 46, 50
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#bf8700", "#57606a")

Points = Sequence[tuple[float, float]]


def recall(rows: Iterable[Row]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        name = f"{row['recipe']}, {row['path']}" if "recipe" in row else str(row["path"])
        figure = "store_p50_ms" if "store_p50_ms" in row else "p50_ms"
        series.setdefault(name, []).append((row["size"], row[figure]))
    return lines("One question, p50, store side", "memories of one person", "ms", series)


def growth(rows: Sequence[Row]) -> str:
    shown = {"recall": "recall_p50_ms", "recall, p95": "recall_p95_ms", "first question": "first_p50_ms",
             "write": "write_p50_ms", "write, p95": "write_p95_ms"}  # fmt: skip
    series = {name: [(row["memories"], row[key]) for row in rows] for name, key in shown.items()}
    return lines(f"{rows[0]['each']:,} memories each, ever more people", "memories of all people", "ms", series)


def peers(rows: Sequence[Row]) -> str:
    largest = max(row["size"] for row in rows)
    shown = [row for row in rows if row["size"] == largest and "add_p50_ms" in row]
    return bars(
        f"Over {largest:,} memories, same texts, same vectors",
        [str(row["what"]) for row in shown],
        {
            "add, p50 ms": [row["add_p50_ms"] for row in shown],
            "search, p50 ms": [row["search_p50_ms"] for row in shown],
            "recall@10, %": [row["recall_at_10"] for row in shown],
        },
    )


def lines(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    x = _axis([x for points in series.values() for x, _ in points], LEFT, WIDTH - RIGHT)
    y = _axis([y for points in series.values() for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [_text(LEFT, 24, title, size=15), _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across, anchor="middle")]
    parts.append(_text(14, TOP - 10, up))
    parts += [
        _text(x(tick), HEIGHT - BOTTOM + 18, f"{tick:,.0f}", anchor="middle")
        for tick in _ticks([x for points in series.values() for x, _ in points])
    ]
    for tick in _ticks([y for points in series.values() for _, y in points]):
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        parts.append(_text(LEFT - 6, y(tick) + 4, f"{tick:g}", anchor="end"))
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in points]
        parts.append(_text(WIDTH - RIGHT + 14, TOP + 8 + 20 * number, name, colour=colour))
    return _svg(parts, HEIGHT)


def bars(title: str, names: Sequence[str], panels: Mapping[str, Sequence[float]]) -> str:
    """One panel of bars for each kind of figure; a name is said once, at the left."""
    label, gap, step = 190, 24, 26
    room = (WIDTH - label - gap * len(panels)) / max(1, len(panels))
    height = 76 + step * len(names)
    parts = [_text(14, 24, title, size=15)]
    parts += [_text(14, 74 + step * row, name) for row, name in enumerate(names)]
    for number, (heading, values) in enumerate(panels.items()):
        left = label + number * (room + gap)
        parts.append(_text(left, 50, heading))
        most = max(values, default=1.0) or 1.0
        for row, value in enumerate(values):
            wide = max(1.0, (room - 48) * value / most)
            top = 60 + step * row
            colour = COLOURS[0] if row == 0 else COLOURS[-1]
            parts.append(f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="18" fill="{colour}"/>')
            parts.append(_text(left + wide + 4, top + 14, f"{value:.1f}"))
    return _svg(parts, height)


def _axis(values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.log10(min(positive)) - 0.05, math.log10(max(positive)) + 0.05
    return lambda value: start + (end - start) * (math.log10(max(value, min(positive))) - low) / (high - low)


def _ticks(values: Sequence[float]) -> list[float]:
    """Powers of ten, and between them 2 and 5 where the span is short."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    tens = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    marks = tens if high / low > 1000 else sorted(ten * part for ten in tens for part in (1, 2, 5))
    return [mark for mark in marks if low * 0.9 <= mark <= high * 1.1]


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#24292f") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
    )


def _svg(parts: Sequence[str], height: int) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"
