"""What can't both be true: the later one stays where that is sure, somebody is asked where it isn't, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from recollect.engine import Engine
from recollect.errors import InvalidInput, NotFound, Unavailable
from recollect.model import Listing, Query, Receipt, Scope, Status
from recollect.ports import Judgement
from tests.engine.conftest import ANA, anywhere

THEN = datetime(2025, 1, 1, tzinfo=UTC)


async def tell(engine: Engine, *texts: str, **fields: Any) -> list[Receipt]:
    return [await engine.remember(ANA, {"content": text, **fields}) for text in texts]


async def current(engine: Engine) -> list[str]:
    return sorted([each.content for each in await engine.list(ANA, Listing())])


async def history(engine: Engine) -> list[str]:
    return sorted([each.content for each in await engine.list(ANA, Listing(statuses=(Status.SUPERSEDED,)))])


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        ("The standup is at 9", "The standup is at 10", "When is the standup?"),
        ("The standup is at 9", "Standup moved to 10", "When is the standup?"),
        ("I live in Paris", "I moved to Berlin", "When was it that I moved to Berlin?"),
        ("My favourite colour is blue", "My favourite colour is green", "What is my favourite colour?"),
        ("I like tea", "I no longer like tea", "Do I like tea?"),
        ("例会是9点", "例会改到10点了", "例会是几点？"),
        ("我住在北京", "我搬到上海了", "我什么时候搬到上海？"),
    ],
)
@anywhere
async def test_a_changed_value_supersedes_the_old_one(engine: Engine, before: str, after: str, question: str) -> None:
    old, new = await tell(engine, before, after)
    assert (new.outcome, new.replaces, new.conflicts, new.confirm) == ("superseded", old.id, (), None)
    assert (await current(engine), await history(engine)) == ([after], [before])
    assert [hit.content for hit in await engine.recall(ANA, Query(text=question))] == [after]
    assert [each.id for each in (await engine.why(ANA, new.id or "")).history] == [old.id]


@pytest.mark.parametrize(
    ("before", "after"),
    [("I like tea", "I like coffee"), ("I have a meeting at 9", "I have a meeting at 10"), ("我喜欢茶", "我喜欢咖啡")],
)
async def test_where_it_is_not_sure_both_stay_and_somebody_is_asked(engine: Engine, before: str, after: str) -> None:
    old, new = await tell(engine, before, after)
    assert (new.outcome, new.conflicts) == ("stored", (old.id,))
    assert new.confirm is not None
    assert before in new.confirm
    assert after in new.confirm
    assert await current(engine) == sorted([before, after])
    ((later, earlier),) = await engine.conflicts(ANA)
    assert (later.id, earlier.id) == (new.id, old.id)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The meeting with Ana is at 9", "The meeting with Bo is at 10"),
        ("I ran 5 km yesterday", "I ran 6 km yesterday"),
        ("Ana lives in Rome", "Bo lives in Oslo"),
        ("I work at Nokia", "I also work at a bakery"),
        ("I live in Berlin", "I live in Berlin, Germany"),
        ("我去过北京", "我去过上海"),
    ],
)
@anywhere
async def test_what_may_be_true_side_by_side_stays_without_a_word(engine: Engine, before: str, after: str) -> None:
    _, new = await tell(engine, before, after)
    assert (new.outcome, new.conflicts, new.confirm) == ("stored", (), None)
    assert await current(engine) == sorted([before, after])


async def test_whoever_has_two_may_have_three(engine: Engine) -> None:
    receipts = await tell(engine, "I like tea", "I like coffee", "I like milk", "I like juice")
    assert [len(each.conflicts) for each in receipts] == [0, 1, 0, 0]


async def test_of_a_text_with_two_facts_the_other_may_still_be_true(engine: Engine) -> None:
    old, new = await tell(engine, "I live in Paris. I have two cats.", "I moved to Berlin")
    assert (new.outcome, new.conflicts) == ("stored", (old.id,))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"pinned": True}, {}),
        ({"key": "home"}, {}),
        ({"source": "user_stated"}, {"source": "inferred"}),
        ({"role": "user"}, {"role": "assistant"}),
    ],
)
async def test_what_its_owner_holds_to_is_not_replaced_by_less(engine: Engine, before: Any, after: Any) -> None:
    (old,) = await tell(engine, "I live in Paris", **before)
    (new,) = await tell(engine, "I live in Berlin", **after)
    assert (new.outcome, new.conflicts) == ("stored", (old.id,))


@pytest.mark.parametrize("order", list(permutations(range(3))))
@anywhere
async def test_whatever_comes_first_the_latest_is_current(engine: Engine, order: Sequence[int]) -> None:
    cities = ("Paris", "Berlin", "Oslo")
    for place in order:
        await engine.remember(
            ANA,
            {"content": f"I live in {cities[place]}", "created_at": THEN + timedelta(days=place), "id": cities[place]},
        )
    assert await current(engine) == ["I live in Oslo"]
    assert [each.id for each in (await engine.why(ANA, "Oslo")).history] == ["Berlin", "Paris"]


async def test_a_question_can_be_answered_either_way(engine: Engine) -> None:
    for keep, stays, goes in ((1, "I like coffee", "I like tea"), (0, "I like tea", "I like coffee")):
        receipts = await tell(engine, "I like tea", "I like coffee")
        kept = await engine.resolve_conflict(ANA, receipts[1].id or "", keep=receipts[keep].id or "")
        assert kept.content == stays
        assert (await current(engine), await history(engine)) == ([stays], [goes])
        assert list(await engine.conflicts(ANA)) == []
        assert [each.content for each in (await engine.why(ANA, kept.id)).history] == [goes]
        await engine.store.write(ANA, lambda tx: tx.erase())


async def test_both_may_be_true(engine: Engine) -> None:
    _, new = await tell(engine, "I like tea", "I like coffee")
    await engine.resolve_conflict(ANA, new.id or "", keep="both")
    assert await current(engine) == ["I like coffee", "I like tea"]
    assert list(await engine.conflicts(ANA)) == []
    with pytest.raises(NotFound):
        await engine.resolve_conflict(ANA, new.id or "", keep="both")


@pytest.mark.parametrize(
    ("keep", "stays"), [("both", ["I live in Berlin", "I live in Paris"]), ("old", ["I live in Paris"])]
)
async def test_a_wrong_replacement_can_be_taken_back(engine: Engine, keep: str, stays: list[str]) -> None:
    old, new = await tell(engine, "I live in Paris", "I live in Berlin")
    await engine.resolve_conflict(ANA, new.id or "", keep=keep if keep == "both" else old.id or "")
    assert await current(engine) == stays
    found = [hit.content for hit in await engine.recall(ANA, Query(text="I live in Paris"))]
    assert "I live in Paris" in found


async def test_only_those_in_question_can_be_kept(engine: Engine) -> None:
    _, new, other = await tell(engine, "I like tea", "I like coffee", "The sky is wide")
    with pytest.raises(InvalidInput):
        await engine.resolve_conflict(ANA, new.id or "", keep=other.id or "")
    with pytest.raises(NotFound):
        await engine.resolve_conflict(ANA, other.id or "", keep="both")
    with pytest.raises(NotFound):
        await engine.resolve_conflict(Scope("acme", "bo"), new.id or "", keep="both")


async def test_forgetting_one_side_ends_the_question(engine: Engine) -> None:
    old, _ = await tell(engine, "I like tea", "I like coffee")
    await engine.forget(ANA, [old.id or ""])
    assert list(await engine.conflicts(ANA)) == []


async def test_a_correction_is_found_by_what_it_says_now(engine: Engine) -> None:
    (old,) = await tell(engine, "The office is in Rome")
    await engine.revise(ANA, old.id or "", {"content": "I live in Rome"})
    moved, office = await tell(engine, "I moved to Oslo", "The office is in Bonn")
    assert (moved.replaces, office.replaces) == (old.id, None)


async def test_what_was_imported_can_be_replaced_too(engine: Engine) -> None:
    await tell(engine, "I like tea", "I like coffee", "I live in Rome")
    lines = [line async for line in engine.export(ANA)]
    bo = Scope("acme", "bo")
    await engine.import_lines(bo, lines)
    assert len(await engine.conflicts(bo)) == 1
    assert (await engine.remember(bo, {"content": "I moved to Oslo"})).outcome == "superseded"


class Ruling:
    """A judge that always says the same, and remembers what it was asked."""

    def __init__(self, *said: Judgement, fail: bool = False) -> None:
        self.said, self.fail = said, fail
        self.asked: list[tuple[str, list[str]]] = []

    async def __call__(self, new: str, old: Sequence[str]) -> Sequence[Judgement]:
        self.asked.append((new, list(old)))
        if self.fail:
            raise Unavailable("no judge today")
        return self.said


@pytest.mark.parametrize(
    ("judge", "outcome", "asked"),
    [
        (Ruling("replaces"), "superseded", 0),
        (Ruling("both"), "stored", 0),
        (Ruling("unsure"), "stored", 1),
        (Ruling(fail=True), "stored", 1),
        (Ruling(), "stored", 1),
    ],
)
async def test_a_judge_decides_what_rules_can_not(engine: Engine, judge: Ruling, outcome: str, asked: int) -> None:
    judge.asked.clear()
    engine.judge = judge
    _, new = await tell(engine, "I like tea", "I like coffee")
    assert (new.outcome, len(new.conflicts)) == (outcome, asked)
    assert judge.asked == [("I like coffee", ["I like tea"])]
    await tell(engine, "I live in Rome", "I moved to Oslo")
    assert len(judge.asked) == 1, "what is sure needs no judge"


async def test_twenty_writers_of_changing_values_leave_one_current(engine: Engine) -> None:
    said = [engine.remember(ANA, {"content": f"The standup is at {hour}:15"}) for hour in range(1, 21)]
    await asyncio.gather(*said)
    assert len(await current(engine)) == 1
    assert len(await history(engine)) == 19
