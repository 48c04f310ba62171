"""The seams: what the engine asks of stores and providers, and nothing more."""

from recollect.ports.answering import Answerer, Archive, Permissions, Point, Tracer, VectorIndex
from recollect.ports.providers import Cache, Chat, Clock, Embedder, Judge, Judgement, SessionHashes
from recollect.ports.store import (
    Capability,
    Conversations,
    Embeddings,
    Index,
    Links,
    Memories,
    Space,
    Store,
    Tx,
    Vector,
)
from recollect.ports.system import System

__all__ = [
    "Answerer",
    "Archive",
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
    "Permissions",
    "Point",
    "SessionHashes",
    "Space",
    "Store",
    "System",
    "Tracer",
    "Tx",
    "Vector",
    "VectorIndex",
]
