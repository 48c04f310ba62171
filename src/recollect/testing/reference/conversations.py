"""Conversations of one scope and their messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.errors import Conflict, NotFound
from recollect.model import Conversation, Message, Page
from recollect.testing.reference.room import Room, kept


class ReferenceConversations:
    def __init__(self, room: Room) -> None:
        self._room = room

    def open(self, conversation: Conversation) -> Conversation:
        return self._room.conversations.setdefault(conversation.id, kept(conversation))

    def get(self, id: str) -> Conversation | None:
        return self._room.conversations.get(id)

    def list(self, limit: int, offset: int) -> Page[Conversation]:
        found = sorted(
            self._room.conversations.values(),
            key=lambda conversation: (conversation.updated_at, conversation.id),
            reverse=True,
        )
        return Page(items=tuple(found[offset : offset + limit]), total=len(found), limit=limit, offset=offset)

    def scan(self, after: str | None, limit: int) -> Sequence[Conversation]:
        ids = sorted(id for id in self._room.conversations if after is None or id > after)
        return [self._room.conversations[id] for id in ids[:limit]]

    def replace(self, conversation: Conversation) -> None:
        if conversation.id not in self._room.conversations:
            raise NotFound("no conversation with this id exists")
        self._room.conversations[conversation.id] = kept(conversation)

    def append(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message.id in self._room.messages:
                raise Conflict("a message with this id exists")
            if message.session_id not in self._room.conversations:
                raise NotFound("the message belongs to no conversation")
            self._room.messages[message.id] = kept(message)
            talk = self._room.conversations[message.session_id]
            count = max(talk.message_count, message.order + 1)
            self._room.conversations[talk.id] = replace(talk, message_count=count)

    def messages(self, ids: Iterable[str]) -> dict[str, Message]:
        return {id: self._room.messages[id] for id in ids if id in self._room.messages}

    def history(
        self, session_id: str, limit: int, before: int | None = None, *, results: bool = True
    ) -> Sequence[Message]:
        told = [
            message if results else replace(message, execution_result=None)
            for message in self._room.messages.values()
            if message.session_id == session_id and (before is None or message.order < before)
        ]
        told.sort(key=lambda message: message.order)
        return told[max(0, len(told) - limit) :]

    def delete(self, ids: Iterable[str]) -> int:
        doomed = {id for id in ids if id in self._room.conversations}
        self.delete_messages([each.id for each in self._room.messages.values() if each.session_id in doomed])
        for id in doomed:
            del self._room.conversations[id]
        return len(doomed)

    def delete_messages(self, ids: Iterable[str]) -> int:
        doomed = self.messages(ids)
        for id in doomed:
            del self._room.messages[id]
        uses = self._room.uses
        self._room.uses = {pair: each for pair, each in uses.items() if each.message_id not in doomed}
        return len(doomed)
