"""Log lines: one line each, whatever is in them, and never the words of an exception."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from recollect.doors.http import correlation
from recollect.doors.http.logs import Correlated, JsonLines, TextLines

HOSTILE = "a\nb\r\x1b[31mc\u2028d"


def record(message: str, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("recollect.http", logging.INFO, __file__, 1, message, (), None)
    vars(made).update(more)
    Correlated().filter(made)
    return made


@pytest.mark.parametrize("lines", [TextLines(), JsonLines()])
def test_a_line_is_one_line(lines: logging.Formatter) -> None:
    said = lines.format(record(HOSTILE, facts={"route": HOSTILE}))
    assert said.isprintable()
    assert len(said.splitlines()) == 1


def test_the_correlation_id_is_that_of_the_request() -> None:
    token = correlation.current.set("c-1")
    try:
        assert json.loads(JsonLines().format(record("hello")))["correlation_id"] == "c-1"
    finally:
        correlation.current.reset(token)
    assert "[-] hello" in TextLines().format(record("hello"))


@pytest.mark.parametrize("lines", [TextLines(), JsonLines()])
def test_an_exception_is_told_by_kind_and_place(lines: logging.Formatter) -> None:
    try:
        raise ValueError("what somebody stored")
    except ValueError as problem:
        said = lines.format(record("unexpected", exc_info=(type(problem), problem, problem.__traceback__)))
    assert "ValueError" in said
    assert "test_logs.py" in said
    assert "somebody" not in said


def test_a_process_that_serves_says_ours_and_others_warnings() -> None:
    script = (
        "import logging; from recollect.doors.http import logs; logs.configure('json');"
        "logging.getLogger('recollect.http').info('ours');"
        "logging.getLogger('httpx').info('GET https://x/?secret');"
        "logging.getLogger('uvicorn.error').warning('theirs')"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60).stderr
    assert [json.loads(line)["message"] for line in said.splitlines()] == ["ours", "theirs"]
