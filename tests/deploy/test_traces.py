"""A request as one trace, from the door to the store and the provider, received by a collector; without a word of content."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from recollect.cli.serving import build
from recollect.settings import Settings
from tests.providers.wire import SIZE, EmbeddingServer

SECRET = "zanzibar"
CALLER = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"


class Collector:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                zipped = self.headers.get("Content-Encoding") == "gzip"
                collector.bodies.append(gzip.decompress(body) if zipped else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1/traces"

    @contextmanager
    def running(self) -> Iterator[Collector]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

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


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector().running() as running:
        yield running


async def test_a_request_is_one_trace_from_the_door_to_the_store_and_the_provider(
    collector: Collector, tmp_path: Path
) -> None:
    with EmbeddingServer().running() as provider:
        settings = Settings.load(
            {},
            data_dir=tmp_path,
            traces_url=collector.url,
            worker=False,
            embedder="openai",
            embedder_url=f"{provider.url}/v1",
            embedder_model="m",
            embedder_dimensions=SIZE,
        )
        app = build(settings, "127.0.0.1")
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as web,
        ):
            (await web.post("/v1/memories", json={"text": f"the {SECRET} ferry leaves at nine"})).raise_for_status()
            asked = {"query": f"when does the {SECRET} ferry leave?"}
            (await web.post("/v1/memories/search", json=asked, headers={"traceparent": CALLER})).raise_for_status()
            assert (await web.post("/v1/memories", json={"text": ""})).status_code == 400
    spans = {span.span_id: span for span in collector.spans}

    def path(span: Span) -> list[str]:
        above = spans.get(span.parent_span_id)
        return [*(path(above) if above else []), span.name]

    paths = [path(span) for span in spans.values()]
    assert ["POST /v1/memories", "engine.remember", "store.write"] in paths
    recall = [each for each in paths if each[0] == "POST /v1/memories/search"]
    assert any(each[-1] == "store.read" and any(name.startswith("engine.recall") for name in each) for each in recall)
    assert any(each[-1] == "embedder.embed" for each in recall)
    (street,) = (span for span in spans.values() if span.name == "POST /v1/memories/search")
    assert street.trace_id.hex() in CALLER
    assert street.parent_span_id.hex() in CALLER
    assert not any(SECRET.encode() in body for body in collector.bodies)
    assert all(span.parent_span_id for span in spans.values() if span.name.startswith("store."))
