"""The question is stored before it is answered, the answer with everything that came of it and all that it rests on.

What is stored is screened like any text: secrets, and where the rules say so personal details, are masked in questions, answers,
queries and rows. The answerer gets the question as it was asked; it couldn't answer it otherwise.

An answered question is found by one text: question, query, tables and the beginning of the answer. Where the same was asked
before and answered by the same query, the newer one takes its place in the index; both conversations stay whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import silence
from recollect.engine.datachat.pairs import answer_id
from recollect.engine.remembering.indexing import index_messages
from recollect.engine.remembering.screening import screened_aside
from recollect.model import AskData, Conversation, DataAccess, DataAnswer, Exchange, Message, Scope, Target
from recollect.policy.datachat import NAME_CHARS, is_repeat, searchable, session_name, stored_result
from recollect.policy.grounds import grounds_of
from recollect.policy.guard import checked_text
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is stored."""

    message: Message
    conversation: Conversation


async def open_conversation(engine: Engine, scope: Scope, session: str) -> Conversation:
    """A conversation in which nothing has been asked yet; where nothing may be kept it is one in name only."""
    opened = _opened(engine, session, None, AskData(question=""))
    if await engine.store.read(scope, lambda tx: silence(tx, engine, about=session)) is not None:
        return opened

    def work(tx: Tx) -> Conversation:
        audit.record(tx, engine.occasion, opened.created_at, "datachat.opened")
        return tx.conversations.open(opened)

    return await engine.store.write(scope.data, work)


async def keep_question(engine: Engine, scope: Scope, session: str, asked: AskData) -> Asked | None:
    """None where nothing may be kept any more. Whether memory is on in the space itself was asked before (`recalling`); from the
    first question on the data chat's own space knows, too."""
    at = engine.clock.now()
    texts = {"content": asked.question, "title": asked.session_name or ""}
    found = await screened_aside(texts, engine.config.screening.lenient, engine.config.max_content_bytes)
    question = checked_text(found.fields["content"], "question", engine.config.max_content_bytes)
    title = str(found.fields["title"]).strip()[:NAME_CHARS] or session_name(question)
    draft = Message(
        id=new_id(at),
        session_id=session,
        order=0,
        role="user",
        content=question,
        correlation_id=engine.occasion.correlation_id,
        created_at=at,
    )
    opened = _opened(engine, session, title, asked)

    def work(tx: Tx) -> Asked | None:
        if silence(tx, engine, about=session) is not None:
            return None
        talk = tx.conversations.open(opened)
        message = replace(draft, order=talk.message_count)
        tx.conversations.append([message])
        grown = replace(
            talk,
            title=talk.title or title,
            message_count=message.order + 1,
            updated_at=max(talk.updated_at, at),
            databases=_joined(talk.databases, asked.databases),
            database_tags=_joined(talk.database_tags, asked.tags),
        )
        tx.conversations.replace(grown)
        audit.record(tx, engine.occasion, at, "datachat.asked", Target("message", message.id))
        return Asked(message, grown)

    return await engine.store.write(scope.data, work)


def _opened(engine: Engine, session: str, title: str | None, asked: AskData) -> Conversation:
    at, retention = engine.clock.now(), engine.config.chat_retention
    return Conversation(
        id=session,
        title=title,
        created_at=at,
        updated_at=at,
        expires_at=None if retention is None else at + retention,
        databases=asked.databases,
        database_tags=asked.tags,
    )


async def keep_answer(
    engine: Engine,
    scope: Scope,
    asked: Asked,
    answer: DataAnswer,
    access: DataAccess,
    shown: Sequence[Exchange],
    near: Sequence[Exchange],
) -> tuple[Conversation, Message] | None:
    """`shown` is what the answerer saw, `near` what this may repeat. None where the conversation is gone, or may not grow."""
    at, question = engine.clock.now(), asked.message.content
    message = await _screened(engine, asked, answer)
    # Compares all the words of all that was shown, which may be many.
    message = replace(message, grounds=await asyncio.to_thread(grounds_of, question, answer, shown, access))
    repeated = [
        Target("message", answer_id(each.message_id))
        for each in near
        if each.message_id and set(message.grounds or ()) <= set(each.grounds) and is_repeat(question, answer.sql, each)
    ]
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> tuple[Conversation, Message] | None:
        talk = None if silence(tx, engine, about=message.session_id) else tx.conversations.get(message.session_id)
        if talk is None or not tx.conversations.messages([asked.message.id]):
            return None
        said = replace(message, order=talk.message_count)
        tx.conversations.append([said])
        grown = replace(
            talk,
            message_count=said.order + 1,
            updated_at=max(talk.updated_at, at),
            databases=_joined(talk.databases, answer.databases),
        )
        tx.conversations.replace(grown)
        tx.index.drop(repeated)
        tx.embeddings.drop(repeated)
        index_messages(tx, [said], generations, at, expires_at=talk.expires_at)
        audit.record(tx, engine.occasion, at, "datachat.answered", Target("message", said.id), repeats=len(repeated))
        return grown, said

    kept = await engine.store.write(scope.data, work)
    engine.wake()
    return kept


async def _screened(engine: Engine, asked: Asked, answer: DataAnswer) -> Message:
    """The answer as a message, with nothing in it that may not be kept."""
    fields = {
        "content": _clean(answer.answer) or "(no answer)",
        "sql_query": _clean(answer.sql),
        "query_explanation": _clean(answer.explanation),
        "execution_result": stored_result(answer.result, engine.config.data.stored_rows),
    }
    found = (await screened_aside(fields, engine.config.screening.lenient, engine.config.max_content_bytes)).fields
    sql, content = str(found["sql_query"]), str(found["content"])
    at = engine.clock.now()
    return Message(
        id=answer_id(asked.message.id),
        session_id=asked.message.session_id,
        order=0,
        role="assistant",
        content=content,
        correlation_id=engine.occasion.correlation_id,
        created_at=at,
        sql_query=sql or None,
        query_explanation=str(found["query_explanation"]) or None,
        tables_used=answer.tables,
        execution_result=found["execution_result"],
        tokens={name: count for name, count in answer.tokens.items() if isinstance(count, int)},
        execution_time_ms=round(answer.sql_s * 1000, 3),
        searchable=searchable(asked.message.content, sql, answer.tables, content),
    )


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\x00", "").strip()


def _joined(known: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))
