"""What is found for one question, held against itself: the later word counts, and nothing is told twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.model import Hit, Memory, MemoryType, Message
from recollect.policy.latest.stated import standing

DAY = datetime(2026, 1, 1, 9, tzinfo=UTC)


def said(text: str, day: int, role: str = "user") -> Hit:
    at = DAY + timedelta(days=day)
    message = Message(id=f"t{day}", session_id="s", order=day, role=role, content=text, created_at=at)
    return Hit(message=message, relevance=0.9, score=1.0)


def remembered(text: str, day: int, source: str | None = None) -> Hit:
    at = DAY + timedelta(days=day)
    memory = Memory(
        id=f"m{day}", content=text, type=MemoryType.FACT, created_at=at, updated_at=at, source_message_id=source
    )
    return Hit(memory=memory, relevance=0.9, score=1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Leipzig.", "I moved, I live in Graz now."),
        ("I work at Fennbright.", "I changed jobs: I work at Ostrava Robotics now."),
        ("The budget for the kitchen is 8000 euros.", "The budget for the kitchen is 9500 euros now, the bank agreed."),
        ("The design review is on Mondays.", "The design review moved: it is on Wednesdays from now on."),
        ("我住在杭州。", "我搬家了，现在住在成都。"),
    ],
)
def test_what_was_said_later_replaces_what_was_said_before_of_the_same_matter(old: str, new: str) -> None:
    found = standing([said(old, 1), said("The cat is asleep.", 2), said(new, 9)])
    assert [hit.content for hit in found.hits] == ["The cat is asleep.", new]
    assert [(each.content, each.disputed) for each in found.earlier["t9"]] == [(old, False)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Leipzig.", "My brother lives in Graz now."),
        ("I like tea.", "I like coffee now."),
        ("I live in Leipzig.", "Do you live in Graz now?"),
        ("The design review is on Mondays.", "The code review moved: it is on Wednesdays from now on."),
    ],
)
def test_what_concerns_another_matter_leaves_both_standing(old: str, new: str) -> None:
    hits = [said(old, 1), said(new, 9)]
    assert standing(hits).hits == hits


def test_an_assistant_outdates_nobody_and_neither_does_an_older_word() -> None:
    hits = [said("I live in Leipzig.", 9), said("You live in Graz now.", 10, role="assistant")]
    assert standing(hits).hits == hits
    late = [said("I live in Graz now.", 1), said("I live in Leipzig.", 9)]
    assert [hit.content for hit in standing(late).hits] == ["I live in Leipzig."]


def test_a_memory_speaks_for_the_message_it_was_taken_from() -> None:
    message, memory = said("I live in Graz now.", 3), remembered("I live in Graz", 4, source="t3")
    assert standing([message, said("Snow today.", 5), memory]).hits == [memory, said("Snow today.", 5)]
    order = said("Please remember that the gate is green", 3)
    assert standing([order, saved := remembered("the gate is green", 4, source="t3")]).hits == [saved]
    more = said("I live in Graz now and keep bees on the roof.", 3)
    assert standing([more, memory]).hits == [more, memory]


def test_two_memories_are_left_as_the_engine_left_them() -> None:
    hits = [remembered("I live in Leipzig", 1), remembered("I live in Graz now", 9)]
    assert standing(hits).hits == hits
