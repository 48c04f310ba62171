"""unsay: forget something as a person means it: the memory, the message it was told in, and every message that tells it again.

Forgetting a memory alone would leave its words in the conversation, where the next question finds them. What was summed up from
those messages goes, too. Other memories taken from the same message stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.browse import missing
from recollect.engine.conversations import working
from recollect.engine.forgetting.forget import removed_in, settled
from recollect.engine.remembering.merging import forget_tellings
from recollect.model import Filter, ForgetReceipt, Memory, Message, Scope, Target
from recollect.policy.text import analyse, query_terms
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_RETELLINGS = 100
TALKS_AT_ONCE = 200
MOST_SAID = 1000
"""Messages of one conversation, the last ones, that are looked through for quotations."""
FEWEST_TERMS = 2
"""Words a text must have for others to be taken for a retelling of it."""


async def unsay(engine: Engine, scope: Scope, targets: Sequence[Target]) -> ForgetReceipt:
    """Remove these for good. Ids that are gone already are passed over."""
    generations = await engine.generations.to_fill()
    ids = [each.id for each in targets if each.kind == "memory"]
    named = [each.id for each in targets if each.kind == "message"]

    def work(tx: Tx) -> ForgetReceipt:
        memories = [each for each in tx.memories.get(ids).values() if each.deleted_at is None]
        messages = tx.conversations.messages({*named, *_sources(tx, memories)})
        told: list[Memory | Message] = [*memories, *messages.values()]
        texts = [each.content for each in told]
        if told:
            since = min(each.created_at for each in told)
            messages |= _retellings(engine, tx, texts) | _quotations(tx, texts, since)
        _drop(engine, tx, list(messages.values()), generations)
        working.blank(tx, (each.session_id for each in messages.values()))
        working.blank(tx, (each.source_conversation_id for each in memories))
        # As they are without those messages: they may have been told there, too.
        left = list(tx.memories.get([each.id for each in memories]).values())
        return replace(removed_in(engine, tx, left, generations), messages=len(messages))

    gone = await engine.store.write(scope, work)
    if not gone.memories and not gone.messages:
        return gone
    engine.heard("acted", {"action": "delete", "count": gone.memories})
    return await settled(engine, scope, gone)


async def unsay_one(engine: Engine, scope: Scope, id: str) -> ForgetReceipt:
    """One memory, which must be there."""
    gone = await unsay(engine, scope, [Target("memory", id)])
    if not gone.memories:
        raise missing("memory", id)
    return gone


def _sources(tx: Tx, memories: Sequence[Memory]) -> Iterable[str]:
    for memory in memories:
        if memory.source_message_id is not None:
            yield memory.source_message_id
    for repeat in tx.links.repeats([memory.id for memory in memories]):
        if repeat.source_message_id is not None:
            yield repeat.source_message_id


def _retellings(engine: Engine, tx: Tx, texts: Sequence[str]) -> dict[str, Message]:
    """Messages that hold every word of one of the texts that says anything."""
    found: dict[str, Message] = {}
    for text in texts:
        terms = query_terms(text, or_all=False)
        if len(terms) < FEWEST_TERMS:
            continue
        near = tx.index.lexical(terms, Filter(kinds=("message",)), engine.clock.now(), MOST_RETELLINGS)
        for message in tx.conversations.messages([each.target.id for each in near]).values():
            if set(terms).issubset(analyse(message.content)):
                found[message.id] = message
    return found


def _quotations(tx: Tx, texts: Sequence[str], since: datetime) -> dict[str, Message]:
    """Replies that quoted one of the texts. They can't be found by their words, so they are looked for where they may be: in what
    was talked about since."""
    wanted = [terms for text in texts if len(terms := set(query_terms(text, or_all=False))) >= FEWEST_TERMS]
    found: dict[str, Message] = {}
    after: str | None = None
    while wanted and (page := tx.conversations.scan(after, TALKS_AT_ONCE)):
        for talk in (each for each in page if each.updated_at >= since):
            for message in tx.conversations.history(talk.id, MOST_SAID):
                quotes = message.searchable == "" and message.role == "assistant" and message.created_at >= since
                if quotes and any(terms <= set(analyse(message.content)) for terms in wanted):
                    found[message.id] = message
        after = page[-1].id
    return found


def _drop(engine: Engine, tx: Tx, messages: Sequence[Message], generations: Sequence[str]) -> None:
    if not messages:
        return
    ids = [each.id for each in messages]
    targets = [Target("message", id) for id in ids]
    tx.owe_scrub(engine.clock.now())
    forget_tellings(tx, engine, ids, generations)
    tx.index.drop(targets)
    tx.embeddings.drop(targets)
    tx.conversations.delete_messages(ids)
    for session in {each.session_id for each in messages}:
        talk = tx.conversations.get(session)
        if talk is not None:
            title = None if _titled(talk.title, messages) else talk.title
            tx.conversations.replace(replace(talk, title=title, summary=None, is_summarized=False))
    for target in targets:
        audit.record(tx, engine.occasion, engine.clock.now(), "message.forgotten", target)


def _titled(title: str | None, messages: Sequence[Message]) -> bool:
    """Whether a title is made of what is to go."""
    return title is not None and any(each.content.startswith(title) for each in messages)
