"""How a memory or a message looks to the index."""

from __future__ import annotations

import re

from recollect.model import Entry, Memory, Message, Target
from recollect.policy.text import analyse

_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\]\s*)?$")


def is_question(text: str) -> bool:
    """Whether it ends in a question mark; a note in brackets about an attached picture may follow."""
    return _ASKS.search(text) is not None


def entry_of_memory(memory: Memory) -> Entry:
    """Key and tags are searchable beside the content: people look for what they labelled."""
    labels = " ".join((*memory.tags, memory.key or "", memory.theme or ""))
    return Entry(
        target=Target("memory", memory.id),
        terms=tuple(analyse(memory.content) + analyse(labels)),
        chars=len(memory.content),
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        type=memory.type.value,
        theme=memory.theme,
        tags=memory.tags,
        session_id=memory.source_conversation_id,
        role=memory.role,
        is_question=is_question(memory.content),
    )


def entry_of_message(message: Message) -> Entry:
    """Who said it is searchable beside what was said: "what did Maria say about the trip?"."""
    return Entry(
        target=Target("message", message.id),
        terms=tuple(analyse(message.name or "") + analyse(message.content)),
        chars=len(message.content),
        created_at=message.created_at,
        dated=message.dated,
        session_id=message.session_id,
        position=message.order,
        speaker=message.name,
        role=message.role,
        is_question=is_question(message.content),
    )
