"""Golden cases through the real engine: what is stored, what is kept from whom, what an outage leaves."""

from __future__ import annotations

import pytest

from eval import verdict
from eval.golden import Answer, BadSet, Golden, Stage
from eval.ground import Outage, StoreKind, opened
from recollect.errors import Unsupported
from recollect.testing.embedder import HashEmbedder
from tests.eval.made import case, stored

BIKE = "Rides a crimson tandem bicycle to the quarry."
CASES = (
    case([BIKE], id="plain", query="Who rides the crimson tandem bicycle?", memories=(stored(BIKE),)),
    case(
        ["The vault code is 8841."],
        id="foreign",
        query="What is the vault code?",
        memories=(stored("The vault code is 8841."), stored("The vault code is 7720.", user="other")),
    ),
    case(
        ["The depot is in Ghent."],
        id="replaced",
        query="Where is the depot?",
        memories=(stored("The depot is in Antwerp.", key="depot"), stored("The depot is in Ghent.", key="depot")),
    ),
    case(
        id="forgotten",
        query="Where is the orchard gate?",
        memories=(stored("The orchard gate is north.", forgotten=True),),
    ),
    case(
        id="expired",
        query="Where is the parking stub?",
        now="2026-03-15T00:00:00Z",
        memories=(stored("The parking stub is 77.", expires_at="2026-03-01T00:00:00Z"),),
    ),
    case(
        ["walnut " * 300],
        id="long",
        query="walnut walnut walnut",
        token_budget=25,
        memories=(stored("walnut " * 300),),
    ),
    case(id="empty", query="Anything at all?"),
)


async def ask(*cases: Golden, store: StoreKind = "sqlite", outage: Outage | None = None) -> list[Answer]:
    async with opened(store, outage, HashEmbedder(256)) as place:
        stage = Stage(place.engine, cases)
        await stage.store()
        place.break_down()
        return await stage.ask("recall")


def said(answers: list[Answer]) -> dict[str, list[str]]:
    return {answer.case.id: [each.content for each in answer.shown] for answer in answers}


EXPECTED = {each.id: sorted(each.expected) for each in CASES}


async def test_each_user_gets_what_is_theirs_and_current() -> None:
    answers = await ask(*CASES)
    assert said(answers) == EXPECTED
    assert [verdict.faults(answer) for answer in answers] == [[]] * len(CASES)
    (long,) = (answer for answer in answers if answer.case.id == "long")
    assert 0 < long.tokens <= 25


async def test_a_miss_says_how_near_it_was() -> None:
    far = case([BIKE], id="far", query="Zebra quiz?", memories=(stored(BIKE), stored("Zebra quiz on Monday.")))
    (answer,) = await ask(far)
    (missing,) = answer.missing
    assert missing.content == BIKE
    assert missing.rank == 2
    assert missing.relevance is not None
    assert missing.relevance < 0.3
    assert verdict.faults(answer) == ["missed", "noise"]


async def test_without_a_model_words_still_find() -> None:
    answers = await ask(*CASES, outage="dense")
    assert said(answers) == EXPECTED
    assert {answer.degraded for answer in answers} == {("dense",)}


async def test_without_the_shared_cache_everything_is_found() -> None:
    answers = await ask(*CASES, outage="redis")
    assert said(answers) == EXPECTED
    assert {answer.degraded for answer in answers} == {()}


async def test_without_full_text_the_rest_still_finds() -> None:
    answers = await ask(*CASES, outage="lexical")
    assert said(answers) == EXPECTED


@pytest.mark.parametrize(("store", "outage"), [("postgres", "lexical")])
async def test_an_outage_that_cannot_be_is_refused(store: StoreKind, outage: Outage) -> None:
    with pytest.raises(Unsupported):
        await ask(*CASES, store=store, outage=outage)


async def test_a_memory_that_is_not_taken_is_no_setup() -> None:
    twice = case(id="twice", memories=(stored("Gone for good.", forgotten=True), stored("Gone for good.")))
    with pytest.raises(BadSet, match="tombstone"):
        await ask(twice)
