"""Archive, restore, maintain and health through the library's own face."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.api.homes import Home

one_store = pytest.mark.parametrize("home", ["sqlite"], indirect=True)
"""That every store keeps a cap is shown where it is cheap; this is about the library's own face."""


def test_upkeep_in_a_few_lines(home: Home) -> None:
    with home.memory(worker=False) as memory:  # or it might be there first
        kept = memory.add("Ana keeps bees on the roof")
        gone = memory.add("only for yesterday", expires_at=datetime.now(UTC) - timedelta(days=1))
        assert memory.health().counts == {"expired": 1}
        assert [step.id for step in memory.maintain(dry_run=True).plan.steps] == [gone.id]
        assert memory.maintain().done == {"expire": 1}
        assert memory.health().findings == ()
        memory.archive(kept.id or "")
        assert not memory.search("bees on the roof").hits
        assert [each.id for each in memory.list(statuses=("archived",))] == [kept.id]
        assert memory.restore(kept.id or "").manually_saved
        assert memory.search("bees on the roof").hits


@one_store
def test_what_a_program_adds_is_not_capped(home: Home) -> None:
    with home.memory() as memory:
        for number in range(230):
            memory.add(f"note {number} of the long list")
        assert memory.maintain().plan.steps == ()
        assert memory.list(limit=1).total == 230


@one_store
def test_closing_leaves_a_space_within_its_cap(home: Home) -> None:
    with home.memory() as memory:
        for number in range(203):
            memory.add(f"the parcel {number} stands in the hall", source="inferred")
    with home.memory() as memory:
        assert memory.list(limit=1).total == 200
        assert memory.list(limit=1, statuses=("archived",)).total == 3
