"""Log lines, as text for people or JSON for machines. Each carries the correlation id of the request it belongs to.

A line is one line: what would break it is escaped. Of an exception its kind and its place are logged, never its message: that
may quote what somebody stored.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

from recollect.doors.http import correlation

FRAMES = 8


class Correlated(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.correlation_id = getattr(record, "correlation_id", None) or correlation.current.get() or "-"
        return True


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = facts(record)
        head = f"{said.pop('time')} {said.pop('level')} {said.pop('logger')} [{said.pop('correlation_id')}]"
        message = said.pop("message")
        return _one_line(" ".join([f"{head} {message}", *(f"{name}={value}" for name, value in said.items())]))


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(facts(record), default=str)


def facts(record: logging.LogRecord) -> dict[str, Any]:
    said: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "correlation_id": getattr(record, "correlation_id", "-"),
        "message": record.getMessage(),
    }
    more = getattr(record, "facts", None)
    if isinstance(more, Mapping):
        said.update(more)
    if record.exc_info and record.exc_info[1] is not None:
        said.update(exception_facts(record.exc_info[1]))
    return said


def exception_facts(error: BaseException) -> dict[str, str]:
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    where = " < ".join(f"{_module(frame.filename)}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    return {"exception": type(error).__name__, "where": where}


def configure(format: str, stream: TextIO | None = None) -> None:
    """Take over what this process logs: ours from information upwards, of others only what is a warning or worse."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    handler.addFilter(Correlated())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("recollect").setLevel(logging.INFO)


def _module(filename: str) -> str:
    return "/".join(filename.replace("\\", "/").split("/")[-2:])


def _one_line(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
