"""Ids sort by time; delays grow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from recollect.policy.backoff import LONGEST, delay
from recollect.policy.ids import new_id


def test_ids_are_version_7_unique_and_in_order() -> None:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    ids = [new_id(start + timedelta(milliseconds=n)) for n in range(1000)]
    assert ids == sorted(set(ids))
    assert {UUID(id).version for id in ids} == {7}
    assert {UUID(id).variant for id in ids} == {"specified in RFC 4122"}


def test_delays_double_up_to_an_hour_with_jitter() -> None:
    for attempts in range(40):
        seconds = [delay(attempts, Random(seed)).total_seconds() for seed in range(20)]
        full = min(2.0 * 2**attempts, LONGEST.total_seconds())
        assert full / 2 <= min(seconds) < max(seconds) <= full
