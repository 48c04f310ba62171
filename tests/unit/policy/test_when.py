"""Time expressions: each phrase, asked on Wednesday 18 October 2023, and the days it means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.when import timed, windows

NOW = datetime(2023, 10, 18, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what happened in 2022?", "2022-01-01", "2023-01-01"),
        ("last May", "2023-05-01", "2023-06-01"),
        ("last December", "2022-12-01", "2023-01-01"),
        ("this October", "2023-10-01", "2023-11-01"),
        ("in August", "2023-08-01", "2023-09-01"),
        ("in November", "2022-11-01", "2022-12-01"),
        ("in May", "2023-05-01", "2023-06-01"),
        ("March 2023", "2023-03-01", "2023-04-01"),
        ("at the beginning of November 2022", "2022-11-01", "2022-11-11"),
        ("in late June", "2023-06-21", "2023-07-01"),
        ("on October 13, 2023", "2023-10-13", "2023-10-14"),
        ("8th December, 2022", "2022-12-08", "2022-12-09"),
        ("December 1,2022", "2022-12-01", "2022-12-02"),
        ("the 4th of July", "2023-07-04", "2023-07-05"),
        ("2023-05-07", "2023-05-07", "2023-05-08"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("the week before August 3, 2023", "2023-07-27", "2023-08-04"),
        ("two weeks before August 11, 2023", "2023-07-28", "2023-08-12"),
        ("yesterday", "2023-10-17", "2023-10-18"),
        ("the day before yesterday", "2023-10-16", "2023-10-17"),
        ("10 days ago", "2023-10-07", "2023-10-10"),
        ("two weeks ago", "2023-10-01", "2023-10-08"),
        ("a couple of weeks ago", "2023-09-27", "2023-10-12"),
        ("in the last 3 months", "2023-07-18", "2023-10-19"),
        ("last week", "2023-10-09", "2023-10-16"),
        ("last weekend", "2023-10-14", "2023-10-16"),
        ("this month", "2023-10-01", "2023-11-01"),
        ("last year", "2022-01-01", "2023-01-01"),
        ("on Monday", "2023-10-16", "2023-10-17"),
        ("last Wednesday", "2023-10-11", "2023-10-12"),
        ("next Friday", "2023-10-20", "2023-10-21"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("summer of 2022", "2022-06-01", "2022-09-01"),
        ("at Christmas", "2022-12-24", "2022-12-27"),
        ("2022年", "2022-01-01", "2023-01-01"),
        ("去年五月", "2022-05-01", "2022-06-01"),
        ("2025年10月", "2025-10-01", "2025-11-01"),
        ("10月份", "2023-10-01", "2023-11-01"),
        ("3月5日", "2023-03-05", "2023-03-06"),
        ("12月8日", "2022-12-08", "2022-12-09"),
        ("十一月", "2022-11-01", "2022-12-01"),
        ("1月中旬", "2023-01-11", "2023-01-21"),
        ("3月初", "2023-03-01", "2023-03-11"),
        ("从3月5日到3月8日", "2023-03-05", "2023-03-09"),
        ("上个月", "2023-09-01", "2023-10-01"),
        ("去年夏天", "2022-06-01", "2022-09-01"),
        ("去年底", "2022-11-01", "2023-01-01"),
        ("今年", "2023-01-01", "2024-01-01"),
        ("昨天", "2023-10-17", "2023-10-18"),
        ("前天", "2023-10-16", "2023-10-17"),
        ("上周三", "2023-10-11", "2023-10-12"),
        ("这周一", "2023-10-16", "2023-10-17"),
        ("周五", "2023-10-13", "2023-10-14"),
        ("上周末", "2023-10-14", "2023-10-16"),
        ("上周", "2023-10-09", "2023-10-16"),
        ("两周前", "2023-10-01", "2023-10-08"),
        ("最近三天", "2023-10-15", "2023-10-19"),
        ("国庆", "2023-10-01", "2023-10-08"),
    ],
)
def test_phrase(text: str, start: str, end: str) -> None:
    assert [(f"{w.start:%Y-%m-%d}", f"{w.end:%Y-%m-%d}") for w in windows(text, NOW)] == [(start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "march with us",
        "how many days ago did I call?",
        "每周一",
        "一周三次",
        "room 2",
        "",
        "9999999 years ago",
    ],
)
def test_no_phrase(text: str) -> None:
    assert windows(text, NOW) == []


def test_two_phrases_keep_their_order() -> None:
    first, second = windows("was it in March 2022 or in June 2021?", NOW)
    assert (first.start.year, second.start.year) == (2022, 2021)


def test_windows_keep_the_time_zone_of_now() -> None:
    assert windows("yesterday", NOW)[0].start.tzinfo is UTC


pieces = st.sampled_from(
    ["last", "May", "31", "February", "2023", "ago", "weeks", "two", "上", "周", "三", "月", "日", "年前", "十"]
)


@given(st.lists(pieces | st.text(max_size=8), max_size=8).map(" ".join), st.datetimes(timezones=st.just(UTC)))
def test_any_text_at_any_time_gives_well_formed_windows(text: str, now: datetime) -> None:
    assert all(window.start < window.end for window in windows(text, now))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("what did I plan last May, and with whom?", "what did i plan , and with whom?"),
        ("我上周三看了牙医", "我看了牙医"),
    ],
)
def test_what_is_said_beside_the_time_stays(text: str, rest: str) -> None:
    spans, beside = timed(text, NOW)
    assert spans
    assert beside.replace("\0", "") == rest


def test_a_text_without_a_time_is_left_as_it_is() -> None:
    assert timed("Which uv version do I use?", NOW) == ([], "Which uv version do I use?")
