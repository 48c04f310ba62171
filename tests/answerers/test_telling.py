"""Results in words and in pictures, and the shop they come from."""

from __future__ import annotations

import sqlite3
from base64 import b64decode
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from recollect.providers.answerers.chart import chart
from recollect.providers.answerers.database import Rows
from recollect.providers.answerers.sample import FILE, TOTALS, sample_database
from recollect.providers.answerers.telling import headline, told


def result(*rows: tuple[object, ...], columns: tuple[str, ...] = ("name", "total"), truncated: bool = False) -> Rows:
    return Rows(columns, rows, truncated, 0.0)


def drawn(uri: str) -> ElementTree.Element:
    return ElementTree.fromstring(b64decode(uri.removeprefix("data:image/svg+xml;base64,")))


def test_bars_for_names_and_a_line_for_periods() -> None:
    bars = drawn(chart(result(("North", 3), ("South", -1.5)), "Sales"))
    assert len(bars.findall("{*}rect")) == 2
    line = drawn(chart(result((2022, 1), (2023, 2), (2024, 4)), "Sales"))
    assert line.find("{*}polyline") is not None
    assert not line.findall("{*}rect")


def test_every_text_in_a_picture_is_escaped() -> None:
    evil = '<script>alert(1)</script>"\x00\x1b'
    picture = drawn(chart(result((evil, 1), ("b", 2)), evil))
    assert {each.tag.partition("}")[2] for each in picture.iter()} == {"svg", "title", "text", "line", "rect"}
    assert any("<script>" in (each.text or "") for each in picture.findall("{*}text"))


@pytest.mark.parametrize(
    "rows",
    [
        result(),
        result(("a", 1)),
        result(("a", "b"), ("c", "d")),
        result(("a", 0), ("b", 0)),
        result(("a", None), ("b", 1)),
        result(("a", float("inf")), ("b", 1)),
        result(("a", 1, 2), ("b", 2, 3), columns=("a", "b", "c")),
        result(*((str(at), at) for at in range(31))),
    ],
)
def test_no_picture_where_it_would_say_nothing(rows: Rows) -> None:
    assert chart(rows, "x") == ""


def test_answers_in_words() -> None:
    assert told("Sales", result(("North", 2500000), ("South", None)), "?") == "Sales:\n- North: 2,500,000\n- South: —"
    assert told("Sales", result((1234.5,), columns=("x",)), "?") == "Sales: 1,234.50"
    assert told("Sales", result(), "?") == "Sales: no rows match."
    assert told("销售", result(), "多少？") == "销售：没有符合条件的记录。"
    many = told("Sales", result(*((2000 + at, at) for at in range(30)), truncated=True), "?")
    assert "- 2000: 0" in many
    assert many.endswith("- … and 10+ more rows")


HEADLINES = {
    "The total sales by region for 2024": (
        "SELECT region_name, SUM(amount) AS total_sales FROM t WHERE YEAR(d) = 2024 GROUP BY region_name"
    ),
    "The average of amount where city is Rome and amount is over 3": (
        "SELECT AVG(amount) FROM t WHERE city = 'Rome' AND amount > 3"
    ),
    "The number of rows by city (the highest 3)": (
        "SELECT city, COUNT(*) FROM t GROUP BY city ORDER BY 2 DESC LIMIT 3"
    ),
    "The total by city where year is at least 2023 and city is not Rome or Bonn (the lowest 2)": (
        "SELECT city, SUM(x) AS total FROM t WHERE CAST(STRFTIME('%Y', d) AS INTEGER) >= 2023 "
        "AND NOT city IN ('Rome', 'Bonn') GROUP BY city ORDER BY total LIMIT 2"
    ),
    "The t": "SELECT * FROM t",
    "": "SELECT 1 FROM (SELECT 2) AS x",
}


@pytest.mark.parametrize(("words", "sql"), HEADLINES.items())
def test_the_headline_is_read_off_the_sql(words: str, sql: str) -> None:
    assert headline(sql, "sqlite") == words
    assert headline("no SQL (", "sqlite") == ""


def test_the_sample_shop_is_the_same_everywhere(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert sample_database(one) == f"sqlite:///{one / FILE}"
    sample_database(two)
    dumps = []
    for folder in (one, two):
        with closing(sqlite3.connect(folder / FILE)) as connection:
            dumps.append(list(connection.iterdump()))
            found = connection.execute("SELECT SUBSTR(sale_date, 1, 4), SUM(amount) FROM sales GROUP BY 1").fetchall()
            assert found == [(str(year), sum(totals)) for year, totals in TOTALS.items()]
    assert dumps[0] == dumps[1]


def test_the_sample_shop_is_written_once_and_mended(tmp_path: Path) -> None:
    path = tmp_path / FILE
    sample_database(tmp_path)
    written = path.stat().st_mtime_ns
    sample_database(tmp_path)
    assert path.stat().st_mtime_ns == written
    path.write_bytes(b"broken")
    sample_database(tmp_path)
    assert path.read_bytes().startswith(b"SQLite format 3")
    assert [each.name for each in tmp_path.iterdir()] == [FILE]
