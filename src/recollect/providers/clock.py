"""The machine's clock. Everything that asks for the time takes a `Clock`, so that tests can bring their
own.
"""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
