"""Caches: what may be lost at any time. In this process, or on a Redis that several processes share.

    rate_limit:{user}                  a count        60 s      {tenant}:{user} for every tenant but `default`
    recall:{hash of scope and query}   ids, scores    10 min
    embedding_cache:{hash}             a vector       7 days    the hash is of the text and the model
    session:{user}:{session}           a session      24 h      `hashes`: the only one with text, kept apart from the cache

No key and no value of the cache holds text. A vector is that of a question; what is remembered is embedded once and never
cached, so that forgetting it leaves nothing here, unless somebody asked for it in its very words: that vector goes within its
seven days.
"""

from recollect.ports import Cache
from recollect.providers.caches.hashes import RedisHashes
from recollect.providers.caches.memory import MemoryCache
from recollect.providers.caches.shared import RedisCache
from recollect.providers.caches.vectors import CachedEmbedder, EmbeddingCache, Key, SharedEmbeddingCache, VectorCache

__all__ = [
    "CachedEmbedder",
    "EmbeddingCache",
    "Key",
    "MemoryCache",
    "RedisCache",
    "RedisHashes",
    "SharedEmbeddingCache",
    "VectorCache",
    "open_cache",
]


def open_cache(redis_url: str = "") -> Cache:
    """The cache of this process, or the one at that address. An address nobody answers at is no error: it is asked again."""
    return RedisCache(redis_url) if redis_url else MemoryCache()
