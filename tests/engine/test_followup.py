"""A question that leans on the running conversation is searched for what it means."""

from __future__ import annotations

from recollect.engine import Engine
from recollect.model import Query
from tests.engine.conftest import ANA


async def test_history_says_what_a_short_question_leaves_out(engine: Engine) -> None:
    for text in ("Sales in the north region grew in May", "The garden party is in May", "Ana moved in May"):
        await engine.remember(ANA, {"content": text})
    history = ("How were sales in the north region in April?", "They fell by two percent.")
    recalled = await engine.recall(ANA, Query(text="And in May?", history=history))
    assert recalled.hits[0].content == "Sales in the north region grew in May"


async def test_a_question_that_stands_alone_is_left_alone(engine: Engine) -> None:
    for text in ("I prefer uv as package manager", "Sales in the north region grew"):
        await engine.remember(ANA, {"content": text})
    history = ("How were sales in the north region?", "They grew.")
    question = "Which package manager do I prefer?"
    alone = await engine.recall(ANA, Query(text=question))
    beside = await engine.recall(ANA, Query(text=question, history=history))
    assert [hit.content for hit in beside] == [hit.content for hit in alone]


async def test_hostile_history_is_only_text(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "The garden party is on Sunday"})
    for turn in ("\x00", "\ud800", "a" * 100_000, ""):
        assert (await engine.recall(ANA, Query(text="and that?", history=(turn,)))).trace.recipe == "native"
