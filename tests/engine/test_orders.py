"""Orders to the memory in a chat: carried out before any model is asked, confirmed, and undone where that is possible."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.model import Listing, Memory, Query
from recollect.model.talk import Reply
from recollect.ports import Store
from recollect.testing.chat import ScriptedChat
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, engine_over


async def say(engine: Engine, text: str, session: str = "s") -> Reply:
    reply = await (await engine.converse(ANA, text, session_id=session)).whole()
    await engine.talks.settle()
    assert reply.done is not None, reply.failed
    return reply


def order(reply: Reply) -> str | None:
    assert reply.done is not None
    return reply.done.command


async def known(engine: Engine) -> list[Memory]:
    return list(await engine.list(ANA, Listing(limit=100)))


async def texts(engine: Engine) -> set[str]:
    return {each.content for each in await known(engine)}


async def found(engine: Engine, text: str) -> list[str]:
    """What can be recalled that holds one of the words."""
    hits = await engine.recall(ANA, Query(text=text, min_relevance=0.0, limit=100))
    return [hit.content for hit in hits if any(word in hit.content for word in text.split())]


async def said(engine: Engine, session: str = "s") -> list[str]:
    return [each.content for each in await engine.store.read(ANA, lambda tx: tx.conversations.history(session, 100))]


async def test_no_model_is_asked_about_an_order(engine: Engine) -> None:
    engine.chat = ScriptedChat(otherwise="I am a model")
    for text in (
        "what do you remember about me?",
        "remember that I like ferries",
        "forget that",
        "undo",
        "turn memory on",
    ):
        assert order(await say(engine, text)) is not None, text
    assert engine.chat.asked == []
    assert order(await say(engine, "I forgot that we had a meeting")) is None
    assert len(engine.chat.asked) == 1


async def test_remember_is_stored_at_once_as_saved_by_hand(engine: Engine) -> None:
    reply = await say(engine, "Please remember that the gate code is on the fridge")
    (memory,) = await known(engine)
    assert (memory.content, memory.manually_saved) == ("the gate code is on the fridge", True)
    assert (memory.source_conversation_id, memory.source_message_id) == ("s", reply.started.message_id)
    assert "the gate code is on the fridge" not in reply.text, "what is said back is stored, and would be found instead"
    assert order(await say(engine, "undo")) == "undo"
    assert await known(engine) == []
    assert await found(engine, "gate code fridge") == []


async def test_what_was_learnt_in_passing_and_replaced_something_can_be_undone(engine: Engine) -> None:
    await say(engine, "I live in Leeds")
    await say(engine, "I moved to York last week")
    assert await texts(engine) == {"I moved to York last week"}
    assert order(await say(engine, "undo that")) == "undo"
    assert await texts(engine) == {"I live in Leeds"}
    await say(engine, "I like ferries")
    assert order(await say(engine, "undo that")) is None
    assert await texts(engine) == {"I live in Leeds", "I like ferries"}


async def test_remember_says_what_it_replaces_and_what_is_known(engine: Engine) -> None:
    await say(engine, "remember that I live in Berlin")
    assert "already" in (await say(engine, "remember that I live in Berlin")).text
    assert "“I live in Berlin”" in (await say(engine, "remember that I live in Lyon")).text
    assert await texts(engine) == {"I live in Lyon"}


async def test_forget_that_is_what_was_just_learnt_and_its_words(engine: Engine) -> None:
    await say(engine, "I love black coffee.")
    assert await texts(engine) == {"I love black coffee"}
    reply = await say(engine, "forget that")
    assert (order(reply), reply.started.message_id) == ("forget", None)
    assert await known(engine) == []
    assert await found(engine, "black coffee") == []
    assert not [line for line in await said(engine) if "coffee" in line]
    talk = await engine.store.read(ANA, lambda tx: tx.conversations.get("s"))
    assert talk is not None
    assert talk.title is None


async def test_forget_that_is_what_the_last_reply_used(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "The ferry to Oslo leaves at nine"})
    reply = await say(engine, "When does the ferry to Oslo leave?", "other")
    assert [each.content for each in reply.remembered.used] == ["The ferry to Oslo leaves at nine"]
    assert "The ferry to Oslo leaves at nine" in (await say(engine, "why do you think that?", "other")).text
    await say(engine, "forget that", "other")
    assert await known(engine) == []


async def test_forget_that_is_else_the_last_message(engine: Engine) -> None:
    await say(engine, "The zeppelin was late again")
    await say(engine, "forget what I just said")
    assert await found(engine, "zeppelin") == []


async def test_what_tells_it_again_goes_too(engine: Engine) -> None:
    engine.chat = ScriptedChat("So you love black coffee, noted!", otherwise="Nice weather.")
    await say(engine, "I love black coffee.", "one")
    await engine.remember(ANA, {"content": "I love black coffee"})
    await say(engine, "I have a red bicycle.", "one")
    await say(engine, "forget what you know about black coffee", "two")
    await say(engine, "yes", "two")
    assert await found(engine, "love black coffee") == []
    assert [line for line in await said(engine, "one") if "bicycle" in line] == ["I have a red bicycle."]


async def test_several_are_listed_and_waited_for(engine: Engine) -> None:
    for number in (1, 2, 3):
        await engine.remember(ANA, {"content": f"The zeppelin flight number {number} was delayed"})
    asked = await say(engine, "forget everything you know about the zeppelin flights")
    assert len(asked.remembered.used) == 3
    assert "which" in asked.text
    assert len(await known(engine)) == 3, "nothing is forgotten before a yes"
    gone = asked.remembered.used[1].content
    assert order(await say(engine, "only 2")) == "forget"
    assert gone not in await texts(engine)
    assert len(await known(engine)) == 2


@pytest.mark.parametrize("answer", ["no", "never mind", "算了"])
async def test_a_no_forgets_nothing(engine: Engine, answer: str) -> None:
    await engine.remember(ANA, {"content": "I like ferries"})
    await say(engine, "forget everything you know about me")
    assert order(await say(engine, answer)) == "forget"
    assert len(await known(engine)) == 1
    assert order(await say(engine, "yes")) is None, "nothing waits any more"
    assert len(await known(engine)) == 1


async def test_everything_goes_after_a_yes_and_only_right_after_it(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "I like ferries"})
    await say(engine, "wipe your memory")
    await say(engine, "What is the capital of Peru?")
    assert order(await say(engine, "yes")) is None
    assert len(await known(engine)) == 1
    await say(engine, "wipe your memory")
    await say(engine, "yes, please")
    assert await known(engine) == []


async def test_ask_lists_and_numbers_mean_the_list(engine: Engine) -> None:
    for text in ("I like ferries", "My sister lives in Oslo"):
        await engine.remember(ANA, {"content": text})
    reply = await say(engine, "What do you remember about me?")
    assert "2 in all" in reply.text
    first = reply.remembered.used[0].content
    assert reply.text.index(first) < reply.text.index(reply.remembered.used[1].content)
    await say(engine, "forget the first one")
    assert first not in await texts(engine)
    about = await say(engine, f"What do you remember about {next(iter(await texts(engine)))}?")
    assert len(about.remembered.used) == 1
    assert "nothing" in (await say(engine, "What do you remember about submarines?")).text


async def test_pin_unpin_and_undo(engine: Engine) -> None:
    await say(engine, "I love black coffee.")
    await say(engine, "pin this")
    assert [each.pinned for each in await known(engine)] == [True]
    await say(engine, "undo")
    assert [each.pinned for each in await known(engine)] == [False]
    await say(engine, "pin that")
    await say(engine, "unpin it")
    assert [each.pinned for each in await known(engine)] == [False]


async def test_pinning_what_nothing_was_learnt_from_saves_it(engine: Engine) -> None:
    await say(engine, "The boiler makes a whistling noise")
    await say(engine, "pin this")
    (memory,) = await known(engine)
    assert (memory.content, memory.pinned) == ("The boiler makes a whistling noise", True)


async def test_memory_is_switched_off_and_on(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "I like ferries"})
    assert order(await say(engine, "Turn memory off, please")) == "memory_off"
    silent = await say(engine, "I like zeppelins. Do I like ferries?")
    assert (silent.started.reason, silent.remembered.used) == ("memory_off", ())
    assert "switched off" in (await say(engine, "remember that I like trams")).text
    assert "switched off" in (await say(engine, "what do you remember about me?")).text
    assert order(await say(engine, "turn memory back on")) == "memory_on"
    assert await texts(engine) == {"I like ferries"}
    assert await found(engine, "zeppelins trams") == []
    await say(engine, "undo")
    assert not (await engine.space_settings(ANA)).memory_enabled


async def test_incognito_begins_and_ends(engine: Engine) -> None:
    await say(engine, "start incognito for this chat")
    assert await engine.is_incognito(ANA, "s")
    assert (await say(engine, "I like zeppelins.")).started.reason == "incognito"
    assert "incognito" in (await say(engine, "remember that I like trams")).text
    await say(engine, "stop incognito")
    assert not await engine.is_incognito(ANA, "s")
    assert await found(engine, "zeppelins trams") == []
    assert not await said(engine)
    later = await say(engine, "What did I say about zeppelins?")
    assert later.remembered.used == ()


async def test_chinese_orders_are_answered_in_chinese(engine: Engine) -> None:
    await say(engine, "我喜欢喝乌龙茶。")
    listed = await say(engine, "你都记得些什么？")
    assert "我记得" in listed.text
    assert "乌龙茶" in listed.text
    assert "已置顶" in (await say(engine, "置顶这条")).text
    assert "已撤销" in (await say(engine, "撤销")).text
    assert "已永久忘记" in (await say(engine, "忘掉这个")).text
    assert await known(engine) == []
    assert "没有配置聊天模型" in (await say(engine, "我喜欢喝什么？")).text
    assert "无痕" in (await say(engine, "开始无痕模式")).text


async def test_a_read_only_memory_says_so(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(write_mode="read_only"))
    await engine.remember(ANA, {"content": "I like ferries"}, as_admin=True)
    for text in ("remember that I like trams", "pin my ferries"):
        assert "read-only" in (await say(engine, text)).text, text
    assert await texts(engine) == {"I like ferries"}


async def test_orders_leave_facts_and_no_words(engine: Engine) -> None:
    await say(engine, "I love black coffee.")
    await say(engine, "forget that")
    trail = await engine.audit_trail(ANA, 100, 0)
    actions = [event.action for event in trail]
    assert {"memory.forgotten", "message.forgotten"} <= set(actions)
    assert "coffee" not in repr([event.facts for event in trail])


async def test_one_persons_that_is_not_anothers(engine: Engine) -> None:
    await say(engine, "I love black coffee.", "one")
    reply = await say(engine, "forget that", "two")
    assert "nothing here to forget" in reply.text
    assert await texts(engine) == {"I love black coffee"}


async def test_a_yes_after_a_long_silence_answers_nothing(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    await engine.remember(ANA, {"content": "I like ferries"})
    await say(engine, "wipe your memory")
    clock.advance(timedelta(minutes=31))
    assert order(await say(engine, "yes")) is None
    assert len(await known(engine)) == 1


async def test_that_is_what_was_just_stated_even_where_the_reply_listed_something_near(engine: Engine) -> None:
    await say(engine, "The swimming pool was crowded today.", "before")
    reply = await say(engine, "Locker 417 at the swimming pool.")
    assert reply.remembered.used
    assert "Forgotten" in (await say(engine, "forget that")).text
    assert await found(engine, "417") == []
    assert await found(engine, "crowded") == ["The swimming pool was crowded today."]


async def test_what_was_only_said_can_be_forgotten_too(engine: Engine) -> None:
    await say(engine, "I am allergic to peanuts")
    (memory,) = await known(engine)
    await engine.forget(ANA, [memory.id])  # by another way in: the words stay in the conversation
    assert await found(engine, "peanuts")
    asked = await say(engine, "forget what I said about peanuts", "two")
    assert [each.kind for each in asked.remembered.used] == ["message"]
    await say(engine, "yes", "two")
    assert await found(engine, "peanuts") == []


async def test_that_is_asked_about_where_a_model_answered_a_statement_from_memory(engine: Engine) -> None:
    await say(engine, "The swimming pool was crowded today.", "before")
    engine.chat = ScriptedChat(otherwise="Busy place [m1].")
    await say(engine, "Locker 417 at the swimming pool.")
    reply = await say(engine, "forget that")
    assert [each.content for each in reply.remembered.used] == [
        "Locker 417 at the swimming pool.",
        "The swimming pool was crowded today.",
    ]
    await say(engine, "the first one")
    assert await found(engine, "417") == []
    assert await found(engine, "crowded") == ["The swimming pool was crowded today."]


async def test_replies_that_quoted_what_is_forgotten_go_with_it(engine: Engine) -> None:
    await say(engine, "Remember that my boat is called Nautilus")
    assert "Nautilus" in (await say(engine, "What is my boat called?", "later")).text
    await say(engine, "The weather is fine.", "later")
    await say(engine, "forget what I told you about my boat")
    assert "Forgotten" in (await say(engine, "yes")).text
    everything = [str(line) async for line in engine.export(ANA)]
    assert not any("Nautilus" in line for line in everything)
    assert any("The weather is fine." in line for line in everything)


async def test_what_is_kept_without_being_found_stays_so_when_it_is_taken_along(engine: Engine) -> None:
    await say(engine, "Remember that my boat is called Nautilus")
    await say(engine, "What is my boat called?", "later")
    lines = [line async for line in engine.export(ANA)]
    elsewhere = ANA.within("elsewhere")
    await engine.import_lines(elsewhere, lines)
    hits = await engine.recall(elsewhere, Query(text="Nautilus", min_relevance=0.0, limit=50))
    assert hits.hits
    assert all(hit.message is None or hit.message.role == "user" for hit in hits)
    known = await engine.store.read(elsewhere, lambda tx: tx.conversations.history("later", 10))
    assert [each.role for each in known] == ["user", "assistant"]
