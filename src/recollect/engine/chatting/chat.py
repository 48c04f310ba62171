"""converse: one turn of a chat, from a person's message to a reply that is stored.

    input guard -> may anything be kept? -> an order to the memory? -> recall -> the message is stored -> `answering`

The message is durable before any model is asked; if it can't be stored the turn fails and nothing of it remains. Recall comes
first of the two, or the best answer to every message would be the message itself. If recall fails, the turn goes on without
memory and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.engine.boundary import silence
from recollect.engine.browse import missing
from recollect.engine.chatting import commands, grounds
from recollect.engine.chatting.answering import Turn, answer
from recollect.engine.chatting.grounds import Ground
from recollect.engine.chatting.talks import Talk
from recollect.engine.chatting.thread import Thread, keep_thread, thread_of
from recollect.engine.conversations import extract
from recollect.engine.conversations.converse import keep_turns, turn_from
from recollect.engine.conversations.copies import last_messages
from recollect.engine.remembering.screening import Screened, screened_aside
from recollect.model import Conversation, Message, Refusal, Scope, TurnsReceipt, checked_id
from recollect.model.talk import Remembered, Started
from recollect.policy.commands import command_in
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine import Engine


@dataclass(frozen=True, slots=True)
class Looked:
    """What is there before the turn."""

    silent: Refusal | None
    conversation: Conversation | None
    history: Sequence[Message]

    @property
    def last(self) -> Message | None:
        return next((each for each in reversed(self.history) if each.role == "user"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as it came in, screened, and what it came into. `engine` is the one of this session."""

    engine: Engine
    scope: Scope
    session_id: str
    text: str
    id: str | None
    found: Screened
    looked: Looked
    thread: Thread

    def turn(self) -> dict[str, object]:
        """The message as it is stored: said now, for this request."""
        told = {"role": "user", "content": self.text, "created_at": self.engine.clock.now()}
        given = {"id": self.id, "correlation_id": self.engine.occasion.correlation_id}
        return told | {name: value for name, value in given.items() if value is not None}

    def started(self, receipt: TurnsReceipt | None, reason: Refusal | None) -> Started:
        return Started(
            session_id=self.session_id,
            message_id=receipt.ids[0] if receipt else None,
            reason=reason,
            masked=self.found.masked,
            warnings=self.found.warnings,
        )


async def converse(
    engine: Engine, scope: Scope, text: str, *, session_id: str | None = None, message_id: str | None = None
) -> Talk:
    """Begin a turn. What is wrong with it, or with the store, is raised here; what happens afterwards is told in events."""
    session = session_id or engine.occasion.session_id or new_id(engine.clock.now())
    engine = engine.on(replace(engine.occasion, session_id=checked_id(session, "session_id")))
    rules, most = engine.config.screening.lenient, engine.config.max_content_bytes
    found = await screened_aside({"role": "user", "content": text}, rules, most)
    heard = Heard(
        engine=engine,
        scope=scope,
        session_id=session,
        text=turn_from(found.fields, most).content,
        id=None if message_id is None else checked_id(message_id, "message_id"),
        found=found,
        looked=await _looked(engine, scope, session),
        thread=await thread_of(engine, scope, session),
    )
    turn = await _ordered(heard) or await _asked(heard)
    return engine.talks.begin(partial(answer, turn))


async def _looked(engine: Engine, scope: Scope, session: str) -> Looked:
    at = engine.clock.now()
    history = await last_messages(engine, scope, session)

    def work(tx: Tx) -> Looked:
        silent = silence(tx, engine, about=session)
        if silent is not None:
            return Looked(silent, None, ())
        conversation = tx.conversations.get(session)
        if conversation is not None and conversation.expires_at is not None and conversation.expires_at <= at:
            raise missing("conversation", session)
        return Looked(None, conversation, history(tx, conversation) if conversation else ())

    looked = await engine.store.read(scope, work)
    return looked if looked.silent is None else replace(looked, history=engine.asides.said(scope, session, at))


async def _ordered(heard: Heard) -> Turn | None:
    """The turn of a message that orders the memory about; None where it is anything else."""
    engine, scope, session = heard.engine, heard.scope, heard.session_id
    last, silent = heard.looked.last, heard.looked.silent
    order = commands.Ordered(
        engine=engine, scope=scope, session_id=session, thread=heard.thread, last=last, silent=silent
    )
    acted = await commands.answered(order, heard.text)
    command = command_in(heard.text) if acted is None else None
    receipt: TurnsReceipt | None = None
    if command is not None:
        if command.kind == "remember" and silent is None:
            receipt, message = await _stored(heard)
            order = replace(order, last=message)
        acted = await commands.obey(order, command)
    if acted is None:
        return None
    await keep_thread(engine, scope, session, acted.thread, blank=acted.blank)
    reason = silent or (None if receipt else await engine.store.read(scope, lambda tx: silence(tx, engine)))
    return Turn(
        engine=engine,
        scope=scope,
        session_id=session,
        text=heard.text,
        started=heard.started(receipt, reason),
        thread=heard.thread,
        receipt=receipt,
        ground=Ground(remembered=Remembered(used=acted.used)),
        command=acted,
    )


async def _stored(heard: Heard) -> tuple[TurnsReceipt, Message | None]:
    """The message of an order to remember: it is where the memory is taken from, so nobody need read it again."""
    receipt, _ = await keep_turns(heard.engine, heard.scope, heard.session_id, [heard.turn()])
    id = receipt.ids[0]
    stored = await heard.engine.store.read(heard.scope, lambda tx: tx.conversations.messages([id]))
    return receipt, stored.get(id)


async def _asked(heard: Heard) -> Turn:
    engine, scope, session, looked = heard.engine, heard.scope, heard.session_id, heard.looked
    shown = engine.config.chat.history
    past = looked.history[-shown:] if shown else ()
    history = [each for each in past if each.id != heard.id and each.role in ("user", "assistant")]
    ground = await grounds.recalled(engine, scope, session, heard.text, history, looked.silent, id=heard.id)
    receipt: TurnsReceipt | None = None
    fresh: Sequence[Message] = ()
    if looked.silent is None:
        receipt, fresh = await keep_turns(engine, scope, session, [heard.turn()], to_read=True)
    else:
        await extract.take_in(engine, scope, session, [heard.turn()])
        engine.asides.keep(scope, session, "user", heard.text, engine.clock.now())
    return Turn(
        engine=engine,
        scope=scope,
        session_id=session,
        text=heard.text,
        started=heard.started(receipt, looked.silent),
        thread=heard.thread,
        receipt=receipt,
        fresh=fresh,
        ground=ground,
        summary=looked.conversation.summary if looked.conversation else None,
    )
