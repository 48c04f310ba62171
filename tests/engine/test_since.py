"""What is said of a change takes hold: of what was learnt, though no rule reads it, and of what was said, word for word."""

from __future__ import annotations

import pytest

from recollect.engine import Engine
from recollect.model import Filter, Listing, Query, Status
from tests.engine.conftest import ANA, anywhere


async def told(engine: Engine, *texts: str) -> list[str]:
    """What is remembered after these were said, each in a session of its own."""
    for place, text in enumerate(texts):
        await engine.take_in(ANA, f"s{place}", [{"role": "user", "content": text}])
    return [each.content for each in await engine.list(ANA, Listing())]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I'm vegetarian.", "I eat meat again."),
        ("I'm allergic to peanuts.", "I'm no longer allergic to peanuts."),
        ("I meditate every morning.", "I don't meditate anymore."),
        ("My mother lives in Kyiv.", "My mother moved to Warsaw."),
        ("Remember that my locker is 214.", "Actually, my locker is 241."),
        ("我对花生过敏。", "我不再对花生过敏。"),
    ],
)
@anywhere
async def test_what_ends_something_remembered_is_remembered_in_its_place(
    engine: Engine, before: str, after: str
) -> None:
    (now,) = await told(engine, before, after)
    assert now.rstrip(".。").casefold() in after.casefold()
    assert len(await engine.list(ANA, Listing(statuses=(Status.SUPERSEDED,)))) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I'm vegetarian.", "My brother eats meat again."),
        ("I'm vegetarian.", "Maybe I eat meat again next year."),
        ("I'm vegetarian.", "Should I eat meat again?"),
        ("I'm vegetarian.", 'My friend said "I eat meat again".'),
        ("I'm allergic to peanuts.", "I'm no longer allergic to cats."),
        ("My mother lives in Kyiv.", "My aunt moved to Warsaw."),
        ("我对花生过敏。", "我弟弟不再对花生过敏。"),
    ],
)
@anywhere
async def test_what_ends_something_else_changes_nothing(engine: Engine, before: str, after: str) -> None:
    assert before.rstrip(".。") in await told(engine, before, after)


@anywhere
async def test_a_change_that_changes_nothing_known_is_not_remembered(engine: Engine) -> None:
    assert await told(engine, "I eat meat again.") == []


@anywhere
async def test_what_one_likes_in_a_conversation_is_no_contradiction(engine: Engine) -> None:
    assert sorted(await told(engine, "I like sushi.", "I like ramen.")) == ["I like ramen", "I like sushi"]
    assert not await engine.conflicts(ANA)


@anywhere
async def test_what_was_said_is_marked_when_its_memory_was_replaced(engine: Engine) -> None:
    await told(engine, "I live in Leeds.", "I've just moved to York.", "I moved to Hull last week.")
    first, *others = await engine.recall(ANA, Query(text="Where do I live?"))
    assert "Hull" in first.content
    assert [hit.outdated_by == first.target for hit in others if "Leeds" in hit.content] == [True]


@anywhere
async def test_what_says_more_than_what_was_replaced_is_shown_behind_and_not_marked(engine: Engine) -> None:
    await told(engine, "I live in Leeds. My sister plays the oboe.", "I've just moved to York.")
    hits = list(await engine.recall(ANA, Query(text="Where do I live?")))
    assert "York" in hits[0].content
    assert [hit.outdated_by for hit in hits if "Leeds" in hit.content] == [None]


@anywhere
async def test_what_replaced_something_else_that_was_said_along_is_no_answer(engine: Engine) -> None:
    await told(engine, "I live in Leeds. The oboe of my sister is red.", "I've just moved to York.")
    hits = list(await engine.recall(ANA, Query(text="What colour is the oboe?")))
    assert "oboe" in hits[0].content
    assert not any("York" in hit.content for hit in hits)


@pytest.mark.parametrize(
    "query",
    [Query(text="Where did I live previously?"), Query(text="Where do I live?", filter=Filter(kinds=("message",)))],
)
@anywhere
async def test_who_asks_how_it_was_or_for_messages_alone_is_shown_what_was_said(engine: Engine, query: Query) -> None:
    await told(engine, "I live in Leeds.", "I've just moved to York.")
    first, *_ = await engine.recall(ANA, query)
    assert "Leeds" in first.content
    assert first.outdated_by is None


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        ("I live in Leeds.", "No, I meant Leicester.", "I live in Leicester"),
        ("My flight is on Monday.", "Actually it's on Tuesday.", "My flight is on Tuesday"),
        ("我的生日是三月五号。", "我说错了，是三月六号。", "我的生日是三月六号"),
        ("I live in Leeds.", "Actually it's raining.", "I live in Leeds"),
        ("I live in Leeds.", "No, I meant 42.", "I live in Leeds"),
        ("I live in Leeds.", "What do you mean?", "I live in Leeds"),
    ],
)
@anywhere
async def test_a_word_that_was_wrong_is_put_right_in_what_was_said_just_before(
    engine: Engine, before: str, after: str, now: str
) -> None:
    said = [(before, "user"), ("I see.", "assistant"), (after, "user")]
    await engine.take_in(ANA, "s", [{"role": role, "content": text} for text, role in said])
    assert [each.content for each in await engine.list(ANA, Listing())] == [now]
