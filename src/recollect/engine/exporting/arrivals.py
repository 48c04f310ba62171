"""A batch of imported lines on its way into a scope: looked up together, decided one by one, written together.

Every line is judged as if it came alone and after all the others before it; only the questions to the store and the writing are
shared, because they cost most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.engine.documents import is_document, is_found
from recollect.engine.remembering.disputes import state
from recollect.engine.remembering.indexing import index_all, index_messages
from recollect.engine.remembering.themes import open_theme
from recollect.errors import InvalidInput
from recollect.model import Conversation, Flag, Memory, Message, Repeat, Status, Use
from recollect.policy.digest import grave_digest, twin_digest
from recollect.ports import Tx

WIDEST = 1000
"""Orders of one conversation that are looked up in one go; where lines lie farther apart, each is looked up alone."""

Parsed = tuple[int, str, Any]
"""The number of a line, its kind, and the thing it holds."""


@dataclass
class _Talk:
    """A conversation while messages arrive: where its end is, and which of the orders that lines name are in use."""

    end: int
    taken: set[int] = field(default_factory=set)
    expires_at: datetime | None = None


class Arrivals:
    def __init__(self, tx: Tx, batch: Sequence[Parsed], pepper: bytes, at: datetime) -> None:
        self._tx = tx
        self._pepper = pepper
        self._at = at
        memories = [thing.id for _, kind, thing in batch if kind == "memory"]
        messages = [thing for _, kind, thing in batch if kind == "message"]
        self._known = {*tx.memories.get(memories)} if memories else set()
        self._said = {*tx.conversations.messages([each.id for each in messages])} if messages else set()
        self._orders: dict[str, list[int]] = {}
        for each in messages:
            self._orders.setdefault(each.session_id, []).append(each.order)
        self._talks: dict[str, _Talk] = {}
        self._themes: set[str] = set()
        self._findable: list[Memory] = []
        self._messages: list[Message] = []
        self._uses: list[Use] = []

    def take(self, kind: str, thing: Any) -> str:
        """Judge one thing; the name of the count it belongs to."""
        if kind == "theme":
            self._tx.space.open_theme(thing)
            return "unchanged"
        if kind == "conversation":
            return self._conversation(thing)
        if kind == "message":
            return self._message(thing)
        if kind == "use":
            self._uses.append(thing)
            return "unchanged"
        return self._memory(thing) if kind == "memory" else self._link(thing)

    def write(self, generations: Sequence[str]) -> None:
        """Put down what `take` left for the end."""
        if self._messages:
            self._tx.conversations.append(self._messages)
        ending = {id: talk.expires_at for id, talk in self._talks.items() if talk.expires_at is not None}
        lasting = [message for message in self._messages if message.session_id not in ending]
        if lasting or self._findable:
            index_all(self._tx, self._findable, lasting, generations, self._at)
        for id, end in ending.items():
            said = [message for message in self._messages if message.session_id == id]
            index_messages(self._tx, said, generations, self._at, expires_at=end)
        if self._uses:
            self._use()

    def _conversation(self, conversation: Conversation) -> str:
        if self._tx.conversations.get(conversation.id) is not None:
            return "unchanged"
        self._tx.conversations.open(conversation)
        return "conversations"

    def _memory(self, memory: Memory) -> str:
        if memory.id in self._known:
            return "unchanged"
        if self._tx.space.buried(grave_digest(self._tx.scope, memory.content, self._pepper), self._at):
            return "refused"
        document = is_document(memory)  # its address decides what it is, not its words
        digest = memory.id if document else twin_digest(self._tx.scope, memory.content, self._pepper)
        self._tx.memories.insert(memory, digest)
        self._known.add(memory.id)
        if memory.status is Status.ACTIVE and memory.deleted_at is None:
            if not document:
                state(self._tx, memory, self._pepper)
            if is_found(memory):
                self._findable.append(memory)
            if memory.theme and memory.theme not in self._themes:
                self._open_theme(memory.theme)
                self._themes.add(memory.theme)
        return "memories"

    def _open_theme(self, theme: str) -> None:
        open_theme(self._tx, theme, self._at)

    def _link(self, link: Repeat | Flag) -> str:
        """It belongs to memories that are there, and is not written over what is known of them."""
        links = self._tx.links
        if isinstance(link, Flag):
            if len(self._tx.memories.get([link.memory_id, link.other_id])) == 2:
                links.flag([link])
        elif self._tx.memories.get([link.memory_id]):
            known = {each.id for each in links.repeats([link.memory_id])}
            if link.id not in known:
                links.keep(link)
        return "unchanged"

    def _use(self) -> None:
        """A reply and a memory that are both there: either may have stayed behind, or come with a line before."""
        said = self._tx.conversations.messages({each.message_id for each in self._uses})
        known = self._tx.memories.get({each.memory_id for each in self._uses})
        self._tx.links.use([each for each in self._uses if each.message_id in said and each.memory_id in known])

    def _message(self, message: Message) -> str:
        """It goes where nothing else stands: an order is used once in a conversation, or pages of it would overlap."""
        if message.id in self._said:
            return "unchanged"
        talk = self._talk(message.session_id)
        placed = replace(message, order=talk.end) if message.order in talk.taken else message
        talk.taken.add(placed.order)
        talk.end = max(talk.end, placed.order + 1)
        self._messages.append(placed)
        self._said.add(message.id)
        return "messages"

    def _talk(self, session_id: str) -> _Talk:
        talk = self._talks.get(session_id)
        if talk is None:
            conversation = self._tx.conversations.get(session_id)
            if conversation is None:
                raise InvalidInput(
                    "session_id names a conversation whose line is missing; it comes before its messages"
                )
            talk = self._talks[session_id] = _Talk(
                conversation.message_count, self._taken(session_id), conversation.expires_at
            )
        return talk

    def _taken(self, session_id: str) -> set[int]:
        """Which of the orders that this batch names for a conversation are in use there."""
        named = self._orders[session_id]
        history = self._tx.conversations.history
        width = max(named) - min(named) + 1
        if width <= WIDEST:
            return {each.order for each in history(session_id, width, before=max(named) + 1)}
        return {each.order for order in set(named) for each in history(session_id, 1, before=order + 1)}
