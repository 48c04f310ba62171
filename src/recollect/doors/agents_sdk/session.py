"""A session for the SDK, kept as a conversation: found by recall, exported and erased with everything else of its user.

Items come back exactly as the SDK handed them over, tool calls and their results included. What is said in an incognito session,
or while memory is off, lives in this object and nowhere else.
"""

from __future__ import annotations

from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from agents.memory.session_settings import resolve_session_limit

from recollect.engine.conversations import transcript
from recollect.engine.conversations.transcript import Item
from recollect.model import checked_id
from recollect.tools.holding import Held, Holder, held

KIT = "openai-agents"
SPEAKERS = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class RecollectSession:
    """The SDK's `Session` protocol over a memory: `RecollectSession("chat-1", AsyncMemory(user="ana"))`.

    `learn`: what users say of themselves is remembered by itself, without an agent having to store it.
    """

    def __init__(
        self,
        session_id: str,
        memory: Holder | Held,
        *,
        session_settings: SessionSettings | None = None,
        learn: bool = False,
    ) -> None:
        self.session_id = checked_id(session_id, "session_id")
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._memory = memory
        self._learn = learn
        self._unkept: list[TResponseInputItem] = []

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` items, or all of them, oldest first."""
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        at = await held(self._memory)
        items = await transcript.last(at.engine, at.scope, self.session_id, most)
        if items is None:
            return self._unkept[-most:] if most is not None else list(self._unkept)
        return [_given_back(item) for item in items if item.kit == KIT or item.is_talk]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items in their order: all of them, or none if one can't be kept."""
        at = await held(self._memory)
        given = [_item(each) for each in items]
        if not await transcript.append(at.engine, at.scope, self.session_id, given, learn=self._learn):
            self._unkept += items

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back."""
        at = await held(self._memory)
        gone = await transcript.take_back(at.engine, at.scope, self.session_id)
        if gone is None:
            return self._unkept.pop() if self._unkept else None
        return _given_back(gone[0]) if gone else None

    async def clear_session(self) -> None:
        """Forget the conversation for good, with what is remembered from it alone."""
        self._unkept.clear()
        at = await held(self._memory)
        await transcript.clear(at.engine, at.scope, self.session_id)


def _item(given: TResponseInputItem) -> Item:
    whole = cast("dict[str, Any]", dict(given))
    role = SPEAKERS.get(str(whole.get("role")), "tool")
    return Item(role=role, text="" if role == "tool" else _text(whole.get("content")), whole=whole, kit=KIT)


def _text(content: Any) -> str:
    """What is said in a message, whose content is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _given_back(item: Item) -> TResponseInputItem:
    """As it was handed over; what another kit or door has said in this conversation, as a plain turn."""
    if item.kit == KIT and isinstance(item.whole, dict):
        return cast(TResponseInputItem, item.whole)
    return cast(TResponseInputItem, item.plain if item.is_talk else item.plain | {"role": "assistant"})
