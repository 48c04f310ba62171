"""Make a memory or messages findable: an index entry now, a place in the embedding queue for later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.model import Memory, Message, Target
from recollect.policy.digest import content_hash
from recollect.policy.projection import entry_of_memory, entry_of_message
from recollect.ports import Tx


def index_memory(
    tx: Tx, memory: Memory, generations: Sequence[str], at: datetime, analysed: Sequence[str] | None = None
) -> None:
    tx.index.put([entry_of_memory(memory, analysed)])
    for generation in generations:
        tx.embeddings.queue({Target("memory", memory.id): content_hash(memory.content)}, generation, at)


def index_messages(tx: Tx, messages: Sequence[Message], generations: Sequence[str], at: datetime) -> None:
    tx.index.put([entry_of_message(message) for message in messages])
    hashes = {Target("message", message.id): content_hash(message.content) for message in messages}
    for generation in generations:
        tx.embeddings.queue(hashes, generation, at)
