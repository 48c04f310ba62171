"""converse: one turn of a chat, from a person's message to a reply that is stored.

    input guard -> may anything be kept? -> an order to the memory? -> recall -> the message is stored
    -> guidance, memories and history for the model -> its words as they come -> the reply is stored -> learning from the turn

The message is durable before any model is asked; if it can't be stored the turn fails and nothing of it remains. Recall comes
first of the two, or the best answer to every message would be the message itself. If recall fails, the turn goes on without
memory and says so. A reply that breaks off, because its reader left or the model failed, is stored as far as it came, marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.engine import commands, extract, grounds, summarise
from recollect.engine.boundary import silence
from recollect.engine.browse import missing
from recollect.engine.converse import keep_turns, turn_from
from recollect.engine.grounds import Ground
from recollect.engine.replies import Spoken, keep_reply
from recollect.engine.screening import Screened, screened_aside
from recollect.engine.talks import Talk
from recollect.engine.thread import Thread, keep_thread, thread_of
from recollect.errors import RecollectError, Unavailable
from recollect.model import Conversation, Message, Piece, Refusal, Scope, TurnsReceipt, Usage, Utterance, checked_id
from recollect.model.talk import Done, Failed, Remembered, Said, Started
from recollect.policy import summary
from recollect.policy.budget import count_tokens
from recollect.policy.commands import command_in
from recollect.policy.grounding import HISTORY_MESSAGES, prompt, recall_only, references_in, whole_characters
from recollect.policy.ids import new_id
from recollect.ports import Chat, Tx

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
    history: Sequence[Message] = ()
    summary: str | None = None
    command: commands.Acted | None = None

    @property
    def kept(self) -> bool:
        return self.started.reason is None


@dataclass(frozen=True, slots=True)
class Looked:
    """What is there before the turn."""

    silent: Refusal | None
    conversation: Conversation | None
    history: Sequence[Message]

    @property
    def last(self) -> Message | None:
        return next((each for each in reversed(self.history) if each.role == "user"), None)


async def converse(
    engine: Engine, scope: Scope, text: str, *, session_id: str | None = None, message_id: str | None = None
) -> Talk:
    """Begin a turn. What is wrong with it, or with the store, is raised here; what happens afterwards is told in events."""
    session = session_id or engine.occasion.session_id or new_id(engine.clock.now())
    engine = engine.on(replace(engine.occasion, session_id=checked_id(session, "session_id")))
    found = await screened_aside(
        {"role": "user", "content": text} | ({"id": message_id} if message_id else {}),
        engine.config.screening.lenient,
        engine.config.max_content_bytes,
    )
    said = turn_from(found.fields, engine.config.max_content_bytes).content
    looked = await _looked(engine, scope, session)
    thread = await thread_of(engine, scope, session)
    turn = await _ordered(engine, scope, session, said, looked, thread, found)
    if turn is None:
        turn = await _asked(engine, scope, session, said, looked, thread, found)
    return engine.talks.begin(partial(_answer, turn))


async def _looked(engine: Engine, scope: Scope, session: str) -> Looked:
    at = engine.clock.now()

    def work(tx: Tx) -> Looked:
        silent = silence(tx, engine, about=session)
        if silent is not None:
            return Looked(silent, None, ())
        conversation = tx.conversations.get(session)
        if conversation is not None and conversation.expires_at is not None and conversation.expires_at <= at:
            raise missing("conversation", session)
        return Looked(None, conversation, tx.conversations.history(session, HISTORY_MESSAGES) if conversation else ())

    looked = await engine.store.read(scope, work)
    return looked if looked.silent is None else replace(looked, history=engine.asides.said(scope, session, at))


async def _ordered(
    engine: Engine, scope: Scope, session: str, text: str, looked: Looked, thread: Thread, found: Screened
) -> Turn | None:
    """The turn of a message that orders the memory about; None where it is anything else."""
    order = commands.Ordered(
        engine=engine, scope=scope, session_id=session, thread=thread, last=looked.last, silent=looked.silent
    )
    acted = await commands.answered(order, text)
    command = command_in(text) if acted is None else None
    receipt: TurnsReceipt | None = None
    if command is not None and command.kind == "remember":
        receipt, order = await _with_message(order, text, found)
    if command is not None:
        acted = await commands.obey(order, command)
    if acted is None:
        return None
    await keep_thread(engine, scope, session, acted.thread, blank=acted.blank)
    reason = looked.silent or (None if receipt else await engine.store.read(scope, lambda tx: silence(tx, engine)))
    message_id = receipt.ids[0] if receipt else None
    started = Started(session_id=session, message_id=message_id, reason=reason, masked=found.masked)
    return Turn(
        engine=engine,
        scope=scope,
        session_id=session,
        text=text,
        started=started,
        thread=thread,
        receipt=receipt,
        ground=Ground(remembered=Remembered(used=acted.used)),
        command=acted,
    )


async def _with_message(
    order: commands.Ordered, text: str, found: Screened
) -> tuple[TurnsReceipt | None, commands.Ordered]:
    """The order with its own message stored, from which the memory is taken."""
    if order.silent is not None:
        return None, order
    receipt, _ = await keep_turns(order.engine, order.scope, order.session_id, [_turn(order.engine, text, found)])
    id = receipt.ids[0]
    stored = await order.engine.store.read(order.scope, lambda tx: tx.conversations.messages([id]))
    return receipt, replace(order, last=stored.get(id))


async def _asked(
    engine: Engine, scope: Scope, session: str, text: str, looked: Looked, thread: Thread, found: Screened
) -> Turn:
    id = found.fields.get("id")
    history = [each for each in looked.history if each.id != id and each.role in ("user", "assistant")]
    ground = await grounds.recalled(engine, scope, session, text, history, looked.silent)
    receipt: TurnsReceipt | None = None
    fresh: Sequence[Message] = ()
    turn = _turn(engine, text, found)
    if looked.silent is None:
        receipt, fresh = await keep_turns(engine, scope, session, [turn], to_read=True)
    else:
        await extract.take_in(engine, scope, session, [turn])
        engine.asides.keep(scope, session, "user", text, engine.clock.now())
    started = Started(
        session_id=session,
        message_id=receipt.ids[0] if receipt else None,
        reason=looked.silent,
        masked=found.masked,
        warnings=found.warnings,
    )
    known = looked.conversation
    return Turn(
        engine=engine,
        scope=scope,
        session_id=session,
        text=text,
        started=started,
        thread=thread,
        receipt=receipt,
        fresh=fresh,
        ground=ground,
        history=ground.window,
        summary=known.summary if known else None,
    )


def _turn(engine: Engine, text: str, found: Screened) -> dict[str, object]:
    """The message as it is stored: said now, for this request."""
    told = {"role": "user", "content": text, "created_at": engine.clock.now()}
    given = {"id": found.fields.get("id"), "correlation_id": engine.occasion.correlation_id}
    return told | {name: value for name, value in given.items() if value is not None}


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

    def add(self, text: str) -> None:
        self.pieces.append(text)
        self.size += len(text.encode("utf-8", "replace"))


async def _answer(turn: Turn, talk: Talk) -> None:
    talk.say(turn.started)
    talk.say(turn.ground.remembered)
    speech, told = Speech(), prompt(turn.text, turn.ground.context, turn.history, turn.summary, turn.engine.clock.now())
    try:
        if not await talk.speak(_speak(turn, told, speech, talk)):
            speech.finish = None
    except RecollectError as problem:
        speech.finish, speech.failure = None, _blamed(problem)
    await _conclude(turn, told, speech, talk)


async def _speak(turn: Turn, told: Sequence[Utterance], speech: Speech, talk: Talk) -> None:
    model = turn.engine.chat
    if turn.command is not None or model is None:
        text = turn.command.text if turn.command else _from_memory(turn)
        speech.add(text)
        talk.say(Said(text=text))
        speech.finish = "command" if turn.command else "recall_only"
        return
    await _spoken(model, told, speech, talk, turn.engine.config.max_content_bytes)
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
    remembered = turn.ground.remembered
    return recall_only(turn.text, remembered.used, failed=remembered.error, silent=not turn.kept)


def _blamed(problem: RecollectError) -> Failed:
    """Whatever is wrong between the model and us is nothing the person in the chat did."""
    words = (
        problem.message
        if isinstance(problem, Unavailable)
        else "the chat model refused: its configuration needs a look"
    )
    return Failed(code="unavailable", message=words)


async def _conclude(turn: Turn, told: Sequence[Utterance], speech: Speech, talk: Talk) -> None:
    """Store the reply, say that it is over, and learn from the turn."""
    cited = references_in(speech.text, (each.reference for each in turn.ground.remembered.used))
    usage, counted = speech.usage, "model"
    if usage is None:
        here = sum(count_tokens(each.content) for each in told) if turn.engine.chat and not turn.command else 0
        usage, counted = Usage(here, count_tokens(speech.text)), "here"
    partial = speech.finish is None
    reply: Message | None = None
    try:
        reply = await _kept(turn, speech, usage, partial)
        await _noted(turn, cited)
        await _learnt(turn)
    except RecollectError as problem:
        speech.failure = speech.failure or Failed(
            code=problem.code, message=f"what was said is not stored: {problem.message}"
        )
    if speech.failure is not None:
        talk.say(speech.failure)
    if speech.text:
        talk.say(
            Done(
                message_id=reply.id if reply else None,
                partial=partial,
                finish=speech.finish or "broken_off",
                usage=usage,
                counted="model" if counted == "model" else "here",
                model=turn.engine.chat.model if turn.engine.chat and not turn.command else None,
                command=turn.command.command if turn.command else None,
                cited=cited,
            )
        )
    turn.engine.heard("chatted", {"partial": partial, "failed": speech.failure is not None})
    if reply is not None and summary.is_due(max(0, reply.order - 1), reply.order + 1):
        with suppress(RecollectError):
            await summarise.summarise(turn.engine, turn.scope, turn.session_id)


async def _kept(turn: Turn, speech: Speech, usage: Usage, partial: bool) -> Message | None:
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
        partial=partial,
        tokens={"prompt": usage.prompt, "completion": usage.completion},
        ms=round((perf_counter() - speech.started) * 1000, 1),
        found=turn.command is None and engine.chat is not None,
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
