"""Follow-up questions without a model, asked of the sample shop: the rows must be right, or the answer must say why not."""

from __future__ import annotations

import pytest

from recollect.model import DataAccess
from recollect.providers.answerers import RuleAnswerer
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.rules import Adapted, Cannot, adapt, begin
from recollect.providers.answerers.schema import Column, Link, Schema, Table
from tests.answerers.asking import Talk, rows

FIRST = "Show me total sales by region for 2024"
IN_2024 = [["East", 2100000], ["North", 2500000], ["South", 1800000], ["West", 1600000]]
IN_2023 = [["East", 1900000], ["North", 2200000], ["South", 1500000], ["West", 1400000]]


async def test_the_dialogue_of_the_contract(database: Database) -> None:
    """The two questions everything began with, on both databases."""
    talk = Talk(RuleAnswerer(database))
    first = await talk.ask(FIRST)
    assert rows(first) == IN_2024
    assert first.answer.startswith("The total sales by region for 2024:")
    assert "- North: 2,500,000" in first.answer
    assert sorted(first.tables) == ["regions", "sales"]
    assert first.sql.startswith("SELECT r.region_name, SUM(s.amount) AS total_sales FROM sales AS s JOIN regions AS r")
    second = await talk.ask("What about 2023?")
    assert second.answered
    assert rows(second) == IN_2023
    assert "2023" in second.sql
    assert "2024" not in second.sql
    assert "2024 → 2023" in second.explanation
    assert second.related


FOLLOW_UPS = [
    ("And for the South?", [["South", 1800000]]),
    ("South and East only", [["East", 2100000], ["South", 1800000]]),
    ("excluding the North", [["East", 2100000], ["South", 1800000], ["West", 1600000]]),
    ("except South and East", [["North", 2500000], ["West", 1600000]]),
    ("not in the South, the West or in East", [["North", 2500000]]),
    ("the year before?", IN_2023),
    ("Only the top 2", [["East", 2100000], ["North", 2500000]]),
    ("bottom 1", [["West", 1600000]]),
    ("which one has the most?", [["North", 2500000]]),
    ("only those over 2000000", [["East", 2100000], ["North", 2500000]]),
    ("average instead of total", [["East", 35000], ["North", 41666.67], ["South", 30000], ["West", 26666.67]]),
    ("how many sales?", [["East", 60], ["North", 60], ["South", 60], ["West", 60]]),
    ("for all years", [["East", 8100000], ["North", 9300000], ["South", 6600000], ["West", 5900000]]),
    ("what about before 2023?", [["East", 1700000], ["North", 1900000], ["South", 1300000], ["West", 1200000]]),
    ("2023年呢？", IN_2023),
    ("只看South", [["South", 1800000]]),
    ("前2名", [["East", 2100000], ["North", 2500000]]),
    ("除了South和East以外呢", [["North", 2500000], ["West", 1600000]]),
    ("除了North以外呢", [["East", 2100000], ["South", 1800000], ["West", 1600000]]),
    ("换成平均值", [["East", 35000], ["North", 41666.67], ["South", 30000], ["West", 26666.67]]),
]


@pytest.mark.parametrize(("question", "expected"), FOLLOW_UPS)
async def test_follow_ups_give_the_right_rows(shop: Database, question: str, expected: list[list[object]]) -> None:
    talk = Talk(RuleAnswerer(shop))
    await talk.ask(FIRST)
    answer = await talk.ask(question)
    assert answer.answered, answer.answer
    rounded = [[round(each, 2) if isinstance(each, float) else each for each in row] for row in rows(answer)]
    assert rounded == expected


async def test_a_long_talk_keeps_what_was_not_changed(shop: Database) -> None:
    talk = Talk(RuleAnswerer(shop))
    await talk.ask(FIRST)
    assert rows(await talk.ask("And for the South?")) == [["South", 1800000]]
    assert rows(await talk.ask("What about 2023?")) == [["South", 1500000]]
    assert rows(await talk.ask("for all regions")) == IN_2023
    march = await talk.ask("March")
    assert sum(amount for _, amount in rows(march)) < 1_000_000
    quarter = await talk.ask("and the first quarter?")
    assert sum(amount for _, amount in rows(quarter)) > sum(amount for _, amount in rows(march))
    by_product = await talk.ask("by product instead")
    assert {name for name, _ in rows(by_product)} <= {"Home loan", *(name for name, _ in rows(by_product))}
    assert sum(amount for _, amount in rows(by_product)) == sum(amount for _, amount in rows(quarter))
    assert "product_name" in by_product.sql
    loans = await talk.ask("Loans only")
    assert {name for name, _ in rows(loans)} == {"Car loan", "Home loan", "Student loan"}


async def test_grouping_by_periods_adds_up(database: Database) -> None:
    talk = Talk(RuleAnswerer(database))
    await talk.ask(FIRST)
    for question in ("by month", "by quarter", "by year", "按月统计"):
        answer = await talk.ask(question)
        assert answer.answered, answer.answer
        assert sum(amount for _, amount in rows(answer)) == 8_000_000, question


async def test_quarters_are_quarters(database: Database) -> None:
    talk = Talk(RuleAnswerer(database))
    await talk.ask("total sales for 2024")
    found = [rows(await talk.ask(f"what about Q{quarter}?"))[0][0] for quarter in (1, 2, 3, 4)]
    assert sum(found) == 8_000_000


FIRSTS = [
    ("How many customers are there?", [[16]]),
    ("total sales", [[29900000]]),
    ("What is the highest list price?", [[5200]]),
    ("number of sales by region", [["East", 240], ["North", 240], ["South", 240], ["West", 240]]),
    ("average amount by region in 2024", [["East", 35000], ["North", 41666.67], ["South", 30000], ["West", 26666.67]]),
    ("show sales by region for 2023", IN_2023),
    ("top 2 regions by total sales in 2024", [["East", 2100000], ["North", 2500000]]),
]


@pytest.mark.parametrize(("question", "expected"), FIRSTS)
async def test_first_questions(shop: Database, question: str, expected: list[list[object]]) -> None:
    answer = await Talk(RuleAnswerer(shop)).ask(question)
    assert answer.answered, answer.answer
    rounded = [[round(each, 2) if isinstance(each, float) else each for each in row] for row in rows(answer)]
    assert rounded == expected


CANNOT = [
    ("and the weather?", "weather"),
    ("what about Atlantis?", "atlantis"),
    ("for all regions", "nothing"),
    ("in 2022 and 2023", "more than one year"),
    ("南方呢？", "南方"),
    ("compare it with our competitors", "compare"),
    ("sort by colour", "colour"),
    ("more than 5 products", "products"),
]


@pytest.mark.parametrize(("question", "why"), CANNOT)
async def test_what_is_not_understood_is_said(shop: Database, question: str, why: str) -> None:
    talk = Talk(RuleAnswerer(shop))
    await talk.ask(FIRST)
    answer = await talk.ask(question)
    assert not answer.answered
    assert why in answer.answer.lower()
    assert not answer.sql
    assert not answer.result


async def test_no_question_before_and_nothing_plain(shop: Database) -> None:
    answer = await Talk(RuleAnswerer(shop)).ask("What about 2023?")
    assert not answer.answered
    assert "which figure" in answer.answer


async def test_lost_tables_can_not_be_asked_about(shop: Database) -> None:
    """The query before read a table that is not granted any more: it is not adapted, and its name not told."""
    before = await Talk(RuleAnswerer(shop)).ask(FIRST)
    schema = await shop.schema()
    only_sales = schema.only(lambda table: table.name == "sales")
    assert isinstance(adapt(before.sql, "What about 2023?", only_sales, "sqlite"), Cannot)
    nothing = await Talk(RuleAnswerer(shop), DataAccess(tables=frozenset())).ask(FIRST)
    assert not nothing.answered
    assert "sales" not in nothing.answer


SHOP = Schema(
    (
        Table(
            "orders",
            (
                Column("amount", "number"),
                Column("day", "date"),
                Column("city"),
                Column("store_id", "number", key=True),
            ),
            (Link("store_id", "stores", "id"),),
        ),
        Table("stores", (Column("id", "number", key=True), Column("name", values=("Paris", "Lyon")), Column("owner"))),
    )
)

ADAPTED = [
    ("SELECT SUM(amount) FROM orders WHERE YEAR(day) = 2024", "2023?", "YEAR(day) = 2023"),
    ("SELECT SUM(amount) FROM orders WHERE EXTRACT(YEAR FROM day) = 2024", "2023?", "EXTRACT(YEAR FROM day) = 2023"),
    ("SELECT SUM(amount) FROM orders WHERE STRFTIME('%Y', day) = '2024'", "2023?", "STRFTIME('%Y', day) = '2023'"),
    (
        "SELECT SUM(amount) FROM orders WHERE day >= '2024-01-01' AND day < '2025-01-01'",
        "What about 2023?",
        "day >= '2023-01-01' AND day < '2024-01-01'",
    ),
    (
        "SELECT SUM(amount) FROM orders WHERE day BETWEEN '2024-03-01' AND '2024-03-31'",
        "and February?",
        "BETWEEN '2024-02-01' AND '2024-02-29'",
    ),
    ("SELECT SUM(amount) FROM orders WHERE city = 'Rome'", "What about Milan?", "city = 'Milan'"),
    ("SELECT city FROM orders", "also show their amount", "SELECT city, amount FROM orders"),
    ("SELECT city FROM orders", "how many are there?", "SELECT COUNT(*) FROM orders"),
    ("SELECT city, SUM(amount) AS t FROM orders GROUP BY city", "sort them in descending order", "ORDER BY t DESC"),
    ("SELECT city, SUM(amount) AS t FROM orders GROUP BY city", "for Paris", "stores AS s ON orders.store_id = s.id"),
    ("SELECT city FROM orders WHERE amount > 10", "less than 5?", "amount < 5"),
    ("SELECT city FROM orders WHERE amount > 10", "without the amount condition", "SELECT city FROM orders"),
    (
        "SELECT city FROM orders",
        "for each of them, how many orders?",
        "SELECT city, COUNT(*) FROM orders GROUP BY city",
    ),
]


@pytest.mark.parametrize(("before", "question", "expected"), ADAPTED)
def test_sql_keeps_its_own_manner(before: str, question: str, expected: str) -> None:
    found = adapt(before, question, SHOP, "sqlite")
    assert isinstance(found, Adapted), found
    assert expected in found.sql


AMBIGUOUS = [
    ("SELECT city FROM orders WHERE amount > 10 AND store_id > 3", "over 5?", "more than one number"),
    ("SELECT SUM(amount), AVG(amount) FROM orders", "the maximum instead", "more than one figure"),
    ("SELECT city FROM orders", "top 5", "ranked"),
    ("SELECT name FROM stores", "for 2023", "no date"),
    ("SELECT a FROM b", "for 2023", "can't read"),
    ("SELECT city FROM (SELECT city FROM orders) AS x", "for 2023", "not one plain"),
    ("DELETE FROM orders", "for 2023", "not one plain"),
    ("SELECT (((", "for 2023", "can't read"),
]


@pytest.mark.parametrize(("before", "question", "why"), AMBIGUOUS)
def test_what_is_ambiguous_is_named(before: str, question: str, why: str) -> None:
    found = adapt(before, question, SHOP, "sqlite")
    assert isinstance(found, Cannot)
    assert why in found.why


def test_chinese_tables_are_asked_in_chinese() -> None:
    company = Table(
        "企业", (Column("公司名"), Column("行业领域", values=("互联网", "金融")), Column("注册资本（万）", "number"))
    )
    schema = Schema((company,))
    first = begin("平均注册资本是多少？", schema, "sqlite")
    assert isinstance(first, Adapted)
    assert first.sql.startswith("SELECT AVG(")
    for question, expected in [
        ("只看互联网呢？", "行业领域 = '互联网'"),
        ("最大呢？", "MAX("),
        ("按行业领域", "GROUP BY 行业领域"),
        ("平均也一起告诉我", "AVG("),
        ("注册资本超过五百万的呢？", "> 500"),
    ]:
        found = adapt('SELECT MIN("注册资本（万）") FROM 企业', question, schema, "sqlite")
        assert isinstance(found, Adapted), found
        assert expected in found.sql.replace('"', "")


def test_a_chinese_word_is_not_lost_because_its_characters_mean_nothing() -> None:
    """在 and 位 are filler, 在位 (to reign) is not: nothing here is about reigning."""
    emperors = Schema((Table("帝王", (Column("姓名"), Column("朝代"), Column("年数", "number"))),))
    found = adapt("SELECT 朝代, COUNT(*) FROM 帝王 GROUP BY 朝代", "那在位超过五十的呢？", emperors, "sqlite")
    assert isinstance(found, Cannot)
    assert "在位" in found.why


ODD = ["", " ", "\ud800", "那\udfff呢", "?" * 500, "\x00", "((((", "2024" * 50, "🙂", "'; DROP TABLE sales; --"]


@pytest.mark.parametrize("question", ODD)
def test_odd_questions_break_nothing(question: str) -> None:
    assert isinstance(adapt("SELECT city FROM orders", question, SHOP, "sqlite"), Cannot)
    assert isinstance(begin(question, SHOP, "sqlite"), Cannot)
