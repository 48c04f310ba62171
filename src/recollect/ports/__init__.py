"""The seams: what the engine asks of stores and providers, and nothing more."""

from recollect.ports.providers import Cache, Chat, Clock, Embedder, Judge, Judgement
from recollect.ports.store import (
    Capability,
    Conversations,
    Embeddings,
    Index,
    Links,
    Memories,
    Space,
    Store,
    System,
    Tx,
    Vector,
)

__all__ = [
    "Cache",
    "Capability",
    "Chat",
    "Clock",
    "Conversations",
    "Embedder",
    "Embeddings",
    "Index",
    "Judge",
    "Judgement",
    "Links",
    "Memories",
    "Space",
    "Store",
    "System",
    "Tx",
    "Vector",
]
