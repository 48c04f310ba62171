"""Turns of a chat over every store: what is shown to a model, what is kept of it, and what a long conversation becomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.errors import InvalidInput, NotFound, TooLarge, Unavailable
from recollect.model import Completion, Conversation, Message, Piece, Scope, Utterance
from recollect.model.talk import Done, Reply, Said
from recollect.policy.grounding import HISTORY_MESSAGES
from recollect.ports import Embedder, Store
from recollect.testing.chat import ScriptedChat
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, engine_over


async def say(engine: Engine, text: str, session: str = "s") -> Reply:
    reply = await (await engine.converse(ANA, text, session_id=session)).whole()
    await engine.talks.settle()
    return reply


async def said(engine: Engine, session: str = "s") -> Sequence[Message]:
    return await engine.store.read(ANA, lambda tx: tx.conversations.history(session, 1000))


async def conversation(engine: Engine, session: str = "s") -> Conversation:
    found = await engine.store.read(ANA, lambda tx: tx.conversations.get(session))
    assert found is not None
    return found


class Slow(ScriptedChat):
    """Says words for as long as somebody listens."""

    ended = False

    async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
        try:
            while True:
                yield Piece(text="word ")
                await asyncio.sleep(0.01)
        finally:
            self.ended = True


async def test_leaving_ends_the_model_and_keeps_what_was_said(engine: Engine) -> None:
    engine.chat = model = Slow()
    talk = await engine.converse(ANA, "Talk to me", session_id="s")
    words = 0
    async for event in talk:
        words += isinstance(event, Said)
        if words == 3:
            talk.leave()
            break
    await engine.talks.settle()
    assert model.ended
    question, reply = await said(engine)
    assert (question.content, reply.partial) == ("Talk to me", True)
    assert reply.content.startswith("word word word")


async def test_leaving_before_the_first_word_keeps_the_message_alone(engine: Engine) -> None:
    engine.chat = Slow()
    (await engine.converse(ANA, "Talk to me", session_id="s")).leave()
    await engine.talks.settle()
    assert [each.role for each in await said(engine)] == ["user"]


async def test_closing_waits_for_what_is_under_way(engine: Engine) -> None:
    engine.chat = Slow()
    talk = await engine.converse(ANA, "Talk to me", session_id="s")
    assert [await talk.next() for _ in range(4)]
    await engine.talks.close()
    assert [each.partial for each in await said(engine)] == [False, True]


async def test_more_than_a_message_can_hold_is_broken_off(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(max_content_bytes=200))
    engine.chat = Slow()
    reply = await say(engine, "Talk to me")
    assert reply.done is not None
    assert reply.done.partial
    assert len((await said(engine))[1].content) <= 200


async def test_a_conversation_forgotten_meanwhile_stays_forgotten(engine: Engine) -> None:
    engine.chat = Slow()
    talk = await engine.converse(ANA, "Talk to me", session_id="s")
    assert [await talk.next() for _ in range(4)]
    await engine.forget_conversation(ANA, "s")
    talk.leave()
    await engine.talks.settle()
    assert await engine.store.read(ANA, lambda tx: tx.conversations.get("s")) is None


@pytest.mark.parametrize("text", ["", "   ", "a\x00b"])
async def test_what_is_no_message_is_refused_and_leaves_nothing(engine: Engine, text: str) -> None:
    with pytest.raises(InvalidInput):
        await engine.converse(ANA, text, session_id="s")
    with pytest.raises(TooLarge):
        await engine.converse(ANA, "x" * 2_000_000, session_id="s")
    assert await engine.store.read(ANA, lambda tx: tx.conversations.get("s")) is None


async def test_a_model_that_fails_at_once_is_told_in_an_event(engine: Engine) -> None:
    engine.chat = ScriptedChat(Unavailable("it is asleep"))
    reply = await say(engine, "Are you there?")
    assert reply.done is None
    assert reply.failed is not None
    assert (reply.failed.code, reply.failed.message) == ("unavailable", "it is asleep")
    assert [each.role for each in await said(engine)] == ["user"]


class Unreachable:
    """An embedder whose server is down, after it was up."""

    provider, model, dimensions = "openai", "m", 8

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> object:
        raise Unavailable("down")

    async def close(self) -> None:
        pass


async def test_recall_that_limps_is_told(store: Store) -> None:
    down: Embedder = Unreachable()  # type: ignore[assignment]
    engine = engine_over(store, down)
    await engine.remember(ANA, {"content": "The ferry to Oslo leaves at nine"})
    reply = await say(engine, "When does the ferry to Oslo leave?")
    assert reply.remembered.degraded == ("dense",)
    assert [each.content for each in reply.remembered.used] == ["The ferry to Oslo leaves at nine"]


async def test_the_history_is_a_window(engine: Engine) -> None:
    engine.chat = model = ScriptedChat(otherwise="Yes.")
    for number in range(20):
        await say(engine, f"The harbour light number {number} is green")
    told = [asked for asked in model.asked if asked[0].content.startswith("You are a helpful")][-1]
    assert len(told) == 1 + HISTORY_MESSAGES + 1
    assert told[1].content == "The harbour light number 14 is green"


async def test_what_left_the_window_is_summed_up_without_a_model(engine: Engine) -> None:
    await say(engine, "My sister Mia moved to Oslo in 2021.")
    for number in range(9):
        await say(engine, f"The harbour light number {number} is green")
    known = await conversation(engine)
    assert known.is_summarized
    assert known.summary is not None
    assert "Mia moved to Oslo in 2021" in known.summary
    engine.chat = model = ScriptedChat(otherwise="Fine.")
    await say(engine, "Hello again, how is the weather?")
    assert "<earlier-in-this-conversation>" in model.asked[-1][-1].content
    assert "Mia moved to Oslo in 2021" in model.asked[-1][-1].content


class Summing(ScriptedChat):
    async def complete(self, messages: Sequence[Utterance], **_: object) -> Completion:
        self.asked.append(tuple(messages))
        return Completion(text="They spoke of lights, and the password is hunter2secret.")


async def test_a_model_sums_up_where_there_is_one_and_is_screened(engine: Engine) -> None:
    engine.chat = Summing(otherwise="Yes.")
    for number in range(8):
        await say(engine, f"The harbour light number {number} is green")
    known = await conversation(engine)
    assert known.is_summarized
    assert "They spoke of lights" in (known.summary or "")
    assert "hunter2secret" not in (known.summary or "")


async def test_what_is_forgotten_goes_out_of_the_summary(engine: Engine) -> None:
    await say(engine, "My sister Mia moved to Oslo in 2021.")
    for number in range(9):
        await say(engine, f"The harbour light number {number} is green")
    assert "Mia" in ((await conversation(engine)).summary or "")
    await say(engine, "forget what you know about my sister Mia")
    await say(engine, "yes")
    known = await conversation(engine)
    assert "Mia" not in (known.summary or "")
    assert not known.is_summarized


async def test_a_question_asked_again_is_shown_once(engine: Engine) -> None:
    engine.chat = model = ScriptedChat(otherwise="I can't tell.")
    for text in ("Where is the key?", "The pot is blue.", "Where is the key?", "So where is the key?"):
        await say(engine, text)
    told = [each.content for each in model.asked[-1][1:]]
    assert sum("key" in each for each in told) == 1
    assert told[0] == "The pot is blue."


async def test_a_conversation_past_its_end_is_not_there(engine: Engine) -> None:
    await say(engine, "Hello there")
    known = await conversation(engine)
    over = engine.clock.now() - timedelta(seconds=1)
    names = [name for name in Conversation.__slots__ if name != "expires_at"]
    ended = Conversation(expires_at=over, **{name: getattr(known, name) for name in names})
    await engine.store.write(ANA, lambda tx: tx.conversations.replace(ended))
    with pytest.raises(NotFound):
        await engine.converse(ANA, "Hello again", session_id="s")


async def test_incognito_is_in_mind_until_it_ends(engine: Engine) -> None:
    engine.chat = model = ScriptedChat(otherwise="I see.")
    await engine.start_incognito(ANA, "s")
    await say(engine, "The zeppelin is red")
    await say(engine, "And it is large")
    assert [each.content for each in model.asked[-1][1:]] == ["The zeppelin is red", "I see.", "And it is large"]
    assert engine.asides.said(Scope("acme", "eve"), "s", engine.clock.now()) == ()
    await engine.end_incognito(ANA, "s")
    await say(engine, "What colour is it?")
    assert [each.content for each in model.asked[-1][1:]] == ["What colour is it?"]


async def test_incognito_is_out_of_mind_when_its_person_is_erased_or_silent_for_long(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    for session in ("s", "t"):
        await engine.start_incognito(ANA, session)
        await say(engine, "The zeppelin is red", session)
    await engine.erase_user(ANA.tenant, ANA.user)
    assert engine.asides.said(ANA, "s", clock.now()) == ()
    await engine.start_incognito(ANA, "s")
    await say(engine, "The zeppelin is red")
    assert engine.asides.said(ANA, "s", clock.now())
    clock.advance(timedelta(minutes=31))
    assert engine.asides.said(ANA, "s", clock.now()) == ()


async def test_tokens_are_counted_by_the_model_or_here(engine: Engine) -> None:
    engine.chat = ScriptedChat("three small words")
    reply = await say(engine, "Hello there")
    assert reply.done is not None
    assert reply.done.usage is not None
    assert (reply.done.counted, reply.done.usage.completion) == ("model", 3)
    engine.chat = None
    alone = await say(engine, "Hello there")
    assert isinstance(alone.done, Done)
    assert (alone.done.counted, alone.done.model) == ("here", None)


async def test_halves_of_a_character_are_put_together(engine: Engine) -> None:
    class Halves(ScriptedChat):
        async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
            for text in ("a ", "\ud83d", "\ude00", " \x00b"):
                yield Piece(text=text)
            yield Piece(finish="stop")

    engine.chat = Halves()
    reply = await say(engine, "Smile")
    assert reply.text == (await said(engine))[1].content == "a \U0001f600 b"


async def test_a_turn_that_breaks_is_told_and_not_swallowed(engine: Engine) -> None:
    class Broken(ScriptedChat):
        async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
            yield Piece(text="a")
            raise KeyError("a bug")

    engine.chat = Broken()
    reply = await say(engine, "Hello there")
    assert reply.done is None
    assert reply.failed is not None
    assert reply.failed.code == "broken"


async def test_where_a_memory_was_used_is_told_and_goes_with_it(engine: Engine) -> None:
    nuts = (await engine.remember(ANA, {"content": "I am allergic to hazelnuts"})).id
    milk = (await engine.remember(ANA, {"content": "I drink oat milk with hazelnuts"})).id
    assert nuts
    assert milk
    await engine.flush(ANA, 120)
    engine.chat = ScriptedChat("No hazelnuts for you [m1].")
    reply = await say(engine, "What about hazelnuts?")
    first, *others = reply.remembered.used
    (use,) = (await engine.why(ANA, first.id)).uses
    assert reply.done
    assert (use[0].reference, use[0].cited, use[1].id) == ("m1", True, reply.done.message_id)
    told = await engine.used(ANA, "s")
    assert [(each.reference, each.cited, memory.id) for each, memory in told] == [
        (each.reference, each.reference == "m1", each.id) for each in (first, *others) if each.kind == "memory"
    ]
    await engine.forget(ANA, [first.id])
    assert first.id not in {memory.id for _, memory in await engine.used(ANA, "s")}
    await engine.forget_conversation(ANA, "s")
    assert (await engine.why(ANA, {nuts, milk}.difference({first.id}).pop())).uses == ()
    with pytest.raises(NotFound):
        await engine.used(ANA, "s")
