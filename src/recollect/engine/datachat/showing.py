"""The data chat's own conversations, for the person who had them: to look at, to take along, to delete.

Everything shown here has passed the same question as what an answerer is shown: may they still use all that it rests on? What
they may not is neither named nor counted. Deleting asks nothing of the kind: it is theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.boundary import unseen
from recollect.engine.browse import missing, note
from recollect.engine.datachat.pairs import paired
from recollect.engine.datachat.recalling import is_over, seen
from recollect.engine.embedding import elsewhere
from recollect.engine.forgetting.debts import with_files
from recollect.engine.forgetting.forget import add, erased_in, forget_conversation, scopes_of
from recollect.errors import NotAllowed
from recollect.model import Conversation, DataAccess, Exchange, ForgetReceipt, Page, Scope, Talked
from recollect.model.scope import DATA
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

AT_ONCE = 100
FORMAT, VERSION = "recollect-datachat", 1
WHOLE = 100_000


async def conversations(engine: Engine, scope: Scope, access: DataAccess, limit: int, offset: int) -> Page[Talked]:
    """Most recently used first. One in which nothing may be seen isn't there."""
    if await engine.store.read(scope, lambda tx: unseen(tx, engine)):
        return Page(items=(), total=0, limit=limit, offset=offset)
    talks = await _all(engine, scope, access, results=False)
    note(engine, scope.data, "datachat.listed", count=len(talks))
    return Page(items=tuple(talks[offset : offset + limit]), total=len(talks), limit=limit, offset=offset)


async def conversation(engine: Engine, scope: Scope, access: DataAccess, session_id: str) -> Talked:
    at = engine.clock.now()
    if await engine.store.read(scope, lambda tx: unseen(tx, engine)):
        raise missing("conversation", session_id)

    def work(tx: Tx) -> Talked | None:
        found = tx.conversations.get(session_id)
        return None if found is None or is_over(found, at) else _whole(tx, found, access, results=True)

    talk = await engine.store.read(scope.data, work)
    if talk is None or not talk.exchanges:
        raise missing("conversation", session_id)
    note(engine, scope.data, "datachat.read", messages=talk.count)
    return talk


async def forget(engine: Engine, scope: Scope, session_id: str) -> ForgetReceipt:
    _require(engine.config.data.may_delete, "deleting", "MEMORY_ALLOW_DATA_DELETION")
    return await forget_conversation(engine, scope.data, session_id)


async def export(engine: Engine, scope: Scope, access: DataAccess) -> dict[str, Any]:
    """Everything of theirs that they may still see, as one object. It is open in every session, as is all taking along."""
    _require(engine.config.data.may_export, "taking data along", "MEMORY_ALLOW_DATA_EXPORT")
    talks = await _all(engine, scope, access, results=True)
    note(engine, scope.data, "datachat.exported", count=len(talks))
    return {
        "format": FORMAT,
        "version": VERSION,
        "tenant": scope.tenant,
        "user_id": scope.user,
        "space": scope.space,
        "exported_at": engine.clock.now().isoformat(),
        "conversations": [written(talk) for talk in talks],
    }


async def erase(engine: Engine, scope: Scope) -> ForgetReceipt:
    """The whole data chat of this user, in every space. That it was done is noted with the rest of their memory, if any."""
    _require(engine.config.data.may_delete, "deleting", "MEMORY_ALLOW_DATA_DELETION")
    total = ForgetReceipt()
    for each in await scopes_of(engine, scope.tenant, scope.user):
        if each.space.startswith(DATA):
            write = partial(engine.store.write, each, partial(erased_in, engine))
            total = add(total, await elsewhere.erase(engine, each, write))
            engine.shelves.discard(each)
            engine.notes.discard(each)
    facts = {"conversations": total.conversations, "messages": total.messages}

    def tell(tx: Tx) -> None:
        if tx.space.known():
            audit.record(tx, engine.occasion, engine.clock.now(), "datachat.erased", **facts)

    await engine.store.write(scope, tell)
    engine.heard("data_erased", facts)
    return await with_files(engine, total)


def written(talk: Talked) -> dict[str, Any]:
    """A conversation as it is exported and archived."""
    about = talk.conversation
    return {
        "conversation_id": about.id,
        "session_name": about.title,
        "created_at": about.created_at.isoformat(),
        "updated_at": about.updated_at.isoformat(),
        "expires_at": about.expires_at.isoformat() if about.expires_at else None,
        "vdp_database_names": list(about.databases),
        "vdp_tag_names": list(about.database_tags),
        "message_count": talk.count,
        "is_summarized": about.is_summarized,
        "summary_text": about.summary,
        "messages": [_message(each) for each in talk.exchanges],
    }


def _message(each: Exchange) -> Mapping[str, Any]:
    return {
        "message_id": each.message_id,
        "created_at": each.asked_at.isoformat() if each.asked_at else None,
        "question": each.question,
        "answer": each.answer,
        "sql_query": each.sql,
        "query_explanation": each.explanation,
        "tables_used": list(each.tables),
        "execution_result": each.result,
    }


async def _all(engine: Engine, scope: Scope, access: DataAccess, *, results: bool) -> list[Talked]:
    """Every conversation in which there is something to see, newest first."""
    at = engine.clock.now()

    def work(tx: Tx) -> list[Talked]:
        going_on = [each for each in tx.conversations.list(WHOLE, 0) if not is_over(each, at)]
        return [talk for each in going_on if (talk := _whole(tx, each, access, results=results)).exchanges]

    return await engine.store.read(scope.data, work)


def _whole(tx: Tx, talk: Conversation, access: DataAccess, *, results: bool) -> Talked:
    return seen(talk, paired(tx.conversations.history(talk.id, talk.message_count, results=results)), access)


def _require(allowed: bool, what: str, switch: str) -> None:
    if not allowed:
        raise NotAllowed(f"{what} is switched off on this server ({switch})", reason="switched_off")
