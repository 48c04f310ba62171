"""ask: a question over data, answered with the help of what was asked before.

    may memory be used? -> what they may use now -> what was asked before -> the question is stored
    -> the answerer -> the answer is stored -> a summary, where one is due

The memory never costs anybody an answer: where a part of it fails the question goes on without, and the reply says which. What
the answerer can't do is its own error, by its own name; the question then stays, without an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.engine.datachat import keeping, recalling, summaries
from recollect.engine.datachat.pairs import exchange
from recollect.engine.datachat.recalling import Before
from recollect.errors import RecollectError, Unsupported
from recollect.model import (
    AskData,
    ContextUsed,
    DataAccess,
    DataAnswer,
    DataQuestion,
    DataReply,
    Scope,
    Talked,
    checked_id,
)
from recollect.policy.datachat import Context, takes_part
from recollect.policy.guard import checked_count, checked_text
from recollect.policy.ids import new_id

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_HISTORY = 200
MOST_SIMILAR = 50
WITHOUT_STORE = "this question and its answer could not be stored; the next one will not know of it"
ENDED = "the conversation has reached its end; this is a new one"


@dataclass(frozen=True, slots=True)
class Course:
    """One question on its way."""

    engine: Engine
    scope: Scope
    asked: AskData
    access: DataAccess
    before: Before
    retrieval_s: float

    def question(self) -> DataQuestion:
        return DataQuestion(
            question=self.asked.question,
            augmented=self.before.context.text,
            history=self.before.history,
            similar=self.before.similar,
            access=self.access,
            options=self.asked.options,
            authorization=self.asked.authorization,
        )

    def used(self, *failed: str) -> ContextUsed:
        found = self.before.context
        return ContextUsed(
            history=found.history,
            similar=found.similar,
            tokens=found.tokens,
            truncated=found.truncated,
            degraded=tuple(dict.fromkeys((*self.before.degraded, *failed))),
        )


async def ask(engine: Engine, scope: Scope, asked: AskData) -> DataReply:
    started = perf_counter()
    _check(engine, asked)
    access, failed = await recalling.access_or_none(engine, scope, asked)
    if not (engine.config.data.enabled and asked.use_memory and takes_part(scope, engine.config.data.rollout)):
        course = Course(engine, scope, asked, access, Before(context=Context(text=asked.question)), 0.0)
        return _told(course, DataReply(answer=await _answered(course), used=course.used(*failed)), started)
    session = asked.session_id or engine.occasion.session_id or new_id(engine.clock.now())
    looked = perf_counter()
    before = await recalling.remembered(engine, scope, session, asked, access)
    course = Course(engine, scope, asked, access, before, perf_counter() - looked)
    if before.silent is not None:
        reply = DataReply(answer=await _answered(course), used=course.used(*failed), reason=before.silent)
        return _told(course, reply, started)
    session = new_id(engine.clock.now()) if before.ended else session
    return _told(course, await _kept(course, session, failed), started)


async def _kept(course: Course, session: str, failed: tuple[str, ...]) -> DataReply:
    """Answered, with both halves of it stored where they can be."""
    engine, scope, before = course.engine, course.scope, course.before
    warnings = (ENDED,) if before.ended else ()
    stored: keeping.Asked | None = None
    try:
        stored = await keeping.keep_question(engine, scope, session, course.asked)
    except RecollectError:
        failed = (*failed, "storing")
    answer = await _answered(course)
    talk: Talked | None = None
    if stored is not None:
        try:
            talk = await _with_answer(course, stored, answer)
        except RecollectError:
            failed = (*failed, "storing")
    if "storing" in failed:
        warnings = (*warnings, WITHOUT_STORE)
    return DataReply(answer=answer, talk=talk, used=course.used(*failed), warnings=warnings)


async def _with_answer(course: Course, stored: keeping.Asked, answer: DataAnswer) -> Talked | None:
    """The conversation as it is now, for those who may see it; what is due afterwards is done afterwards."""
    engine, scope, before = course.engine, course.scope, course.before
    kept = await keeping.keep_answer(engine, scope, stored, answer, course.access, before.shown, before.near)
    if kept is None:
        return None
    conversation, said = kept
    fresh = exchange(stored.message, said)
    earlier = before.talk.exchanges if before.talk else ()
    named = conversation if before.talk is None else replace(conversation, title=before.talk.conversation.title)
    cut = conversation.message_count > recalling.MOST_MESSAGES
    talk = recalling.seen(named, (*earlier, fresh), course.access, cut=cut)
    rules = engine.config.data
    if rules.summaries and summaries.is_due(conversation.message_count // 2, rules.summarise_after):
        engine.desk.later(_summed_up(engine, scope, talk))
    return talk


async def _summed_up(engine: Engine, scope: Scope, talk: Talked) -> None:
    try:
        await summaries.summarise(engine, scope, talk)
    except RecollectError:
        engine.heard("data_summary_failed", {})


async def _answered(course: Course) -> DataAnswer:
    answerer = course.engine.desk.answerer
    assert answerer is not None
    try:
        return await answerer.answer(course.question())
    except RecollectError as problem:
        course.engine.heard("data_failed", {"code": problem.code})
        raise


def _check(engine: Engine, asked: AskData) -> None:
    """What is wrong with the question is said before anything is done."""
    if engine.desk.answerer is None:
        raise Unsupported(
            "nobody answers questions over data here: name a database with RECOLLECT_DATA_URL or a server with "
            "RECOLLECT_DENODO_URL"
        )
    checked_text(asked.question, "question", engine.config.max_content_bytes)
    if asked.session_id is not None:
        checked_id(asked.session_id, "session_id")
    if asked.max_history is not None:
        checked_count(asked.max_history, "max_history_messages", 0, MOST_HISTORY)
    if asked.similar is not None:
        checked_count(asked.similar, "semantic_search_k", 0, MOST_SIMILAR)


def _told(course: Course, reply: DataReply, started: float) -> DataReply:
    """The reply with its times, told to those who count."""
    total = perf_counter() - started
    used, stored = reply.used, reply.talk is not None
    facts = {
        "memory": "off" if reply.talk is None and not used.degraded else "hit" if used.tokens else "miss",
        "retrieval_s": course.retrieval_s,
        "total_s": total,
        "tokens": used.tokens,
        "truncated": used.truncated,
        "degraded": used.degraded,
        "stored": 2 if stored else 0,
        "answered": reply.answer.answered,
        "length": reply.talk.count if reply.talk else 0,
        "history": used.history,
        "similar": used.similar,
        "llm_tokens": dict(reply.answer.tokens),
    }
    course.engine.heard("data_asked", facts)
    if course.engine.desk.tracer is not None:
        course.engine.desk.tracer.asked(course.scope, course.engine.occasion, course.question(), reply, facts)
    return replace(reply, retrieval_s=course.retrieval_s, total_s=total)
