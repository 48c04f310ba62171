"""Traces: one request as a tree of spans, from the door through the engine to the store and to providers, for OpenTelemetry; and
one piece of background work likewise, from the job down.

A span carries names, counts and outcomes. What was said, asked, found or stored is never in one, and neither is who it was. What
only looks for work, again and again, leaves no trace: a job's begins with the first thing it writes or asks of a provider.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_current_span, use_span

from recollect._version import __version__
from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Completion, Piece, Scope, Utterance
from recollect.ports import Capability, Chat, Embedder, Store, System, Tx
from recollect.ports.around import AroundEmbedder

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


class Job:
    """Background work whose trace begins when there is something to tell. Its parts may run side by side."""

    def __init__(self, name: str, tracer: Tracer) -> None:
        self._name, self._tracer = name, tracer
        self._lock = threading.Lock()
        self.span: Span | None = None

    def begun(self) -> Span:
        with self._lock:
            if self.span is None:
                self.span = self._tracer.start_span(self._name, kind=SpanKind.CONSUMER)
            return self.span


_job: ContextVar[Job | None] = ContextVar("recollect_job", default=None)


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
        with (
            _under(_job.get()),
            self.tracer.start_as_current_span(
                name, kind=kind, attributes=facts, record_exception=False, set_status_on_exception=False
            ) as span,
        ):
            try:
                yield span
            except RecollectError as problem:
                span.set_attribute("error.type", type(problem).__name__)
                span.set_status(StatusCode.ERROR)
                raise

    @contextmanager
    def job(self, name: str) -> Iterator[None]:
        """What is done within belongs to one piece of background work."""
        job = Job(f"job.{name}", self.tracer)
        before = _job.set(job)
        try:
            yield
        except RecollectError as problem:
            if job.span is not None:
                job.span.set_attribute("error.type", type(problem).__name__)
                job.span.set_status(StatusCode.ERROR)
            raise
        finally:
            _job.reset(before)
            if job.span is not None:
                job.span.end()

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


def _under(job: Job | None) -> AbstractContextManager[Span | None]:
    """Below the job that it is part of, where no span nearer to it is open."""
    if job is None or _is_open():
        return nullcontext()
    return use_span(job.begun(), record_exception=False, set_status_on_exception=False)


def _is_open() -> bool:
    return get_current_span().get_span_context().is_valid


class SpannedStore:
    """Another store, with a span for everything asked of it on behalf of somebody, or by a job that has something to do."""

    def __init__(self, store: Store, spans: Spans) -> None:
        self._store, self._spans = store, spans

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._store.capabilities

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._within("store.read", self._store.read(scope, work))

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        return await self._within("store.write", self._store.write(scope, work), begins=True)

    async def system(self, work: Callable[[System], T]) -> T:
        return await self._within("store.system", self._store.system(work))

    async def scrub(self, *, however_long: bool = False) -> bool:
        return await self._within("store.scrub", self._store.scrub(however_long=however_long), begins=True)

    async def close(self) -> None:
        await self._store.close()

    async def _within(self, name: str, work: Awaitable[T], *, begins: bool = False) -> T:
        """`begins`: enough to begin the trace of a job, which looking is not."""
        job = _job.get()
        if not _is_open() and (job is None or (job.span is None and not begins)):
            return await work
        with self._spans.span(name, SpanKind.CLIENT):
            return await work


class SpannedEmbedder(AroundEmbedder):
    """Another embedder, with a span for every call."""

    def __init__(self, embedder: Embedder, spans: Spans) -> None:
        super().__init__(embedder)
        self._spans = spans

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        with self._spans.span("embedder.embed", SpanKind.CLIENT, provider=self.provider, texts=len(texts)):
            return await super().embed(texts, query=query)


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
