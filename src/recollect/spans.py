"""Traces: one request as a tree of spans, from the door through the engine to the store and to providers, for OpenTelemetry.

A span carries names, counts and outcomes. What was said, asked, found or stored is never in one, and neither is who it was. What
only looks for work, again and again, leaves no trace: the store's spans hang on somebody's request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_current_span

from recollect._version import __version__
from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Completion, Piece, Scope, Utterance
from recollect.ports import Capability, Chat, Embedder, Store, System, Tx

T = TypeVar("T")
VERBS = (
    "remember",
    "recall",
    "recall_softly",
    "revise",
    "forget",
    "add_turns",
    "take_in",
    "converse",
    "maintain",
    "import_lines",
)


class Spans:
    """Opens spans; whoever ends the process closes it, so that the last of them are sent."""

    def __init__(self, processor: SpanProcessor) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "recollect", "service.version": __version__}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(processor)
        self.tracer: Tracer = self._provider.get_tracer("recollect", __version__)

    @classmethod
    def sent_to(cls, url: str) -> Spans:
        return cls(BatchSpanProcessor(OTLPSpanExporter(endpoint=url, timeout=5)))

    @contextmanager
    def span(self, name: str, kind: SpanKind = SpanKind.INTERNAL, **facts: str | int) -> Iterator[Span]:
        """Of an error its kind is told, never its words."""
        with self.tracer.start_as_current_span(
            name, kind=kind, attributes=facts, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except RecollectError as problem:
                span.set_attribute("error.type", type(problem).__name__)
                span.set_status(StatusCode.ERROR)
                raise

    def around(
        self, engine: type[Engine], store: Store, embedder: Embedder | None, chat: Chat | None
    ) -> tuple[type[Engine], Store, Embedder | None, Chat | None]:
        """The same, with spans around what they do."""
        return (
            spanned(engine, self),
            SpannedStore(store, self),
            None if embedder is None else SpannedEmbedder(embedder, self),
            None if chat is None else SpannedChat(chat, self),
        )

    def requests(self, app: Callable[..., Awaitable[None]], route: Callable[[Any], str]) -> SpannedRequests:
        return SpannedRequests(app, self, route)

    def close(self) -> None:
        self._provider.shutdown()


class SpannedStore:
    """Another store, with a span for everything asked of it on behalf of somebody."""

    def __init__(self, store: Store, spans: Spans) -> None:
        self._store, self._spans = store, spans

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._store.capabilities

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._within("store.read", self._store.read(scope, work))

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._within("store.write", self._store.write(scope, work))

    async def system(self, work: Callable[[System], T]) -> T:
        return await self._within("store.system", self._store.system(work))

    async def scrub(self) -> bool:
        return await self._within("store.scrub", self._store.scrub())

    async def close(self) -> None:
        await self._store.close()

    async def _within(self, name: str, work: Awaitable[T]) -> T:
        if not get_current_span().get_span_context().is_valid:
            return await work
        with self._spans.span(name, SpanKind.CLIENT):
            return await work


class SpannedEmbedder:
    """Another embedder, with a span for every call."""

    def __init__(self, embedder: Embedder, spans: Spans) -> None:
        self._embedder, self._spans = embedder, spans

    @property
    def provider(self) -> str:
        return self._embedder.provider

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        with self._spans.span("embedder.embed", SpanKind.CLIENT, provider=self.provider, texts=len(texts)):
            return await self._embedder.embed(texts, query=query)

    async def close(self) -> None:
        await self._embedder.close()


class SpannedChat:
    """Another chat model, with a span for every answer."""

    def __init__(self, chat: Chat, spans: Spans) -> None:
        self._chat, self._spans = chat, spans

    @property
    def model(self) -> str:
        return self._chat.model

    async def complete(
        self, messages: Sequence[Utterance], *, schema: Mapping[str, Any] | None = None, max_tokens: int | None = None
    ) -> Completion:
        with self._spans.span("chat.complete", SpanKind.CLIENT, model=self.model, messages=len(messages)):
            return await self._chat.complete(messages, schema=schema, max_tokens=max_tokens)

    async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
        # Not made the current one: an iterator may be gone on with, and closed, in another context than it was begun in.
        span = self._spans.tracer.start_span("chat.stream", kind=SpanKind.CLIENT, attributes={"model": self.model})
        try:
            async for piece in self._chat.stream(messages, max_tokens=max_tokens):
                yield piece
        finally:
            span.end()

    async def close(self) -> None:
        await self._chat.close()


def spanned(engine: type[Engine], spans: Spans) -> type[Engine]:
    """The same engine with a span around each verb. Its views are of the same kind."""

    def around(name: str) -> Callable[..., Awaitable[Any]]:
        verb = getattr(engine, name)

        @wraps(verb)
        async def call(self: Engine, *args: Any, **kwargs: Any) -> Any:
            with spans.span(f"engine.{name}"):
                return await verb(self, *args, **kwargs)

        return call

    return type("SpannedEngine", (engine,), {name: around(name) for name in VERBS})


class SpannedRequests:
    """The street door: a request's span, which goes on where its caller's trace left off."""

    def __init__(self, app: Callable[..., Awaitable[None]], spans: Spans, route: Callable[[Any], str]) -> None:
        self._app, self._spans, self._route = app, spans, route

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._spans.tracer.start_as_current_span(
            scope["method"][:16],
            context=extract(headers),
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            async def sent(message: Any) -> None:
                if message["type"] == "http.response.start":
                    span.update_name(f"{scope['method'][:16]} {self._route(scope)}")
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            await self._app(scope, receive, sent)
