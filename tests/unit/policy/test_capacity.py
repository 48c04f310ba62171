"""The planner of upkeep: what goes, in which order, and why; and what no plan may ever name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Conversation, Memory, Scores, Source, SpaceSettings, Status
from recollect.policy.capacity import Rules, conversations_over, current_scores, leftovers, plan

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def memory(id: str, age: float = 1, **fields: Any) -> Memory:
    created = NOW - age * DAY
    given: dict[str, Any] = {"source": Source.INFERRED, "created_at": created, "updated_at": created}
    return Memory(id=id, content=id, **{**given, **fields})


def capped(cap: int) -> SpaceSettings:
    return SpaceSettings(soft_cap=cap)


def taken(memories: Sequence[Memory], settings: SpaceSettings, rules: Rules | None = None) -> list[tuple[str, str]]:
    return [(step.action, step.id or "") for step in plan(memories, settings, NOW, rules).steps]


def scored(total: float, hours: float = 1) -> Scores:
    at = NOW - timedelta(hours=hours)
    return Scores(relevance=total, recency=0.0, importance=0.0, total=total, computed_at=at)


def test_below_the_cap_nothing_goes_and_without_a_cap_nothing_ever() -> None:
    many = [memory(f"m{n}") for n in range(10)]
    assert taken(many, capped(10)) == []
    assert taken(many, capped(0)) == []


def test_the_lowest_scores_go_and_the_reason_is_in_numbers() -> None:
    held = [memory("old", 60), memory("new", 0), memory("dear", 60, importance=1.0)]
    (step,) = plan(held, capped(2), NOW).steps
    assert (step.action, step.id) == ("archive", "old")
    assert step.why == (
        "of 3 that came in by themselves 1 are beyond the cap of 2; this one is number 1 from below with a score of 0.500 "
        "(relevance 0.00 + recency 0.000 + importance 0.50)"
    )


def test_cached_totals_decide_while_they_are_fresh() -> None:
    held = [memory("a", 0, last_scores=scored(0.1)), memory("b", 300, last_scores=scored(2.5)), memory("c", 1)]
    assert taken(held, capped(2)) == [("archive", "a")]


def test_missing_and_stale_scores_are_worked_out_anew_without_relevance() -> None:
    held = [memory("a", 7, last_scores=scored(3.0, hours=25)), memory("b", 7), memory("c", 0, last_scores=scored(9))]
    made = plan(held, capped(2), NOW)
    assert made.scores.keys() == {"a", "b"}
    assert made.scores["a"] == made.scores["b"]
    assert made.scores["a"].relevance == 0.0
    assert made.scores["a"].computed_at == NOW
    assert abs(made.scores["a"].recency - 0.36787944) < 1e-6
    assert made.scores["a"].total == made.scores["a"].recency + 0.5
    assert current_scores(held[2], NOW) is held[2].last_scores


def test_what_was_handed_over_in_person_does_not_count() -> None:
    given = [memory(f"g{n}", 100, source=Source.USER_STATED) for n in range(5)]
    imported = [memory(f"i{n}", 100, source=Source.IMPORT) for n in range(5)]
    heard = [memory(f"h{n}", n, source=Source.USER_STATED, source_conversation_id="c") for n in range(3)]
    assert taken([*given, *imported, *heard], capped(2)) == [("archive", "h2")]


def test_what_has_expired_leaves_room_for_the_rest() -> None:
    held = [memory("over", expires_at=NOW), memory("later", expires_at=NOW + DAY), memory("b"), memory("c")]
    assert taken(held, capped(3)) == [("expire", "over")]
    pinned = memory("pinned", pinned=True, expires_at=NOW - DAY)
    assert taken([pinned], capped(3)) == [("expire", "pinned")], "the date was set for this very memory"


def test_the_archive_ends_after_its_time() -> None:
    def archived(id: str, days: float, **fields: Any) -> Memory:
        return memory(id, 500, status=Status.ARCHIVED, updated_at=NOW - days * DAY, **fields)

    held = [
        archived("young", 179.9),
        archived("old", 180),
        archived("pinned", 400, pinned=True),
        archived("saved", 400, manually_saved=True),
        memory("history", 500, status=Status.SUPERSEDED),
    ]
    assert taken(held, capped(1)) == [("remove", "old")]
    assert taken(held, capped(1), Rules(archived_for=None)) == []


def test_eviction_is_off_unless_configured_and_goes_by_confidence_then_by_last_access() -> None:
    held = [
        memory("sure", 50, confidence=0.9),
        memory("doubtful", 1, confidence=0.2),
        memory("used", 50, confidence=0.5, last_accessed=NOW),
        memory("unused", 40, confidence=0.5),
        memory("pinned", 900, confidence=0.0, pinned=True),
    ]
    assert taken(held, capped(0)) == []
    assert taken(held, capped(0), Rules(eviction_threshold=3)) == [("archive", "doubtful"), ("archive", "unused")]
    assert taken(held, capped(0), Rules(eviction_threshold=5)) == []


def test_where_nothing_may_be_tidied_only_ends_are_kept() -> None:
    held = [memory("over", expires_at=NOW), *(memory(f"m{n}") for n in range(5))]
    made = plan(held, capped(1), NOW, Rules(eviction_threshold=1), tidy=False)
    assert [step.action for step in made.steps] == ["expire"]


def test_conversations_end_at_their_own_time_or_with_their_spaces_patience() -> None:
    def talk(id: str, idle: float, expires: datetime | None = None) -> Conversation:
        return Conversation(id=id, created_at=NOW - 99 * DAY, updated_at=NOW - idle * DAY, expires_at=expires)

    talks = [talk("over", 0, NOW), talk("later", 0, NOW + DAY), talk("idle", 31), talk("going", 29)]
    assert [step.id for step in conversations_over(talks, SpaceSettings(), NOW)] == ["over"]
    kept = SpaceSettings(retention_days=30)
    assert [step.id for step in conversations_over(talks, kept, NOW)] == ["over", "idle"]


def test_leftovers_are_counted() -> None:
    assert leftovers(0, 0, DAY) == ()
    assert [(step.action, step.count) for step in leftovers(2, 3, DAY)] == [
        ("drop_tombstones", 2),
        ("drop_sessions", 3),
    ]


MEMORIES = st.lists(
    st.builds(
        lambda age, **fields: memory("", age, **fields),
        age=st.floats(0, 400),
        source=st.sampled_from(Source),
        pinned=st.booleans(),
        manually_saved=st.booleans(),
        status=st.sampled_from(Status),
        confidence=st.floats(0, 1),
        importance=st.floats(0, 1),
        source_conversation_id=st.sampled_from([None, "c"]),
        last_scores=st.none() | st.builds(scored, st.floats(0, 3), st.floats(0, 100)),
    ),
    max_size=40,
)


@given(MEMORIES, st.integers(0, 20), st.none() | st.integers(1, 20))
def test_no_plan_ever_names_what_somebody_asked_to_be_kept(
    drawn: list[Memory], cap: int, threshold: int | None
) -> None:
    held = {f"m{n}": replace(each, id=f"m{n}") for n, each in enumerate(drawn)}
    steps = plan(held.values(), capped(cap), NOW, Rules(eviction_threshold=threshold)).steps
    named = [held[step.id or ""] for step in steps]
    assert not any(each.pinned or each.manually_saved or each.source is Source.MANUAL for each in named)
    assert len({each.id for each in named}) == len(named), "nothing goes twice"
    left = [each for each in held.values() if each.captured and each.status is Status.ACTIVE and each not in named]
    assert not cap or len(left) <= cap
    again = plan(reversed(held.values()), capped(cap), NOW, Rules(eviction_threshold=threshold)).steps
    assert {step.id for step in again} == {step.id for step in steps}, "the order of reading decides nothing"
