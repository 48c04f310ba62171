"""Orders given to the memory in a chat, carried out before any model is asked, and confirmed in words.

Orders are not conversation: but for "remember that …" they are not kept as messages, and neither is what is said back. What a
person wants forgotten would otherwise stand in the order to forget it. Audit facts tell what was done.

Forgetting is for good, so it is done at once only where one thing can be meant. Everything else waits for a yes. What can be
undone is, with "undo".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recollect.engine.chatting.thread import Thread, Undo
from recollect.engine.forgetting import unsaying
from recollect.engine.remembering.screening import is_long
from recollect.errors import NotAllowed, NotFound
from recollect.model import Hit, Listing, Memory, Message, Query, Refusal, Scope, Status, Target
from recollect.model.talk import Cited
from recollect.policy import extraction
from recollect.policy.commands import Command, Kind, answer_in
from recollect.policy.commands.told import refused, say, turned
from recollect.policy.followup.leaning import HAN
from recollect.policy.grounding import cited, only_asks, told
from recollect.policy.recipes import DATACHAT, RECALL, Recipe
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_LISTED = 20
MOST_TOKENS = 100_000  # a list is as long as it is: nothing in it goes into a prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """An order in its circumstances: which session, what was said last in it, and why nothing may be kept, if so."""

    engine: Engine
    scope: Scope
    session_id: str
    thread: Thread
    last: Message | None = None
    silent: Refusal | None = None

    def read(self, targets: Sequence[Target]) -> Awaitable[list[Hit]]:
        return self.engine.store.read(self.scope, lambda tx: _hits(tx, targets))


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """What was done, in words; `thread` is where it leaves the conversation."""

    command: str
    text: str
    used: tuple[Cited, ...] = ()
    thread: Thread = field(default_factory=Thread)
    blank: bool = False


async def obey(order: Ordered, command: Command) -> Acted | None:
    """Carry a command out. None where it turns out to be none: there is nothing to undo, so it was said of something else."""
    try:
        return await _ACTS[command.kind](order, command)
    except NotAllowed as problem:
        reason = problem.details.get("reason")
        return Acted(command=command.kind, text=refused(reason, command.chinese), thread=order.thread)
    except NotFound:  # somebody else was quicker
        return Acted(command=command.kind, text=say("forget_nothing", command.chinese), thread=order.thread)


async def answered(order: Ordered, text: str) -> Acted | None:
    """What is done about an answer to "shall I forget these?"; None when the text is none."""
    answer = answer_in(text) if order.thread.waits else None
    if answer is None:
        return None
    chinese, doomed = HAN.search(text) is not None, order.thread.doomed
    if not answer.agrees:
        return Acted(command="forget", text=say("kept", chinese), thread=Thread(used=doomed))
    if order.thread.all_doomed:
        receipt = await order.engine.clear(order.scope)
        return Acted(command="forget", text=say("forgot_all", chinese, count=receipt.memories), blank=True)
    chosen = _chosen(doomed, answer.numbers) if answer.numbers else doomed
    return await _forgotten(order, chosen, chinese)


async def _forget(order: Ordered, command: Command) -> Acted:
    chinese = command.chinese
    if command.everything:
        page = await order.engine.list(order.scope, Listing(limit=1))
        text = say("forget_sure_all", chinese, count=page.total)
        return Acted(command="forget", text=text, thread=Thread(all_doomed=True))
    targets = await _meant(order, command)
    if not targets:
        return Acted(command="forget", text=say("forget_nothing", chinese))
    if len(targets) == 1 and command.about is None:
        return await _forgotten(order, targets, chinese)
    things = await _cited(await order.read(targets))
    asked = say("forget_sure" if len(things) == 1 else "forget_which", chinese)
    doomed = tuple(each.target for each in things)
    return Acted(
        command="forget",
        text=_listed(asked, things, chinese),
        used=tuple(things),
        thread=Thread(used=doomed, doomed=doomed),
    )


async def _forgotten(order: Ordered, targets: Sequence[Target], chinese: bool) -> Acted:
    gone = await unsaying.unsay(order.engine, order.scope, targets)
    text = say("forgot", chinese, count=gone.memories + gone.derived, messages=gone.messages)
    return Acted(command="forget", text=text, thread=Thread(undo=Undo(done="forget")), blank=True)


async def _ask(order: Ordered, command: Command) -> Acted:
    chinese = command.chinese
    if order.silent is not None:
        return Acted(command="ask", text=refused(order.silent, chinese))
    if command.about is None:
        page = await order.engine.list(order.scope, Listing(limit=MOST_LISTED))
        things = await _cited([Hit(memory=each, relevance=1.0, score=0.0) for each in page])
        asked = say("ask_all", chinese, count=page.total) if things else say("ask_nothing_at_all", chinese)
    else:
        things = await _cited(await _about(order, command.about))
        asked = say("ask_about", chinese, about=turned(command.about)) if things else say("ask_nothing", chinese)
    used = tuple(each.target for each in things)
    return Acted(command="ask", text=_listed(asked, things, chinese), used=tuple(things), thread=Thread(used=used))


async def _why(order: Ordered, command: Command) -> Acted:
    chinese = command.chinese
    things = await _cited(await order.read(order.thread.used))
    if not things or order.silent is not None:
        return Acted(command="why", text=say("no_reason", chinese), thread=order.thread)
    lines = [f"- {told(each, chinese)}{await _where(order, each, chinese)}" for each in things]
    text = "\n".join((say("because", chinese), *lines))
    return Acted(command="why", text=text, used=tuple(things), thread=order.thread)


async def _where(order: Ordered, thing: Cited, chinese: bool) -> str:
    session = thing.session_id
    talk = await order.engine.store.read(order.scope, lambda tx: tx.conversations.get(session) if session else None)
    title = " ".join((talk.title or "").split()) if talk is not None else ""
    return say("from_talk", chinese, title=title) if title else ""


async def _pin(order: Ordered, command: Command) -> Acted:
    wanted = command.kind == "pin"
    memories = [hit.memory for hit in await order.read(await _meant(order, command)) if hit.memory is not None]
    ids = [each.id for each in memories if each.pinned != wanted]
    if not memories and wanted and command.about is None and order.last is not None and order.silent is None:
        receipt = await order.engine.remember(
            order.scope, _asked_for(order.last, order.session_id, order.last.content) | {"pinned": True}
        )
        if receipt.id is None:
            return Acted(command="pin", text=refused(receipt.reason, command.chinese), thread=order.thread)
        ids = [receipt.id]
    elif not memories:
        return Acted(command=command.kind, text=say("pin_nothing", command.chinese), thread=order.thread)
    for id in ids:
        await order.engine.revise(order.scope, id, {"pinned": wanted})
    used = tuple(Target("memory", each.id) for each in memories) or tuple(Target("memory", id) for id in ids)
    thread = Thread(used=used, undo=Undo(done=command.kind, ids=tuple(ids)))
    return Acted(command=command.kind, text=say(f"{command.kind}ned", command.chinese), thread=thread)


async def _switch(order: Ordered, command: Command) -> Acted:
    await _switched(order, command.kind)
    undo = Undo(done=command.kind)
    return Acted(command=command.kind, text=say(command.kind, command.chinese), thread=Thread(undo=undo))


async def _switched(order: Ordered, kind: str) -> None:
    engine, scope = order.engine, order.scope
    if kind == "incognito_start":
        await engine.start_incognito(scope, order.session_id)
    elif kind == "incognito_end":
        await engine.end_incognito(scope, order.session_id)
    else:
        await engine.change_settings(scope, {"memory_enabled": kind == "memory_on"})


_OTHER_WAY: dict[str, str] = {
    "memory_off": "memory_on",
    "memory_on": "memory_off",
    "incognito_start": "incognito_end",
    "incognito_end": "incognito_start",
}


async def _undo(order: Ordered, command: Command) -> Acted | None:
    undo = order.thread.undo
    if undo is None:
        return await _unlearnt(order, command)
    if undo.done == "forget":
        return Acted(command="undo", text=say("not_undone", command.chinese))
    if undo.done in _OTHER_WAY:
        await _switched(order, _OTHER_WAY[undo.done])
    elif undo.done == "remember":
        await unsaying.unsay(order.engine, order.scope, [Target("memory", id) for id in undo.ids])
    else:
        for id in undo.ids:
            await order.engine.revise(order.scope, id, {"pinned": undo.done == "unpin"})
    return Acted(command="undo", text=say("undone", command.chinese))


async def _unlearnt(order: Ordered, command: Command) -> Acted | None:
    """Nothing was ordered: what is taken back is that something learnt from the last message replaced what was known. Nothing
    is forgotten by that; where nothing was replaced, it was said of something else."""
    last = order.last
    if last is None or order.silent is not None:
        return None
    learnt = await order.engine.store.read(order.scope, lambda tx: tx.memories.from_messages([last.id]))
    changed = [(each.id, each.supersedes) for each in learnt if each.status is Status.ACTIVE and each.supersedes]
    for id, before in changed:
        await order.engine.resolve_conflict(order.scope, id, keep=before)
    return Acted(command="undo", text=say("undone", command.chinese)) if changed else None


def _asked_for(message: Message, session_id: str, asked: str) -> dict[str, Any]:
    """What to store when somebody asks for it: read by the rules where they know what it says, else in the words given."""
    read = extraction.read(message.content).items
    known: dict[str, Any] = {"content": asked}
    if len(read) == 1 and read[0].explicit:
        item = read[0]
        known = {"content": item.content, "type": item.category, "key": item.key, "value": item.value}
    return {
        **known,
        "manually_saved": True,
        "source_conversation_id": session_id,
        "source_message_id": message.id,
        "created_at": message.created_at,
    }


async def _meant(order: Ordered, command: Command) -> Sequence[Target]:
    """What "that" is: those of the list that are named; what is found about it; what was learnt from the last message; that
    message itself where it states something, beside what a model cited in reply; what the last reply used."""
    used = order.thread.used
    if command.numbers:
        return _chosen(used, command.numbers)
    if command.about is not None:
        if order.silent is not None:
            return ()
        return [hit.target for hit in await _about(order, command.about)]
    last = order.last
    if last is None or order.silent is not None:
        return used
    stored = await order.engine.store.read(order.scope, lambda tx: tx.memories.from_messages([last.id]))
    if stored:
        return [Target("memory", each.id) for each in stored]
    itself = Target("message", last.id)
    if only_asks(Hit(message=last, relevance=1.0, score=0.0)):
        return used or [itself]
    # Without a model the reply lists whatever is near: nobody has said it, and nobody means it.
    return [itself] if order.engine.chat is None else list(dict.fromkeys((itself, *used)))


async def _about(order: Ordered, about: str) -> list[Hit]:
    """What is remembered about something, and what its owner said of it beside that, each relevant in itself: what merely comes
    along must not be forgotten along."""
    known = await _sure(order, about, RECALL)
    memories = [hit.memory for hit in known if hit.memory is not None]
    sources = {each.source_message_id for each in memories}
    texts = [each.content.casefold() for each in memories]
    said = [
        hit
        for hit in await _sure(order, about, DATACHAT)
        if hit.message is not None
        and hit.message.role == "user"
        and hit.message.id not in sources
        and not any(text in hit.content.casefold() for text in texts)
    ]
    return [*known, *said][:MOST_LISTED]


async def _sure(order: Ordered, about: str, recipe: Recipe) -> list[Hit]:
    """By a recipe in which each hit must hold its own beside the best one, because few words are a little like everything: of
    memories one of the contracts', of messages another."""
    # Not softly: an empty answer because of too many questions would be told as "nothing is remembered".
    query = Query(text=about, recipe=recipe.name, limit=MOST_LISTED, token_budget=MOST_TOKENS)
    return [hit for hit in await order.engine.recall(order.scope, query) if not only_asks(hit)]


def _chosen(targets: Sequence[Target], numbers: Sequence[int]) -> list[Target]:
    """By their numbers in the list; -1 is the last one. A number that isn't in it means nothing."""
    wanted = {number if number > 0 else len(targets) + 1 + number for number in numbers}
    return [target for number, target in enumerate(targets, start=1) if number in wanted]


async def _cited(hits: Sequence[Hit]) -> list[Cited]:
    long = is_long([hit.content for hit in hits])
    return await asyncio.to_thread(cited, hits, {}) if long else cited(hits, {})


def _listed(opening: str, things: Sequence[Cited], chinese: bool) -> str:
    lines = (f"{number}. {told(each, chinese)}" for number, each in enumerate(things, start=1))
    return "\n".join((opening, *lines))


def _hits(tx: Tx, targets: Sequence[Target]) -> list[Hit]:
    memories: dict[str, Memory] = tx.memories.get([each.id for each in targets if each.kind == "memory"])
    messages: dict[str, Message] = tx.conversations.messages([each.id for each in targets if each.kind == "message"])
    hits = []
    for each in targets:
        memory = memories.get(each.id) if each.kind == "memory" else None
        message = messages.get(each.id) if each.kind == "message" else None
        if message is not None or (memory is not None and memory.deleted_at is None):
            hits.append(Hit(memory=memory, message=message, relevance=1.0, score=0.0))
    return hits


async def _remember(order: Ordered, command: Command) -> Acted:
    """Its message is stored by now, as `order.last`."""
    chinese, last = command.chinese, order.last
    if order.silent is not None or last is None or command.about is None:
        return Acted(command="remember", text=refused(order.silent, chinese), thread=order.thread)
    receipt = await order.engine.remember(order.scope, _asked_for(last, order.session_id, command.about))
    if receipt.id is None:
        return Acted(command="remember", text=refused(receipt.reason, chinese), thread=order.thread)
    text = say("known" if receipt.outcome == "merged" else "remembered", chinese)
    if receipt.replaces:
        old = await order.read([Target("memory", receipt.replaces)])
        text = say("replaced", chinese, old=" ".join(old[0].content.split())) if old else text
    if receipt.confirm:
        text = f"{text} {receipt.confirm}"
    undo = Undo(done="remember", ids=(receipt.id,)) if receipt.outcome != "merged" else None
    return Acted(command="remember", text=text, thread=Thread(used=(Target("memory", receipt.id),), undo=undo))


_ACTS: dict[Kind, Callable[[Ordered, Command], Awaitable[Acted | None]]] = {
    "ask": _ask,
    "forget": _forget,
    "pin": _pin,
    "unpin": _pin,
    "remember": _remember,
    "memory_off": _switch,
    "memory_on": _switch,
    "incognito_start": _switch,
    "incognito_end": _switch,
    "why": _why,
    "undo": _undo,
}
