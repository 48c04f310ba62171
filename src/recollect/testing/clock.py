"""A clock that stands still until told to move, so that expiry, leases and decay can be tested exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(2025, 1, 1, 12, 0, tzinfo=UTC)


class ManualClock:
    """Time as the test decides. It never goes backwards, because no real clock it stands for is meant to."""

    def __init__(self, start: datetime = _START) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Let `by` pass, and return the new present."""
        if by < timedelta(0):
            raise ValueError("time does not go backwards")
        self._now += by
        return self._now
