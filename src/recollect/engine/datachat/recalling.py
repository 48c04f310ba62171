"""What was asked before, as far as it may be seen now: of this conversation, and what is like it in others.

Every exchange is asked for on what it rests, and let go where one thing of it is no longer allowed, whoever is to see it: an
answerer, a person, an export. Whatever fails on the way is left out and named; a question is never lost over its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.engine.boundary import silence
from recollect.engine.datachat.pairs import answer_id, exchange, paired, question_id
from recollect.engine.datachat.summaries import summary_for
from recollect.engine.recalling import recall
from recollect.errors import NotAllowed, RecollectError, Unavailable
from recollect.model import AskData, Conversation, DataAccess, Exchange, Hit, Query, Refusal, Scope, Talked
from recollect.policy.datachat import Context, context, session_name
from recollect.policy.grounds import UNKNOWN, databases_in, permits
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_MESSAGES = 1000
"""Of one conversation that are looked at to answer a question."""
SPARE = 4
"""So many times as many similar questions are looked for as are shown: some may no longer be seen."""
LEANING = 4
"""Questions before this one that tell what it leaves out."""
NOTHING = DataAccess(databases=frozenset(), tables=frozenset())
UNBOUNDED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """All there is to know before a question is answered."""

    context: Context
    silent: Refusal | None = None
    talk: Talked | None = None
    history: tuple[Exchange, ...] = ()
    similar: tuple[Exchange, ...] = ()
    earlier: tuple[Exchange, ...] = ()
    """Of this conversation, from before `history`: named only."""
    summary: Exchange | None = None
    near: tuple[Exchange, ...] = ()
    """Similar ones before anything was let go: among them is what this question may repeat."""
    degraded: tuple[str, ...] = ()
    ended: bool = False
    """The conversation that was named has reached its end."""

    @property
    def shown(self) -> tuple[Exchange, ...]:
        """All that an answer may have its words from."""
        told = () if self.summary is None else (self.summary,)
        return (*told, *self.earlier, *self.history, *self.similar)


async def access_of(engine: Engine, scope: Scope, asked: AskData) -> DataAccess:
    """What they may use at this moment. Who can't be asked about may use nothing."""
    permissions = engine.desk.permissions
    return DataAccess() if permissions is None else await permissions.of(scope, asked.claims, asked.authorization)


async def access_or_none(engine: Engine, scope: Scope, asked: AskData) -> tuple[DataAccess, tuple[str, ...]]:
    """The same for a question, which is put to the answerer all the same."""
    try:
        return await access_of(engine, scope, asked), ()
    except (Unavailable, NotAllowed):
        return NOTHING, ("permissions",)


async def remembered(engine: Engine, scope: Scope, session: str, asked: AskData, access: DataAccess) -> Before:
    """Reads that fail leave their part out; that nothing may be read is said in `silent`."""
    plain = Context(text=asked.question)
    try:
        silent = await silenced(engine, scope, session)
        wanted = engine.config.data.history if asked.max_history is None else asked.max_history
        talk, ended = (None, False) if silent else await talk_of(engine, scope, session, access, wanted)
    except RecollectError:
        return Before(context=plain, degraded=("history", "similar"))
    if silent is not None:
        return Before(context=plain, silent=silent)
    answered = [each for each in talk.exchanges if each.answer] if talk else []
    history = answered[-wanted:] if wanted else []
    near, degraded = await similar_to(engine, scope, asked, [each.question for each in history[-LEANING:]])
    similar = worth_showing(near, history, access, asked)[: _wanted_similar(engine, asked)]
    summary = summary_for(talk, wanted) if talk else None
    older = answered[: len(answered) - len(history)] if history else []
    found = context(asked.question, history, similar, summary, engine.config.data.context_tokens, older)
    return Before(
        context=found,
        earlier=tuple(older[len(older) - found.earlier :]),
        summary=_as_exchange(summary, talk, older) if found.summary else None,
        talk=talk,
        history=tuple(history[len(history) - found.history :]),
        similar=tuple(similar[: found.similar]),
        near=tuple(near),
        degraded=degraded,
        ended=ended,
    )


def _as_exchange(summary: str | None, talk: Talked | None, older: Sequence[Exchange]) -> Exchange:
    """A summary with what it rests on: what it says of itself, or where it was put together just now all that is older."""
    assert talk is not None
    kept = talk.conversation.summary_grounds if talk.conversation.summary is not None else None
    grounds = [name for each in older for name in each.grounds] if kept is None else kept
    return Exchange(question="", answer=summary or "", grounds=tuple(dict.fromkeys(grounds)))


def _wanted_similar(engine: Engine, asked: AskData) -> int:
    return engine.config.data.similar if asked.similar is None else asked.similar


async def silenced(engine: Engine, scope: Scope, session: str) -> Refusal | None:
    """Why nothing may be remembered or recalled: what is said of a space holds for its data chat."""
    return await engine.store.read(scope, lambda tx: silence(tx, engine, about=session))


async def talk_of(
    engine: Engine, scope: Scope, session: str, access: DataAccess, results: int
) -> tuple[Talked | None, bool]:
    """The conversation as far as it may be seen, the last `results` answers with their rows, and whether there was one that has
    ended."""
    at = engine.clock.now()

    def work(tx: Tx) -> tuple[Talked | None, bool]:
        found = tx.conversations.get(session)
        if found is None or is_over(found, at):
            return None, found is not None
        messages = tx.conversations.history(session, MOST_MESSAGES, results=False)
        talk = seen(found, paired(messages), access, cut=found.message_count > MOST_MESSAGES)
        return replace(talk, exchanges=_with_results(tx, talk.exchanges, results)), False

    return await engine.store.read(scope.data, work)


def is_over(conversation: Conversation, at: datetime) -> bool:
    return conversation.expires_at is not None and conversation.expires_at <= at


def _with_results(tx: Tx, exchanges: tuple[Exchange, ...], last: int) -> tuple[Exchange, ...]:
    """The last that were answered with what their queries gave: of the others nobody is shown it."""
    answered = [each.message_id for each in exchanges if each.answer and each.message_id]
    shown = [answer_id(id) for id in answered[-last:]] if last else []
    results = {question_id(id): each.execution_result for id, each in tx.conversations.messages(shown).items()}
    return tuple(replace(each, result=results.get(each.message_id or "")) for each in exchanges)


def seen(conversation: Conversation, exchanges: Sequence[Exchange], access: DataAccess, *, cut: bool = False) -> Talked:
    """A conversation in which nothing is left of what may not be seen: not its name, not its number. `cut`: these are its last
    ones only; what lies before is counted for those alone who may see everything."""
    visible = tuple(each for each in exchanges if permits(access, each.grounds))
    # A name was given with the first question, and is about what that was about.
    named = not cut and visible[:1] == tuple(exchanges[:1])
    title = conversation.title if named else None
    title = title or next((session_name(each.question) for each in visible), None)
    databases = tuple(name for name in conversation.databases if access.allows((), (name,)))
    everything = cut and permits(access, (UNKNOWN,))
    count = max(len(visible), conversation.message_count // 2) if everything else len(visible)
    shown = replace(conversation, title=title, databases=databases, message_count=2 * count)
    if conversation.summary and not permits(access, conversation.summary_grounds or ("?",)):
        shown = replace(shown, summary=None, summary_grounds=None)
    return Talked(conversation=shown, exchanges=visible, count=count)


async def similar_to(
    engine: Engine, scope: Scope, asked: AskData, history: Sequence[str]
) -> tuple[list[Exchange], tuple[str, ...]]:
    """Also where none are to be shown: among them is what this question may repeat."""
    wanted = _wanted_similar(engine, asked)
    query = Query(
        text=asked.question,
        recipe="datachat",
        limit=wanted * SPARE + engine.config.data.history,
        token_budget=UNBOUNDED,
        history=tuple(history),
    )
    try:
        found = await recall.recall(engine, scope.data, query)
        return await _with_questions(engine, scope, found.hits), found.trace.degraded
    except RecollectError:
        return [], ("similar",)


async def _with_questions(engine: Engine, scope: Scope, hits: Iterable[Hit]) -> list[Exchange]:
    answers = [hit.message for hit in hits if hit.message is not None]
    wanted = [question_id(each.id) for each in answers]
    questions = await engine.store.read(scope.data, lambda tx: tx.conversations.messages(wanted)) if wanted else {}
    return [exchange(questions[id], each) for id, each in zip(wanted, answers, strict=True) if id in questions]


def worth_showing(
    near: Iterable[Exchange], history: Sequence[Exchange], access: DataAccess, asked: AskData
) -> list[Exchange]:
    """What may be seen, isn't shown already, and is of a database that was asked about, where one was."""
    shown = {each.message_id for each in history}
    wanted = {name.lower() for name in asked.databases}
    return [
        each
        for each in near
        if each.message_id not in shown
        and permits(access, each.grounds)
        and not (wanted and (its := databases_in(each.grounds)) and its.isdisjoint(wanted))
    ]
