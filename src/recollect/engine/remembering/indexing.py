"""Make memories and messages findable: an index entry now, a place in the embedding queue for later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.model import Entry, Memory, Message, Target
from recollect.policy.digest import content_hash
from recollect.policy.projection import entry_of_memory, entry_of_message
from recollect.ports import Tx


def index_memory(
    tx: Tx, memory: Memory, generations: Sequence[str], at: datetime, analysed: Sequence[str] | None = None
) -> None:
    _index(tx, [(entry_of_memory(memory, analysed), memory.content)], generations, at)


def index_messages(
    tx: Tx, messages: Sequence[Message], generations: Sequence[str], at: datetime, expires_at: datetime | None = None
) -> None:
    """`expires_at`: when they are to be found no longer, even if nobody has tidied up by then."""
    said = [(replace(entry, expires_at=expires_at), text) for entry, text in _said(messages)]
    _index(tx, said, generations, at)


def index_all(
    tx: Tx, memories: Sequence[Memory], messages: Sequence[Message], generations: Sequence[str], at: datetime
) -> None:
    """Many at once: one look and one write for all of them."""
    told = [(entry_of_memory(memory), memory.content) for memory in memories]
    _index(tx, [*told, *_said(messages)], generations, at)


def _said(messages: Sequence[Message]) -> list[tuple[Entry, str]]:
    return [(entry_of_message(each), each.found_by) for each in messages if each.found_by]


def _index(tx: Tx, texts: Sequence[tuple[Entry, str]], generations: Sequence[str], at: datetime) -> None:
    if not texts:
        return
    tx.index.put([entry for entry, _ in texts])
    hashes: dict[Target, str] = {entry.target: content_hash(text) for entry, text in texts}
    for generation in generations:
        tx.embeddings.queue(hashes, generation, at)
