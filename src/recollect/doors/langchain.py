"""The door for LangChain: a chat history kept as a conversation. Messages of every kind come back exactly, tool calls included.

history = RecollectChatHistory("chat-1", Memory(user="ana"))
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    message_to_dict,
    messages_from_dict,
)

from recollect.engine.conversations import transcript
from recollect.engine.conversations.transcript import Item
from recollect.model import checked_id
from recollect.tools.holding import Waiting, held

KIT = "langchain"
SPEAKERS = {"human": "user", "ai": "assistant", "system": "system", "chat": "user"}
PLAIN: dict[str, type[BaseMessage]] = {"assistant": AIMessage, "system": SystemMessage}


class RecollectChatHistory(BaseChatMessageHistory):
    """Where nothing may be kept (memory off, incognito) the history lives in this object and nowhere else."""

    def __init__(self, session_id: str, memory: Waiting) -> None:
        super().__init__()
        self.session_id = checked_id(session_id, "session_id")
        self._memory, self._portal = memory._memory, memory._portal
        self._unkept: list[BaseMessage] = []

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        return self._portal.call(self._all())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in their order: all of them, or none if one can't be kept."""
        self._portal.call(self._add(messages))

    def clear(self) -> None:
        """Forget the conversation for good, with what is remembered from it alone."""
        self._portal.call(self._clear())

    async def aget_messages(self) -> list[BaseMessage]:
        """`messages`, awaited."""
        return await asyncio.to_thread(lambda: self.messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """`add_messages`, awaited."""
        await asyncio.to_thread(self.add_messages, messages)

    async def aclear(self) -> None:
        """`clear`, awaited."""
        await asyncio.to_thread(self.clear)

    async def _all(self) -> list[BaseMessage]:
        at = await held(self._memory)
        items = await transcript.last(at.engine, at.scope, self.session_id)
        return (
            list(self._unkept)
            if items is None
            else [_message(each) for each in items if each.kit == KIT or each.is_talk]
        )

    async def _add(self, messages: Sequence[BaseMessage]) -> None:
        at = await held(self._memory)
        if not await transcript.append(at.engine, at.scope, self.session_id, [_item(each) for each in messages]):
            self._unkept += messages

    async def _clear(self) -> None:
        self._unkept.clear()
        at = await held(self._memory)
        await transcript.clear(at.engine, at.scope, self.session_id)


def _item(message: BaseMessage) -> Item:
    role = SPEAKERS.get(message.type, "tool")
    return Item(role=role, text="" if role == "tool" else message.text, whole=message_to_dict(message), kit=KIT)


def _message(item: Item) -> BaseMessage:
    """As it was handed over; what another kit or door has said in this conversation, as a plain message."""
    if item.kit == KIT and isinstance(item.whole, dict):
        return messages_from_dict([item.whole])[0]
    return PLAIN.get(item.role, HumanMessage)(content=item.text)
