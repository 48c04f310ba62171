"""Dials turn what they say they turn, over the same questions, and leave the recipes as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from eval.golden import Stage
from eval.ground import opened
from eval.sweep import DIALS, checked, sweep, table
from recollect.errors import InvalidInput
from recollect.policy.recipes import RECIPES, Recipe, TriScore
from recollect.testing.embedder import HashEmbedder
from tests.eval.made import case, stored

PLAIN = RECIPES["companion"]
PILOTS = [f"The harbour pilot's {thing} is kept in the lighthouse." for thing in ("coat", "radio", "whistle", "lamp")]


def score(recipe: Recipe) -> TriScore:
    assert isinstance(recipe.rescore, TriScore)
    return recipe.rescore


@pytest.mark.parametrize("name", DIALS)
def test_a_dial_turns_one_thing(name: str) -> None:
    dial = DIALS[name]
    assert dial.turn(PLAIN, dial.at(PLAIN)) == PLAIN
    turned = dial.turn(PLAIN, 3)
    assert dial.at(turned) == 3
    assert all(DIALS[other].at(turned) == DIALS[other].at(PLAIN) for other in DIALS if other != name)


def test_dials_mean_what_the_contract_means() -> None:
    assert score(DIALS["tau"].turn(PLAIN, 14)).tau == timedelta(days=14)
    assert score(DIALS["lambda"].turn(PLAIN, 0.25)).diversity == 0.25
    assert DIALS["k"].turn(PLAIN, 10) == replace(PLAIN, rrf_k=10)
    assert DIALS["N"].turn(PLAIN, 8) == replace(PLAIN, limit=8)


@pytest.mark.parametrize(
    ("recipe", "dials", "complaint"),
    [("companion", ["delta"], "no dial is called 'delta'"), ("recall", ["k", "alpha"], "'recall' has no alpha")],
)
def test_a_dial_that_is_not_there_is_said(recipe: str, dials: list[str], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        checked(recipe, dials)


async def test_showing_more_finds_more_and_costs_more() -> None:
    asked = case(
        PILOTS, query="What of the harbour pilot is kept in the lighthouse?", memories=tuple(map(stored, PILOTS))
    )
    before = dict(RECIPES)
    async with opened("sqlite", embedder=HashEmbedder(256)) as place:
        stage = Stage(place.engine, [asked])
        await stage.store()
        points = await sweep(stage, "companion", ["N"])
    assert before == RECIPES
    assert [point.value for point in points] == [1, 3, 5, 8, 12, 16]
    assert [point.default for point in points] == [False] * 4 + [True, False]
    assert [point.recall_at_5 for point in points] == [25.0, 75.0, 100.0, 100.0, 100.0, 100.0]
    assert [point.recall for point in points] == [100.0] * 6  # of as many as may be shown
    tokens = [point.tokens for point in points]
    assert tokens[0] < tokens[1] < tokens[2] == tokens[-1]
    shown = StringIO()
    Console(file=shown, width=120).print(table(points))
    assert "12*" in shown.getvalue()
