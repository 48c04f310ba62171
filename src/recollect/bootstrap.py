"""From settings to a running engine. The only room that sees everything.

Stores and providers are imported when they are chosen, so that a library on SQLite never pays for Postgres, HTTP or a model
it doesn't use.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  what it does at exit must be registered before what we do
import logging
import threading
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine import Engine, EngineConfig
from recollect.engine.chatting.chat_rules import ChatRules
from recollect.engine.conversations.copies import Copied
from recollect.engine.datachat.rules import DataRules, Desk
from recollect.engine.embedding.elsewhere import Elsewhere
from recollect.engine.embedding.generations import Generations, Recollector, generation_of
from recollect.engine.embedding.pacing import Pace
from recollect.engine.embedding.providing import Providing, Vault
from recollect.engine.remembering.judging import ChatJudge
from recollect.engine.remembering.screening import Rules
from recollect.errors import InvalidInput, RecollectError, Unsupported
from recollect.model import Generation
from recollect.policy.recipes import TriScore
from recollect.ports import Cache, Chat, Embedder, Store
from recollect.providers.caches import (
    CachedEmbedder,
    EmbeddingCache,
    RedisCache,
    RedisHashes,
    SharedEmbeddingCache,
    VectorCache,
    open_cache,
)
from recollect.providers.clock import SystemClock
from recollect.providers.configured import Configured
from recollect.providers.embedders import EmbedderConfig, choose
from recollect.providers.embedders.guarded import GuardedEmbedder
from recollect.settings import Settings
from recollect.worker.embedded import EmbeddedWorker
from recollect.worker.jobs import unwatched
from recollect.worker.waking import Waker

if TYPE_CHECKING:
    from recollect.spans import Spans

DATABASE_FILE = "recollect.db"


def _end_quietly() -> None:
    """A program need not close its memory. Python ends its thread pools some time before the worker's thread: what fails in
    between is done by whoever opens the store next, and no news to anybody."""
    logging.getLogger("recollect.worker").disabled = True


# `atexit` comes after the pools have ended; of these callbacks the last one registered is the first to run. The name is Python's
# own and not promised: a version without it ends with a line too many.
getattr(threading, "_register_atexit", atexit.register)(_end_quietly)


@dataclass
class Running:
    """An engine with the worker that serves it, or with what wakes workers elsewhere."""

    engine: Engine
    settings: Settings
    worker: EmbeddedWorker | None
    waker: Waker | None = None

    async def close(self) -> None:
        if self.waker is not None:
            await asyncio.to_thread(self.waker.close)
        if self.worker is not None:
            # On a thread: the batch in hand may be waiting for a question that this very loop has still to finish.
            await asyncio.to_thread(self.worker.stop)
        await self.engine.close()


async def open_engine(settings: Settings, *, resident: bool = False, spans: Spans | None = None) -> Running:
    """`resident`: it stays, so that what it owes for its own reads is written as it goes, whoever does the rest."""
    async with AsyncExitStack() as undo:
        store = await open_store(settings)
        undo.push_async_callback(store.close)
        cache = open_cache(settings.redis_url)
        undo.push_async_callback(cache.close)
        shared = cache if settings.redis_url else None
        embedder = await open_embedder(embedder_config(settings), shared, settings.pepper.encode())
        engine = engine_over(store, embedder, settings, cache, spans)
        waker = open_waker(engine, settings) if settings.broker_url and not settings.worker else None
        during = unwatched if spans is None else spans.job
        worker = EmbeddedWorker(engine, during=during) if settings.worker else None
        if worker is None and (resident or waker is not None):
            worker = EmbeddedWorker(engine, duties="own", during=during)
        for each in (waker, worker):
            if each is not None:
                each.start()
        undo.pop_all()
    return Running(engine, settings, worker, waker)


def open_spans(settings: Settings) -> Spans | None:
    """Where traces go, if anywhere."""
    if not settings.traces_url:
        return None
    try:
        from recollect.spans import Spans
    except ImportError as problem:
        raise Unsupported(f"traces need the package {problem.name!r}: install recollect[otel]") from problem
    return Spans.sent_to(settings.traces_url)


def open_waker(engine: Engine, settings: Settings) -> Waker:
    """What tells the workers at the broker of every write."""
    try:
        from recollect.worker.tasks import celery_app, sender
    except ImportError as problem:
        raise Unsupported(f"a broker needs the package {problem.name!r}: install recollect[celery]") from problem
    return Waker(sender(celery_app(settings.broker_url)), engine)


def engine_over(
    store: Store,
    embedder: Embedder | None,
    settings: Settings,
    cache: Cache | None = None,
    spans: Spans | None = None,
) -> Engine:
    """An engine without a worker: whoever asks for one runs the background work, or doesn't."""
    kind: type[Engine] = Engine
    asked, chat = embedder, open_chat(settings)
    if spans is not None:
        kind, store, asked, chat = spans.around(kind, store, asked, chat)
    hashes = RedisHashes(settings.redis_url, settings.pepper.encode()) if settings.redis_url else None
    if hashes is not None:
        store = Copied(store, hashes, settings.pepper.encode()[:64])
    generations = Generations(store, SystemClock(), asked, _recollector(settings), insist=_insists(settings, embedder))
    engine = kind(store, SystemClock(), engine_config(settings), generations, cache)
    configured = Configured(embedder_config(settings), open_embedder, partial(_insists, settings))
    origin = configured.origin(embedder)
    engine.copies = hashes
    engine.chat = chat
    engine.reviewer = ChatJudge(engine.chat) if engine.chat is not None else None
    engine.desk = open_desk(settings, engine.chat)
    engine.elsewhere = open_elsewhere(settings)
    if isinstance(embedder, CachedEmbedder):
        embedder.told = lambda hits, misses: engine.heard(
            "cache", {"cache": "embedding", "hits": hits, "misses": misses}
        )
    if isinstance(cache, RedisCache):
        cache.tell(lambda answers: engine.heard("shared_cache", {"answers": answers}))
    engine.pace = Pace(settings.embed_calls_per_minute, cache if settings.redis_url else None)
    engine.providing = Providing(store, generations, configured, partial(_vault, settings), origin)
    return engine


def open_chat(settings: Settings) -> Chat | None:
    """The configured chat model, if there is one."""
    if not settings.chat_url:
        return None
    from recollect.providers.chat import CompatibleChat

    return CompatibleChat(
        settings.chat_url, settings.chat_model, settings.chat_key or None, timeout_s=settings.chat_timeout_s
    )


def open_desk(settings: Settings, chat: Chat | None) -> Desk:
    """Those who work for the data chat. Where none is configured nothing of theirs is loaded."""
    if not settings.asks_data:
        return Desk(summariser=chat)
    from recollect import desk

    summariser = chat
    if chat is not None and settings.summarization_model:
        summariser = open_chat(replace(settings, chat_model=settings.summarization_model))
    return replace(desk.opened(settings, chat), summariser=summariser)


def open_elsewhere(settings: Settings) -> Elsewhere | None:
    """Where copies of the data chat's vectors are searched; None: in the store itself."""
    kind, collection, url = settings.vector_store, settings.vector_collection, settings.vector_url
    if kind == "opensearch":
        from recollect.providers.indexes.opensearch import OpenSearchIndex

        return Elsewhere(OpenSearchIndex(url, collection))
    if kind == "chroma":
        try:
            from recollect.providers.indexes.chroma import ChromaIndex
        except ImportError as problem:
            raise Unsupported(f"Chroma needs the package {problem.name!r}: install recollect[chroma]") from problem
        return Elsewhere(ChromaIndex(collection, url=url, folder=settings.data_dir / "chroma"))
    if kind != "store" and (kind == "sqlite") != (sqlite_path(settings) is not None):
        raise InvalidInput(f"the vector store can't be {kind}: everything is stored elsewhere; `store` means that")
    return None


def data_rules(settings: Settings) -> DataRules:
    return DataRules(
        enabled=settings.data_memory,
        rollout=settings.memory_rollout,
        history=settings.max_history_messages,
        similar=settings.semantic_search_k,
        context_tokens=settings.max_context_tokens,
        summaries=settings.summarization_enabled,
        summarise_after=settings.summarization_threshold,
        stored_rows=settings.stored_result_rows,
        may_export=settings.allow_data_export,
        may_delete=settings.allow_data_deletion,
    )


def _vault(settings: Settings) -> Vault:
    try:
        from recollect.providers.vault import Vault
    except ImportError as problem:
        raise Unsupported(f"stored keys need the package {problem.name!r}: install recollect[server]") from problem
    return Vault.of(settings.secret_key, settings.data_dir)


def engine_config(settings: Settings) -> EngineConfig:
    return EngineConfig(
        write_mode=settings.write_mode,
        max_content_bytes=settings.max_content_bytes,
        tombstone=timedelta(hours=settings.tombstone_hours),
        exact_below=settings.exact_below,
        index_bytes=settings.index_memory_mb * 1024 * 1024,
        embed_batch=settings.embed_batch,
        lease=timedelta(seconds=settings.embed_lease_s),
        embed_attempts=settings.embed_attempts,
        pepper=settings.pepper.encode()[:64],
        token_budget=settings.token_budget,
        min_relevance=settings.min_relevance,
        max_results=settings.max_results,
        tri_score=_tri_score(settings),
        screening=Rules(secrets=settings.secrets, pii=settings.pii),
        rate_limit=settings.rate_limit,
        audit_reads=settings.audit_reads,
        eviction_threshold=settings.eviction_threshold or None,
        archive_retention=timedelta(days=settings.archive_days) if settings.archive_days else None,
        chat_retention=timedelta(days=settings.retention_days) if settings.retention_days else None,
        data=data_rules(settings),
        chat=ChatRules(
            history=settings.chat_history_messages,
            context_tokens=settings.chat_context_tokens,
            summaries=settings.summarization_enabled,
            summarise_after=settings.summarization_threshold,
            days=settings.chat_days or None,
        ),
        cleanup_every=timedelta(hours=settings.cleanup_hours) if settings.cleanup_hours else None,
        scrub_after=timedelta(minutes=settings.scrub_after_minutes),
    )


def _tri_score(settings: Settings) -> TriScore | None:
    """None where nothing was set, so that a recipe may still say otherwise."""
    said = TriScore(
        alpha=settings.companion_alpha,
        beta=settings.companion_beta,
        gamma=settings.companion_gamma,
        diversity=settings.companion_lambda,
    )
    return None if said == TriScore() else said


def sqlite_path(settings: Settings) -> str | None:
    """The SQLite file the settings mean (`:memory:` for one that lives in memory); None when they mean Postgres."""
    url = settings.store
    if not url:
        return str(settings.data_dir / DATABASE_FILE)
    if url in {":memory:", "memory://", "sqlite://"}:
        return ":memory:"
    if url.startswith("sqlite://"):
        return url.removeprefix("sqlite://").removeprefix("/") or ":memory:"
    if url == "postgres" or url.startswith(("postgres://", "postgresql://", "postgresql+")):
        return None
    if "://" in url or url.startswith("sqlite:"):
        scheme = url.partition(":")[0]
        raise InvalidInput(
            f"no store is called {scheme!r}: give a file path, sqlite:///path, memory:// or postgresql://…"
        )
    return str(Path(url).expanduser())


async def open_store(settings: Settings) -> Store:
    path = sqlite_path(settings)
    if path is not None:
        from recollect.stores.sqlite import SqliteStore

        try:
            return await SqliteStore.open(path, synchronous=settings.sqlite_synchronous)
        except RecollectError as problem:
            raise type(problem)(f"{path}: {problem.message}", **problem.details) from problem.__cause__
    try:
        from recollect.stores.postgres import PostgresStore
    except ImportError as problem:
        raise Unsupported(f"Postgres needs the package {problem.name!r}: install recollect[postgres]") from problem
    return await PostgresStore.open(
        await postgres_url(settings),
        read_url=settings.read_url or None,
        pool_size=settings.pool_size + settings.max_overflow,
        prepare=settings.prepare,
        statement_timeout_ms=settings.statement_timeout_ms,
        exact_below=settings.exact_below,
        scrubbed_at_once=settings.scrub_at_once_mb * 1024 * 1024,
        migrate_url=settings.migrate_url or None,
    )


async def postgres_url(settings: Settings) -> str:
    if settings.store == "postgres":
        from recollect.stores.postgres.embedded import provision

        return await provision(settings.data_dir / "postgres")
    scheme, _, rest = settings.store.partition("://")
    return f"postgresql://{rest}" if scheme != "postgresql" else settings.store


def embedder_config(settings: Settings) -> EmbedderConfig:
    return EmbedderConfig(
        provider=settings.embedder,
        endpoint_url=settings.embedder_url or None,
        model=settings.embedder_model or None,
        api_key=settings.embedder_key or None,
        dimensions=settings.embedder_dimensions or None,
        timeout_s=settings.embedder_timeout_s,
        llamacpp_url=settings.llamacpp_url or None,
        models_dir=settings.data_dir / "models",
    )


async def open_embedder(config: EmbedderConfig, shared: Cache | None = None, pepper: bytes = b"") -> Embedder | None:
    """The configured embedder, with a memory for repeated questions, which processes may share. Looking for a server may take a
    moment."""
    chosen = await asyncio.to_thread(choose, config)
    if chosen is not None and chosen.provider != "local":
        chosen = GuardedEmbedder(chosen)
    cache: VectorCache = EmbeddingCache()
    if shared is not None:
        cache = SharedEmbeddingCache(EmbeddingCache(), shared, pepper)
    return None if chosen is None else CachedEmbedder(chosen, cache)


def _recollector(settings: Settings) -> Recollector:
    """How to find the model of a generation that was made under other settings.

    Text goes only where the present settings send it: a server that isn't named in them now is not asked, whatever an older
    generation was made with.
    """

    async def recollect(generation: Generation) -> Embedder | None:
        if generation.provider not in _reachable(settings):
            return None
        wanted = replace(
            embedder_config(settings),
            provider=generation.provider,  # type: ignore[arg-type]  # one of the reachable ones
            model=generation.model,
            dimensions=generation.dimensions,
        )
        try:
            found = await open_embedder(wanted)
            fits = found is not None and await asyncio.to_thread(generation_of, found) == generation.id
        except RecollectError:
            return None
        return found if fits else None

    return recollect


def _reachable(settings: Settings) -> set[str]:
    """The providers whose server (if they need one) the settings name."""
    if settings.embedder == "off":
        return set()
    named = {"local"}
    if settings.embedder_url:
        named |= {"openai", "ollama", "custom_http", "llamacpp"}
    if settings.llamacpp_url:
        named.add("llamacpp")
    return named | ({settings.embedder} - {"auto"})


def _insists(settings: Settings, embedder: Embedder | None) -> bool:
    """Whether this is the model that was asked for, and not one that stands in for a server that is down just now."""
    if settings.embedder != "auto":
        return True
    if settings.embedder_url or settings.llamacpp_url:
        return embedder is not None and embedder.provider != "local"
    return bool(settings.embedder_model)
