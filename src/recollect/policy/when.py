"""Time expressions in a question, English and Chinese, resolved to windows on the calendar.

`windows("what did I plan last May?", now)` gives the half-open spans `[start, end)` the question speaks of, so that
ranking can prefer what was said then. A month or weekday without a year means its latest occurrence, the
current month included; a vague span ("a few days ago") gets a wide window. Unknown wording gives no window: a
missed expression costs a little ranking, an invented one hides the answer.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple


class Window(NamedTuple):
    """A half-open span of time, `start <= t < end`."""

    start: datetime
    end: datetime


_MONTHS = {name: i for i, names in enumerate(zip(calendar.month_name, calendar.month_abbr)) for name in names if name}
