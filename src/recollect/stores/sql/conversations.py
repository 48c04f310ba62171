"""Conversations and their messages in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, case, delete, func, null, select, update

from recollect.errors import NotFound
from recollect.model import Conversation, Message, Page, Scope, Target
from recollect.stores.sql import links
from recollect.stores.sql.expressions import SCOPE, adding, changing, member, own, owner
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import conversations, messages

_TALK = tuple(c.name for c in conversations.c if c.name not in SCOPE)
_TALK_COLUMNS = tuple(conversations.c[name] for name in _TALK)
_SAID = tuple(c.name for c in messages.c if c.name not in SCOPE)
_SAID_COLUMNS = tuple(messages.c[name] for name in _SAID)

_INSERT = adding(conversations)
_REPLACE = (
    update(conversations)
    .where(own(conversations), conversations.c.id == bindparam("id"))
    .values(changing(conversations))
)
_GET = select(*_TALK_COLUMNS).where(own(conversations), conversations.c.id == bindparam("id"))
_LIST = (
    select(*_TALK_COLUMNS)
    .where(own(conversations))
    .order_by(conversations.c.updated_at.desc(), conversations.c.id.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_COUNT = select(func.count()).select_from(conversations).where(own(conversations))
_SCAN = select(*_TALK_COLUMNS).where(own(conversations)).order_by(conversations.c.id).limit(bindparam("limit"))
_SCAN_ON = _SCAN.where(conversations.c.id > bindparam("after"))
_DELETE = delete(conversations).where(own(conversations), member(conversations.c.id, "ids"))

_APPEND = adding(messages)
_GROW = (
    update(conversations)
    .where(own(conversations), conversations.c.id == bindparam("id"))
    .values(
        message_count=case(
            (conversations.c.message_count < bindparam("reached"), bindparam("reached")),
            else_=conversations.c.message_count,
        )
    )
)
_MESSAGES = select(*_SAID_COLUMNS).where(own(messages), member(messages.c.id, "ids"))
_HISTORY = (
    select(*_SAID_COLUMNS)
    .where(own(messages), messages.c.session_id == bindparam("session_id"))
    .order_by(messages.c.order.desc())
    .limit(bindparam("limit"))
)
_WITHOUT_RESULTS = _HISTORY.with_only_columns(
    *(null().label(c.name) if c.name == "execution_result" else c for c in _SAID_COLUMNS)
)
_HISTORIES = {
    results: (each, each.where(messages.c.order < bindparam("before")))
    for results, each in ((True, _HISTORY), (False, _WITHOUT_RESULTS))
}
_DELETE_MESSAGES = delete(messages).where(own(messages), member(messages.c.id, "ids"))
_DELETE_SAID_IN = delete(messages).where(own(messages), member(messages.c.session_id, "ids"))


class SqlConversations:
    """`ports.Conversations` over a SQL session."""

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._owner = owner(scope)
        self._ledger = ledger

    def open(self, conversation: Conversation) -> Conversation:
        there = self.get(conversation.id)
        if there is None:
            self._session.run(_INSERT, self._row(conversation))
        return there or conversation

    def get(self, id: str) -> Conversation | None:
        row = self._session.row(_GET, {**self._owner, "id": id})
        return None if row is None else _conversation(row)

    def list(self, limit: int, offset: int) -> Page[Conversation]:
        total = self._session.rows(_COUNT, self._owner)[0][0]
        rows = self._session.rows(_LIST, {**self._owner, "limit": limit, "offset": offset})
        return Page(items=tuple(map(_conversation, rows)), total=total, limit=limit, offset=offset)

    def scan(self, after: str | None, limit: int) -> Sequence[Conversation]:
        statement = _SCAN if after is None else _SCAN_ON
        rows = self._session.rows(statement, {**self._owner, "limit": limit} | ({"after": after} if after else {}))
        return [_conversation(row) for row in rows]

    def replace(self, conversation: Conversation) -> None:
        if not self._session.run(_REPLACE, self._row(conversation)):
            raise NotFound("there is no conversation with this id")

    def append(self, messages: Sequence[Message]) -> None:
        reached: dict[str, int] = {}
        for message in messages:
            reached[message.session_id] = max(reached.get(message.session_id, 0), message.order + 1)
        for id, count in reached.items():
            if not self._session.run(_GROW, {**self._owner, "id": id, "reached": count}):
                raise NotFound("there is no conversation for these messages")
        self._session.send(_APPEND, [self._message_row(message) for message in messages])
        self._ledger.unindexed.update(Target("message", message.id) for message in messages)

    def messages(self, ids: Iterable[str]) -> dict[str, Message]:
        return {message.id: message for message in self._said(_MESSAGES, ids=[*ids])}

    def history(
        self, session_id: str, limit: int, before: int | None = None, *, results: bool = True
    ) -> Sequence[Message]:
        whole, earlier = _HISTORIES[results]
        if before is None:
            return self._said(whole, session_id=session_id, limit=limit)[::-1]
        return self._said(earlier, session_id=session_id, limit=limit, before=before)[::-1]

    def delete(self, ids: Iterable[str]) -> int:
        params = {**self._owner, "ids": [*ids]}
        self._session.run(links.OF_THE_ENDED, params)
        self._session.run(_DELETE_SAID_IN, params)
        return self._session.run(_DELETE, params)

    def delete_messages(self, ids: Iterable[str]) -> int:
        """The conversation keeps its count: it is where the next order comes from, and an order is never used
        twice.
        """
        params = {**self._owner, "ids": [*ids]}
        self._session.run(links.OF_THE_UNSAID, params)
        return self._session.run(_DELETE_MESSAGES, params)

    def _said(self, statement: Select[Any], **params: Any) -> Sequence[Message]:
        rows = self._session.rows(statement, {**self._owner, **params})
        return [Message(**dict(zip(_SAID, row, strict=True))) for row in rows]

    def _row(self, conversation: Conversation) -> dict[str, Any]:
        return {**self._owner, **{name: getattr(conversation, name) for name in _TALK}}

    def _message_row(self, message: Message) -> dict[str, Any]:
        row = {name: getattr(message, name) for name in _SAID}
        row["tokens"] = dict(message.tokens)
        return {**self._owner, **row}


def _conversation(row: Row) -> Conversation:
    return Conversation(**dict(zip(_TALK, row, strict=True)))
