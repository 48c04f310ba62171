"""A collector of traces, on a loopback port: keeps what it is sent, and tells the spans in it."""

from __future__ import annotations

import gzip

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.services.wire import Exchange, Wire


class Collector(Wire):
    path = "/v1/traces"

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    def meet(self, exchange: Exchange) -> None:
        zipped = exchange.headers.get("Content-Encoding") == "gzip"
        content = exchange.content()
        self.bodies.append(gzip.decompress(content) if zipped else content)
        exchange.says(200, b"")

    @property
    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for it in requests
            for whole in it.resource_spans
            for scope in whole.scope_spans
            for span in scope.spans
        ]

    @property
    def paths(self) -> list[list[str]]:
        """Of every span its name, after those it is part of."""
        spans = {span.span_id: span for span in self.spans}

        def path(span: Span) -> list[str]:
            above = spans.get(span.parent_span_id)
            return [*(path(above) if above else []), span.name]

        return [path(span) for span in spans.values()]
