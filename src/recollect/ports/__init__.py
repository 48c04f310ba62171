"""The seams: what the engine asks of stores and providers, and nothing more."""

from recollect.ports.providers import Cache, Chat, Clock, Embedder
from recollect.ports.store import (
    Capability,
    Conversations,
    Embeddings,
    Index,
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
    "Memories",
    "Space",
    "Store",
    "System",
    "Tx",
    "Vector",
]
