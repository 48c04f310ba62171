"""How a memory or a message looks to the index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from recollect.model import Entry, Memory, Message, Target
from recollect.policy.text import analyse
from recollect.policy.when import windows

_MOST_TERMS = (
    20_000  # what a Postgres term vector holds of the longest words; a text's later words are found by meaning
)
_READ = 400  # characters: what a text is about stands at its beginning, and reading on costs every write
_WIDEST = timedelta(days=62)
_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\]\s*)?$")


def is_question(text: str) -> bool:
    """Whether it ends in a question mark; a note in brackets about an attached picture may follow."""
    return _ASKS.search(text) is not None


def _about(text: str, told: datetime) -> tuple[datetime | None, datetime | None]:
    """The narrowest span a text names, read from its beginning; a span too wide to tell anything is left out."""
    spans = [span for span in windows(text[:_READ], told) if span.end - span.start <= _WIDEST]
    return min(spans, key=lambda each: each.end - each.start, default=(None, None))


def entry_of_memory(memory: Memory, analysed: Sequence[str] | None = None) -> Entry:
    """Key and tags are searchable beside the content: people look for what they labelled.

    `analysed`: the content's terms, from who has them already.
    """
    terms = analyse(memory.content) if analysed is None else analysed
    labels = " ".join((*memory.tags, memory.key or "", memory.theme or ""))
    about_from, about_until = _about(memory.content, memory.created_at)
    return Entry(
        target=Target("memory", memory.id),
        terms=(*terms[:_MOST_TERMS], *analyse(labels)),
        chars=len(memory.content),
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        type=memory.type.value,
        theme=memory.theme,
        tags=memory.tags,
        session_id=memory.source_conversation_id,
        role=memory.role,
        is_question=is_question(memory.content),
        about_from=about_from,
        about_until=about_until,
    )


def entry_of_message(message: Message) -> Entry:
    """Who said it is searchable beside what was said: "what did Maria say about the trip?"."""
    about_from, about_until = _about(message.content, message.created_at) if message.dated else (None, None)
    return Entry(
        target=Target("message", message.id),
        terms=(*analyse(message.name or ""), *analyse(message.found_by)[:_MOST_TERMS]),
        chars=len(message.found_by),
        created_at=message.created_at,
        dated=message.dated,
        session_id=message.session_id,
        position=message.order,
        speaker=message.name,
        role=message.role,
        is_question=is_question(message.content),
        about_from=about_from,
        about_until=about_until,
    )
