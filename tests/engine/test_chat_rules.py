"""What the chat may be told by settings: how much a model is shown, when it sums up and with which model, how long it keeps."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect.bootstrap import engine_config
from recollect.engine import Engine, EngineConfig
from recollect.engine.chatting.chat_rules import ChatRules
from recollect.engine.datachat.rules import Desk
from recollect.engine.embedding import embed
from recollect.model import Utterance
from recollect.policy import budget
from recollect.policy.budget import count_tokens
from recollect.settings import Settings
from recollect.testing.chat import ScriptedChat
from recollect.testing.clock import ManualClock
from recollect.testing.reference import ReferenceStore
from tests.engine.conftest import ANA, engine_over


def chatting(clock: ManualClock | None = None, **rules: int | bool | None) -> tuple[Engine, ScriptedChat]:
    config = EngineConfig(chat=ChatRules(**rules))  # type: ignore[arg-type]
    engine = engine_over(ReferenceStore(), config=config, clock=clock or ManualClock())
    engine.chat = model = ScriptedChat(otherwise="Yes.")
    return engine, model


async def say(engine: Engine, text: str) -> None:
    await (await engine.converse(ANA, text, session_id="s")).whole()
    await engine.talks.settle()


async def lights(engine: Engine, count: int, words: str = "") -> None:
    for number in range(count):
        await say(engine, f"The harbour light number {number} is green {words}")


def answered(model: ScriptedChat) -> tuple[Utterance, ...]:
    return [asked for asked in model.asked if asked[0].content.startswith("You are a helpful")][-1]


@pytest.mark.parametrize(("history", "told"), [(0, 2), (4, 6), (14, 16)])
async def test_the_window_is_as_long_as_configured(history: int, told: int) -> None:
    engine, model = chatting(history=history, summaries=False)
    await lights(engine, 9)
    assert len(answered(model)) == told


async def test_memory_and_history_share_a_budget() -> None:
    engine, model = chatting(history=40, context_tokens=1200, summaries=False)
    await lights(engine, 12, words="and seen from far away by all the boats " * 4)
    asked = answered(model)
    assert 2 < len(asked) < 24
    assert sum(count_tokens(each.content) for each in asked[1:-1]) <= 200


async def test_summaries_come_when_told_and_not_at_all_when_not() -> None:
    engine, _ = chatting(history=2, summarise_after=4)
    await lights(engine, 3)
    assert (await engine.conversation(ANA, "s", 1))[0].is_summarized
    engine, _ = chatting(history=2, summarise_after=4, summaries=False)
    await lights(engine, 6)
    assert not (await engine.conversation(ANA, "s", 1))[0].is_summarized


async def test_a_cheaper_model_may_sum_up() -> None:
    engine, model = chatting(history=2, summarise_after=4)
    engine.desk = Desk(summariser=(cheap := ScriptedChat(otherwise="They spoke of lights.")))
    await lights(engine, 3)
    assert (await engine.conversation(ANA, "s", 1))[0].summary == "They spoke of lights."
    assert len(cheap.asked) == 1
    assert not any("Sum up" in asked[0].content for asked in model.asked)


async def test_conversations_end_after_so_many_days_of_silence_unless_their_space_says_otherwise() -> None:
    clock = ManualClock()
    engine, _ = chatting(clock, days=3)
    await lights(engine, 1)
    clock.advance(timedelta(days=2))
    assert (await engine.maintain(ANA)).done.get("drop_conversation") is None
    await engine.change_settings(ANA, {"retention_days": 30})
    clock.advance(timedelta(days=2))
    assert (await engine.maintain(ANA)).done.get("drop_conversation") is None
    await engine.change_settings(ANA, {"retention_days": None})
    assert (await engine.maintain(ANA)).done["drop_conversation"] == 1


async def test_the_tokenizer_is_there_before_the_first_message() -> None:
    engine, _ = chatting()
    budget._encoding.cache_clear()
    await embed.warm(engine)
    assert budget._encoding.cache_info().currsize == 1


def test_settings_reach_the_chat() -> None:
    assert engine_config(Settings.load({})).chat == ChatRules()
    given = {
        "RECOLLECT_CHAT_HISTORY_MESSAGES": "6",
        "RECOLLECT_CHAT_CONTEXT_TOKENS": "2000",
        "RECOLLECT_CHAT_DAYS": "90",
        "MEMORY_SUMMARIZATION_ENABLED": "0",
        "MEMORY_SUMMARIZATION_THRESHOLD": "40",
    }
    rules = ChatRules(history=6, context_tokens=2000, summaries=False, summarise_after=40, days=90)
    assert engine_config(Settings.load(given)).chat == rules
