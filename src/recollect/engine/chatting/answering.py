"""The second half of a turn: the reply, as it is said, stored, and learnt from.

    guidance, memories and history for the model -> its words as they come -> the reply is stored -> learning from the turn

A reply that breaks off, because its reader left or the model failed, is stored as far as it came, marked. Where no model is
configured the memory itself answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.engine.chatting import commands
from recollect.engine.chatting.grounds import Ground
from recollect.engine.chatting.replies import Spoken, keep_reply
from recollect.engine.chatting.talks import Talk
from recollect.engine.chatting.thread import Thread, keep_thread
from recollect.engine.conversations import extract, summarise
from recollect.errors import RecollectError, Unavailable
from recollect.model import Message, Piece, Scope, TurnsReceipt, Usage, Utterance
from recollect.model.talk import Done, Failed, Said, Started
from recollect.policy import summary
from recollect.policy.budget import count_tokens
from recollect.policy.grounding import prompt, recall_only, references_in, whole_characters
from recollect.ports import Chat

if TYPE_CHECKING:
    from recollect.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that is about to be answered, with everything the answer needs. `engine` is the one of this session."""

    engine: Engine
    scope: Scope
    session_id: str
    text: str
    started: Started
    thread: Thread
    receipt: TurnsReceipt | None = None
    fresh: Sequence[Message] = ()
    ground: Ground = field(default_factory=Ground)
    summary: str | None = None
    command: commands.Acted | None = None

    @property
    def kept(self) -> bool:
        return self.started.reason is None

    @property
    def model(self) -> Chat | None:
        """Who answers: nobody but ourselves where an order was carried out or no model is configured."""
        return self.engine.chat if self.command is None else None

    def prompt(self) -> list[Utterance]:
        if self.model is None:
            return []
        ground = self.ground
        return prompt(self.text, ground.context, ground.window, self.summary, self.engine.clock.now())


@dataclass
class Speech:
    """What was said so far, and how it ended."""

    pieces: list[str] = field(default_factory=list)
    size: int = 0
    usage: Usage | None = None
    finish: str | None = None
    failure: Failed | None = None
    started: float = field(default_factory=perf_counter)

    @property
    def text(self) -> str:
        return whole_characters("".join(self.pieces))

    @property
    def partial(self) -> bool:
        return self.finish is None

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.size += len(text.encode("utf-8", "replace"))


async def answer(turn: Turn, talk: Talk) -> None:
    talk.say(turn.started)
    talk.say(turn.ground.remembered)
    speech, told = Speech(), turn.prompt()
    try:
        if not await talk.speak(_speak(turn, told, speech, talk)):
            speech.finish = None
    except RecollectError as problem:
        speech.finish, speech.failure = None, _blamed(problem)
    await _conclude(turn, told, speech, talk)


async def _speak(turn: Turn, told: Sequence[Utterance], speech: Speech, talk: Talk) -> None:
    if turn.model is None:
        text = turn.command.text if turn.command else _from_memory(turn)
        speech.add(text)
        talk.say(Said(text=text))
        speech.finish = "command" if turn.command else "recall_only"
        return
    await _spoken(turn.model, told, speech, talk, turn.engine.config.max_content_bytes)
    if not speech.text.strip():
        raise Unavailable("the chat model said nothing")


async def _spoken(model: Chat, told: Sequence[Utterance], speech: Speech, talk: Talk, most: int) -> None:
    async with aclosing(model.stream(told)) as stream:  # type: ignore[type-var]
        async for piece in stream:
            _hear(piece, speech, talk)
            if speech.size > most - 4:
                raise Unavailable("the chat model said more than a message can hold")


def _hear(piece: Piece, speech: Speech, talk: Talk) -> None:
    speech.usage = piece.usage or speech.usage
    speech.finish = piece.finish or speech.finish
    if piece.text:
        speech.add(piece.text)
        talk.say(Said(text=piece.text))


def _from_memory(turn: Turn) -> str:
    return recall_only(turn.text, turn.ground.remembered, silent=not turn.kept)


def _blamed(problem: RecollectError) -> Failed:
    """Whatever is wrong between the model and us is nothing the person in the chat did."""
    ours = "the chat model refused: its configuration needs a look"
    return Failed(code=Unavailable.code, message=problem.message if isinstance(problem, Unavailable) else ours)


async def _conclude(turn: Turn, told: Sequence[Utterance], speech: Speech, talk: Talk) -> None:
    """Store the reply, learn from the turn, and say that it is over."""
    cited = references_in(speech.text, (each.reference for each in turn.ground.remembered.used))
    usage = speech.usage or Usage(sum(count_tokens(each.content) for each in told), count_tokens(speech.text))
    reply: Message | None = None
    try:
        reply = await _kept(turn, speech, usage, cited)
    except RecollectError as problem:
        lost = Failed(code=problem.code, message=f"the reply could not be stored: {problem.message}")
        speech.failure = speech.failure or lost
    with suppress(RecollectError):  # the message is put down as unread: who comes later learns from it
        await _noted(turn, cited)
        await _learnt(turn)
    if speech.failure is not None:
        talk.say(speech.failure)
    if speech.text:
        talk.say(
            Done(
                message_id=reply.id if reply else None,
                partial=speech.partial,
                finish=speech.finish or "broken_off",
                usage=usage,
                counted="model" if speech.usage else "here",
                model=turn.model.model if turn.model else None,
                command=turn.command.command if turn.command else None,
                cited=cited,
            )
        )
    facts = {"partial": speech.partial, "failed": speech.failure is not None}
    turn.engine.heard("chatted", facts | {"cited": len(cited), "offered": len(turn.ground.remembered.used)})
    if reply is not None and _is_long(turn.engine, reply):
        with suppress(RecollectError):
            await summarise.summarise(turn.engine, turn.scope, turn.session_id)


def _is_long(engine: Engine, reply: Message) -> bool:
    """Whether the turn that ends with this reply is one after which the conversation is summed up."""
    rules, length = engine.config.chat, reply.order + 1
    return rules.summaries and summary.is_due(max(0, length - 2), length, rules.summarise_after)


async def _kept(turn: Turn, speech: Speech, usage: Usage, cited: Sequence[str]) -> Message | None:
    """The reply where it belongs: in the store, in mind only, or, of an order that is not kept, nowhere."""
    engine, scope, session = turn.engine, turn.scope, turn.session_id
    if turn.command is not None and turn.receipt is None:
        return None
    if not turn.kept:
        if speech.text.strip():
            engine.asides.keep(scope, session, "assistant", speech.text, engine.clock.now())
        return None
    spoken = Spoken(
        text=speech.text,
        partial=speech.partial,
        tokens={"prompt": usage.prompt, "completion": usage.completion},
        ms=round((perf_counter() - speech.started) * 1000, 1),
        found=turn.model is not None,
        used=turn.ground.remembered.used,
        cited=cited,
    )
    return await keep_reply(engine, scope, session, spoken)


async def _noted(turn: Turn, cited: Sequence[str]) -> None:
    """What "that" means from now on, and what is no news when it comes back."""
    if turn.command is not None:
        return
    used = turn.ground.remembered.used
    named = tuple(each.target for each in used if not cited or each.reference in cited)
    if named != turn.thread.used or turn.thread.waits or turn.thread.undo:
        await keep_thread(turn.engine, turn.scope, turn.session_id, Thread(used=named))
    if turn.ground.shown:
        await turn.engine.shown(turn.scope, turn.session_id, turn.ground.shown)


async def _learnt(turn: Turn) -> None:
    if turn.fresh:
        await extract.take_up(turn.engine, turn.scope, turn.session_id, turn.receipt, turn.fresh)
