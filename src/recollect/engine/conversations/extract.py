"""extract: take in the turns of a conversation and remember what their speakers say of themselves.

Without a language model this happens at once, by rules that cost a millisecond. With one, turns are stored and marked as unread
in the session's working memory, and the background reads them: the store is the queue, so whoever dies loses nothing but time.
Either way every item passes `remember` like anything else, and what was shown as memory in the session is no news (`echo`).

What may not be kept is still understood: in an incognito session the working memory of this process is all that changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.engine.boundary import silence
from recollect.engine.conversations import working
from recollect.engine.conversations.converse import keep_turns, turn_from
from recollect.engine.remembering.disputes import claims_of, weigh
from recollect.engine.remembering.drafts import draft_from
from recollect.engine.remembering.screening import all_screened_aside, is_long
from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable
from recollect.model import (
    Analysis,
    Extraction,
    Item,
    Message,
    Receipt,
    Refusal,
    Scope,
    Status,
    TakenIn,
    TurnsReceipt,
    WorkingMemory,
    checked_id,
)
from recollect.policy import emotion, extraction, topics
from recollect.policy.echo import is_echo
from recollect.policy.extraction import corrections
from recollect.policy.extraction import model as extraction_model
from recollect.policy.metadata import described
from recollect.ports import Chat, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

LEASE = timedelta(minutes=5)
"""How long one reader may take over a session's unread turns before another tries."""
MOST_TOKENS = 1200
SIDE_BY_SIDE = 4
MOST_AT_ONCE = 200
"""Unread turns looked at in one go."""

NOTHING_TO_ASK = [("greeting",), ("code",), ("empty",), (extraction.PRIVATE,)]
"""Of turns that are nothing but this no model is asked."""


async def take_in(engine: Engine, scope: Scope, session_id: str, turns: Iterable[Mapping[str, Any]]) -> TakenIn:
    """Store turns, and remember what the users among their speakers say."""
    checked_id(session_id, "session_id")
    engine = _in_session(engine, session_id)
    given = list(turns)
    silent: Refusal | None = await engine.store.read(scope, lambda tx: silence(tx, engine, session_id))
    if silent is not None:
        return await _understood(engine, scope, session_id, given, silent)
    receipt, fresh = await keep_turns(engine, scope, session_id, given, to_read=True)
    return await take_up(engine, scope, session_id, receipt, fresh)


async def take_up(
    engine: Engine, scope: Scope, session_id: str, receipt: TurnsReceipt | None, fresh: Sequence[Message]
) -> TakenIn:
    """The second half of it, for whoever has stored the turns as unread: learn from them now, or have it done."""
    engine = _in_session(engine, session_id)
    said = [message for message in fresh if message.role == "user"]
    if _reader(engine) is None:
        done = await read_session(engine, scope, session_id, said) if said else ()
        return TakenIn(turns=receipt, extractions=tuple(done))
    if said:
        known = await working.stored_or_private(engine, scope, session_id)
        read = await _read_in_turn(said, known)
        await working.change(engine, scope, session_id, working.noticing(read, engine.clock.now()))
        engine.sessions.call(scope, session_id)
    return TakenIn(turns=receipt, waiting=len(said))


async def read_session(
    engine: Engine, scope: Scope, session_id: str, said: Sequence[Message] | None = None
) -> list[Extraction]:
    """Read what is unread of a session: with the model, where there is one, else by rules.

    `said`: the messages of users, where they are at hand. What a model that is down could not read stays unread.
    """
    engine = _in_session(engine, session_id)
    context: Mapping[str, str] = {}
    if said is None:
        said, context = await _unread(engine, scope, session_id)
    if not said:
        return []
    chat = _reader(engine)
    known = await working.stored_or_private(engine, scope, session_id)
    done: list[Extraction] = []
    for message in said:
        topic = done[-1].analysis.topic if done else known.current_topic if known else None
        try:
            analysis = await _analysed(chat, message, context.get(message.id), topic, known)
        except (Unavailable, NotAllowed):
            engine.sessions.remind(scope, session_id)
            break
        if chat is not None and not await _still_there(engine, scope, message):
            analysis = replace(analysis, items=(), rejected=(*analysis.rejected, "forgotten meanwhile"))
        news = _news(engine, scope, analysis, known, session_id)
        done.append(await _stored(engine, scope, session_id, message, news))
        if chat is not None:  # reading takes seconds: what was read is not read again, whatever comes
            await _mark(engine, scope, session_id, done[-1:], (message,), reading=True)
    left = await _mark(engine, scope, session_id, done if chat is None else (), said[: len(done)], reading=False)
    if left and len(done) == len(said):
        engine.sessions.remind(scope, session_id)
    return done


async def read_waiting(engine: Engine) -> list[Extraction]:
    """Read what is unread in the sessions that called for it, a few of them side by side."""
    done: list[Extraction] = []
    called = engine.sessions.waiting()
    for start in range(0, len(called), SIDE_BY_SIDE):
        few = called[start : start + SIDE_BY_SIDE]
        for read in await asyncio.gather(*(read_session(engine, scope, session_id) for scope, session_id in few)):
            done += read
    return done


async def _still_there(engine: Engine, scope: Scope, message: Message) -> bool:
    """A model takes its time; what was forgotten meanwhile is not to come back by it."""
    return message.id in await engine.store.read(scope, lambda tx: tx.conversations.messages([message.id]))


def _in_session(engine: Engine, session_id: str) -> Engine:
    """What is asked of no session in particular belongs to the one whose turns these are."""
    occasion = engine.occasion
    return engine if occasion.session_id is not None else engine.on(replace(occasion, session_id=session_id))


def _reader(engine: Engine) -> Chat | None:
    """The model that reads turns: none where what it finds may not be kept."""
    return engine.chat if engine.config.write_mode == "automatic" else None


def by_rules(
    text: str, speaker: str | None = None, topic: str | None = None, variables: Mapping[str, Any] | None = None
) -> Analysis:
    """What a turn says, as far as rules can tell."""
    read = extraction.read(text, speaker)
    if read.rejected == (extraction.PRIVATE,):
        return Analysis(topic=topic, rejected=read.rejected)
    known = described(text)
    return Analysis(
        items=read.items,
        topic=topics.topic_of(text, topic, known),
        variables=topics.variables_of(text, variables or {}, known),
        emotion=emotion.detected(text),
        rejected=read.rejected,
    )


async def by_model(chat: Chat, text: str, previous: str | None = None, topic: str | None = None) -> Analysis:
    """What a turn says, as far as a model's answer can be believed. `Unavailable` when there is none."""
    answer = await chat.complete(
        extraction_model.request(text, previous, topic), schema=extraction_model.SCHEMA, max_tokens=MOST_TOKENS
    )
    return extraction_model.answered(answer.text, text)


async def _analysed(
    chat: Chat | None, message: Message, previous: str | None, topic: str | None, known: WorkingMemory | None
) -> Analysis:
    told = (message.content, message.name, topic, working.visible(known.context_variables) if known else {})
    rules = await asyncio.to_thread(by_rules, *told) if is_long(message.content) else by_rules(*told)
    if chat is None:
        return rules
    if not rules.items and rules.rejected in NOTHING_TO_ASK:
        return rules
    try:
        return await by_model(chat, message.content, previous, topic)
    except InvalidInput:  # this turn is one it can't read; the next may be another matter
        return replace(rules, rejected=(*rules.rejected, "the model refused"))


def _news(engine: Engine, scope: Scope, analysis: Analysis, known: WorkingMemory | None, session_id: str) -> Analysis:
    """The analysis without what the session was shown as memory."""
    shown = working.footprints(known)
    if not shown or not analysis.items:
        return analysis
    key = working.session_key(engine, scope, session_id)
    items = tuple(each for each in analysis.items if not is_echo(each.content, shown, key, each.key, each.value))
    if len(items) == len(analysis.items):
        return analysis
    return replace(analysis, items=items, rejected=(*analysis.rejected, "echo"))


async def _stored(engine: Engine, scope: Scope, session_id: str, message: Message, analysis: Analysis) -> Extraction:
    receipts: list[Receipt] = []
    kept: list[Item] = []
    rejected = list(analysis.rejected)
    for item in (*analysis.items, *await _changes(engine, scope, session_id, message, analysis)):
        if not _wanted(engine, item):
            rejected.append(f"write mode {engine.config.write_mode}")
            continue
        kept.append(item)
        try:
            receipts.append(await engine.remember(scope, _fields(item, message, session_id)))
        except RecollectError as problem:  # the turn itself is safe; that it was not learnt from is said
            rejected.append(f"not stored: {type(problem).__name__}")
    read = replace(analysis, items=tuple(kept), rejected=tuple(dict.fromkeys(rejected)))
    return Extraction(message_id=message.id, analysis=read, receipts=tuple(receipts))


async def _changes(
    engine: Engine, scope: Scope, session_id: str, message: Message, analysis: Analysis
) -> Sequence[Item]:
    """What rules leave unread, where it replaces something that is remembered: else that would go on as if it were still so."""
    if analysis.by != "rules" or message.name is not None:
        return ()
    if (meant := corrections.fragment(message.content)) is not None:
        return await engine.store.read(scope, lambda tx: _put_right(tx, session_id, message, meant))
    told = [each for each in extraction.unread(message.content, analysis.items) if _wanted(engine, each)]
    drafts = [(each, draft_from(_fields(each, message, session_id), engine.config.max_content_bytes)) for each in told]
    claims = [(each, draft, claims_of(scope, each.content, engine.config.pepper)) for each, draft in drafts]
    claims = [each for each in claims if each[2].slots or each[2].news]
    if not claims:
        return ()

    def work(tx: Tx) -> list[Item]:
        return [item for item, draft, claim in claims if weigh(tx, draft, claim, {}).replaced]

    return await engine.store.read(scope, work)


def _put_right(tx: Tx, session_id: str, message: Message, meant: str) -> Sequence[Item]:
    """What was learnt from the turn before, with what was meant in it."""
    before = [each for each in tx.conversations.history(session_id, 3, message.order) if each.role == "user"]
    learnt = tx.memories.from_messages([before[-1].id]) if before else ()
    texts = (corrections.corrected(each.content, each.value, meant) for each in learnt if each.status is Status.ACTIVE)
    return [item for text in texts if text is not None for item in extraction.read(text).items]


def _wanted(engine: Engine, item: Item) -> bool:
    mode = engine.config.write_mode
    return mode == "automatic" or (mode == "explicit" and item.explicit)


def _fields(item: Item, message: Message, session_id: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "content": item.content,
        "type": item.category,
        "key": item.key,
        "value": item.value,
        "source": item.source,
        "confidence": item.confidence,
        "source_message_id": message.id,
        "source_conversation_id": session_id,
    }
    if item.explicit:
        fields["manually_saved"] = True
    if message.dated:
        fields["created_at"] = message.created_at
    return fields


async def _understood(
    engine: Engine, scope: Scope, session_id: str, turns: Sequence[Mapping[str, Any]], reason: Refusal
) -> TakenIn:
    """Where nothing may be kept: the turns move this process's idea of the session, and that is all."""
    rules, most = engine.config.screening.lenient, engine.config.max_content_bytes
    checked = [turn_from(each.fields, most) for each in await all_screened_aside(turns, rules, most)]
    known = engine.sessions.private(scope, session_id)
    said = [turn for turn in checked if turn.role == "user"]
    at = engine.clock.now()
    if said:
        read = await _read_in_turn(said, known)
        begun = known or WorkingMemory(session_id=session_id, created_at=at, updated_at=at)
        engine.sessions.keep_private(scope, working.noticing(read, at, turns=len(said))(begun))
        engine.sessions.touch(scope, at)
    return TakenIn(turns=None, reason=reason)


async def _read_in_turn(said: Sequence[Any], known: WorkingMemory | None) -> list[Analysis]:
    """On a thread where it takes long: everybody else is answered from this one."""
    long = is_long([turn.content for turn in said])
    return await asyncio.to_thread(_in_turn, said, known) if long else _in_turn(said, known)


def _in_turn(said: Sequence[Any], known: WorkingMemory | None) -> list[Analysis]:
    """Each turn by rules, the topic of one known to the next; of what they say nothing is kept here."""
    read: list[Analysis] = []
    for turn in said:
        topic = read[-1].topic if read else known.current_topic if known else None
        analysis = by_rules(turn.content, turn.name, topic, working.visible(known.context_variables) if known else {})
        read.append(replace(analysis, items=()))
    return read


async def _unread(engine: Engine, scope: Scope, session_id: str) -> tuple[list[Message], dict[str, str]]:
    """The oldest unread messages, and what was said to each before; nothing while another reader has them."""
    at = engine.clock.now()

    def work(tx: Tx) -> tuple[set[int], Sequence[Message]] | None:
        known = tx.space.working(session_id)
        orders = set(working.unread(known))
        if known is None or not orders or silence(tx, engine, session_id) is not None:
            return set(), ()
        if _held(known, at):
            return None
        first = max(0, min(orders) - 1)
        last = min(max(orders) + 1, first + MOST_AT_ONCE)
        history = tx.conversations.history(session_id, last - first, last)
        there = {message.order for message in history}
        left = sorted(order for order in orders if order >= last or order in there)
        reading = (at + LEASE).isoformat() if orders & there else None
        tx.space.save_working(replace(known, context_variables=_marked(known, left, reading)))
        return orders, history

    found = await engine.store.write(scope, work)
    if found is None:
        engine.sessions.remind(scope, session_id)
        return [], {}
    orders, history = found
    said = [message for message in history if message.order in orders]
    replies = {message.order: message.content for message in history if message.role == "assistant"}
    return said, {message.id: replies[message.order - 1] for message in said if message.order - 1 in replies}


def _held(known: WorkingMemory, at: datetime) -> bool:
    until = known.context_variables.get(working.READING)
    return isinstance(until, str) and datetime.fromisoformat(until) > at


async def _mark(
    engine: Engine,
    scope: Scope,
    session_id: str,
    done: Sequence[Extraction],
    read: Sequence[Message],
    *,
    reading: bool,
) -> bool:
    """Take up what was found, and strike what was read off the list. `reading`: more is being read. Says whether any is left."""
    at = engine.clock.now()
    orders = {message.order for message in read}

    def work(tx: Tx) -> bool:
        known = tx.space.working(session_id)
        if known is None:
            return False
        after = working.noticing([each.analysis for each in done], at)(known) if done else known
        left = [order for order in working.unread(known) if order not in orders]
        variables = _marked(after, left, (at + LEASE).isoformat() if reading else None)
        tx.space.save_working(replace(after, context_variables=variables, updated_at=known.updated_at))
        return bool(left)

    return await engine.store.write(scope, work)


def _marked(known: WorkingMemory, unread: Sequence[int], reading: str | None) -> dict[str, Any]:
    own = {working.UNREAD: list(unread), working.READING: reading}
    others = {name: value for name, value in known.context_variables.items() if name not in own}
    return {**others, **{name: value for name, value in own.items() if value}}
