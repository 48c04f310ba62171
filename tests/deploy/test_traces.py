"""A request or a job as one trace, down to the store and the provider, received by a collector; without a word of content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from recollect import Memory
from recollect.cli import app as command
from recollect.cli.serving import build
from recollect.settings import Settings
from tests.doors.http.process import environment
from tests.providers.wire import SIZE, EmbeddingServer
from tests.services.collector import Collector

SECRET = "zanzibar"
CALLER = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"


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
    spans, paths = {span.span_id: span for span in collector.spans}, collector.paths
    assert ["POST /v1/memories", "engine.remember", "store.write"] in paths
    recall = [each for each in paths if each[0] == "POST /v1/memories/search"]
    assert any(each[-1] == "store.read" and any(name.startswith("engine.recall") for name in each) for each in recall)
    assert any(each[-1] == "embedder.embed" for each in recall)
    (street,) = (span for span in spans.values() if span.name == "POST /v1/memories/search")
    assert street.trace_id.hex() in CALLER
    assert street.parent_span_id.hex() in CALLER
    assert not any(SECRET.encode() in body for body in collector.bodies)
    assert all(span.parent_span_id for span in spans.values() if span.name.startswith("store."))


def test_a_job_is_one_trace_and_looking_for_work_is_none(collector: Collector, tmp_path: Path) -> None:
    with EmbeddingServer().running() as provider:
        settings = {
            "embedder": "openai",
            "embedder_url": f"{provider.url}/v1",
            "embedder_model": "m",
            "embedder_dimensions": str(SIZE),
        }
        with Memory(str(tmp_path / "data" / "recollect.db"), worker=False, **settings) as memory:
            memory.add(f"the {SECRET} ferry leaves at nine")
        env = environment(tmp_path, **settings, traces_url=collector.url)
        assert CliRunner().invoke(command, ["worker", "--once"], env=env).exit_code == 0
        paths = collector.paths
        assert ["job.embed", "store.write"] in paths, "what was claimed and written down"
        assert ["job.embed", "embedder.embed"] in paths
        assert {path[0].split(".")[0] for path in paths} == {"job"}, "nothing hangs in the air"
        assert not any(SECRET.encode() in body for body in collector.bodies)
        collector.bodies.clear()
        assert CliRunner().invoke(command, ["worker", "--once"], env=env).exit_code == 0
        assert not any(path[0] == "job.embed" for path in collector.paths), "there was nothing to do"
