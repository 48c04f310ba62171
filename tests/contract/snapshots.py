"""Everything a transaction can see, as one comparable value, so that two moments or two stores can be held side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recollect.model import EmbeddingStatus, Listing, MemoryType, Status, Target
from recollect.ports import Tx

MANY = 10_000


def everything(tx: Tx, generation: str = "g1") -> dict[str, Any]:
    """What a scope holds. Revisions are left out: they say when, not what."""
    memories = tx.memories.list(Listing(statuses=tuple(Status), limit=MANY))
    talks = tx.conversations.list(MANY, 0)
    found = tx.index.changes(0, generation, MANY)
    targets = [Target("memory", each.id) for each in memories] + [item.entry.target for item in found.items]
    messages = [each for talk in talks for each in tx.conversations.history(talk.id, MANY)]
    targets += [Target("message", each.id) for each in messages]
    return {
        "memories": memories,
        "scanned": list(tx.memories.scan(None, MANY)),
        "by type": {t: tx.memories.list(Listing(types=(t,), limit=MANY)).total for t in MemoryType},
        "conversations": talks,
        "messages": messages,
        "size": found.size,
        "entries": {item.entry.target: item.entry for item in found.items},
        "vectors": {item.entry.target for item in found.items if item.vector is not None},
        "embeddings": _by_target(tx.embeddings.status, targets, generation),
        "backlog": tx.embeddings.backlog(generation),
        "settings": tx.space.settings(),
        "themes": list(tx.space.themes()),
        "audit": tx.space.audit(MANY, 0),
    }


def vectors(tx: Tx, generation: str = "g1") -> dict[Target, np.ndarray[Any, Any]]:
    """Ready vectors by target."""
    found = tx.index.changes(0, generation, MANY).items
    return {item.entry.target: np.asarray(item.vector, np.float32) for item in found if item.vector is not None}


def _by_target(
    status: Callable[[list[Target], str], dict[Target, EmbeddingStatus]], targets: list[Target], generation: str
) -> dict[Target, EmbeddingStatus]:
    return dict(sorted(status(sorted(set(targets)), generation).items()))
