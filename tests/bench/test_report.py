"""Figures and drawings, by hand-computed examples."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench import plots
from bench.report import percentile, ratio, show, summary

SVG = "{http://www.w3.org/2000/svg}"


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([5, 1, 3, 2, 4], 0.5) == 3
    assert percentile(range(101), 0.95) == 95
    assert percentile([7], 0.95) == 7


def test_a_summary_is_in_milliseconds() -> None:
    assert summary([0.001, 0.002, 0.006], "x_") == {"x_n": 3, "x_p50_ms": 2.0, "x_p95_ms": 6.0, "x_mean_ms": 3.0}


def test_a_ratio_says_how_many_times() -> None:
    assert ratio({"p50_ms": 3.0}, {"p50_ms": 2.0}) == 1.5
    assert ratio({"store_p50_ms": 8.0}, {"p50_ms": 2.0}, of="store_p50_ms") == 4.0
    assert ratio({"p50_ms": 3.0}, {"p50_ms": 0.0}) == float("inf")


def test_a_table_shows_the_columns_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    show(
        "speed", [{"what": "fast", "n": 12_345, "ms": 0.123}, {"what": "slow"}], {"what": "", "n": "times", "ms": "ms"}
    )
    out = capsys.readouterr().out
    assert "12,345" in out
    assert "0.12" in out
    assert "slow" in out


def test_lines_are_drawn_to_scale() -> None:
    drawn = ElementTree.fromstring(plots.lines("a & b", "x", "ms", {"<one>": [(1, 1), (10, 10), (100, 100)]}))
    (line,) = drawn.iter(f"{SVG}polyline")
    points = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    (x1, y1), (x2, y2), (x3, y3) = points
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert y1 > y3, "more is higher"


def test_one_line_for_each_recipe_and_way() -> None:
    rows = [
        {"size": size, "recipe": "native", "path": path, "store_p50_ms": 1.5, "p50_ms": 2.0}
        for size in (10, 100)
        for path in ("memory", "index")
    ]
    rows += [{"size": size, "path": "floor", "p50_ms": 1.0} for size in (10, 100)]
    drawn = ElementTree.fromstring(plots.recall(rows))
    assert len(list(drawn.iter(f"{SVG}polyline"))) == 3


def test_only_peers_with_figures_get_bars() -> None:
    whole = {"size": 10, "add_p50_ms": 1.0, "search_p50_ms": 2.0, "recall_at_10": 90.0}
    rows = [{**whole, "what": "ours"}, {**whole, "what": "theirs"}, {"size": 10, "what": "absent", "failed": True}]
    drawn = ElementTree.fromstring(plots.peers(rows))
    bars = [bar for bar in drawn.iter(f"{SVG}rect") if bar.attrib["height"] == "18"]
    assert len(bars) == 6
