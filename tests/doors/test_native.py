"""The native door over real HTTP: a server on loopback, a client that knows only the wire."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """`recollect serve` as a user starts it, on a free port, without a model."""
    folder = tmp_path_factory.mktemp("served")
    environment = {
        **os.environ,
        "RECOLLECT_DATA_DIR": str(folder),
        "RECOLLECT_EMBEDDER": "off",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "recollect", "serve", "--port", str(_free_port())]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[3].rstrip("/")
            with httpx.Client(base_url=address, transport=httpx.HTTPTransport(retries=20)) as client:
                yield client
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_health(server: httpx.Client) -> None:
    assert server.get("/healthz").json()["status"] == "ok"
    assert server.get("/readyz").json() == {"status": "ready"}


def test_a_memory_through_its_whole_life(server: httpx.Client) -> None:
    added = server.post("/v1/memories", json={"text": "The standup is at 9:30", "type": "fact", "tags": ["work"]})
    assert (added.status_code, added.json()["outcome"]) == (201, "stored")
    id = added.json()["id"]
    assert server.get(f"/v1/memories/{id}").json()["text"] == "The standup is at 9:30"
    found = server.post("/v1/memories/search", json={"query": "when is the standup?"}).json()
    assert [(hit["id"], hit["kind"]) for hit in found["hits"]] == [(id, "memory")]
    assert found["hits"][0]["relevance"] >= 0.3
    changed = server.patch(f"/v1/memories/{id}", json={"pinned": True, "text": "The standup is at 10"}).json()
    assert (changed["pinned"], changed["text"], changed["tags"]) == (True, "The standup is at 10", ["work"])
    assert server.get("/v1/memories", params={"pinned": True}).json()["total"] == 1
    gone = server.delete(f"/v1/memories/{id}").json()
    assert (gone["memories"], gone["scrubbed"]) == (1, True)
    assert server.get(f"/v1/memories/{id}").status_code == 404
    again = server.post("/v1/memories", json={"text": "the standup is at 10"}).json()
    assert (again["outcome"], again["reason"]) == ("refused", "tombstone")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/v1/memories/unknown", None, 404, "not_found"),
        ("DELETE", "/v1/memories/unknown", None, 404, "not_found"),
        ("POST", "/v1/memories", {"text": " "}, 400, "invalid_input"),
        ("POST", "/v1/memories", {"text": "x", "type": "opinion"}, 400, "invalid_input"),
        ("POST", "/v1/memories", {"txt": "x"}, 422, "malformed"),
        ("POST", "/v1/memories", {"text": "x" * 1_100_000}, 413, "too_large"),
        ("POST", "/v1/memories/search", {"query": "x", "recipe": "soup"}, 400, "invalid_input"),
        ("GET", "/v1/memories?limit=0", None, 422, "malformed"),
        ("PUT", "/v1/memories", {}, 405, "method_not_allowed"),
        ("GET", "/nowhere", None, 404, "not_found"),
    ],
)
def test_one_error_shape(server: httpx.Client, method: str, path: str, body: object, status: int, code: str) -> None:
    answer = server.request(method, path, json=body, headers={"X-Correlation-ID": "abc-1"})
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["correlation_id"], answer.headers["X-Correlation-ID"]) == (code, "abc-1", "abc-1")
    assert error.keys() == {"code", "message", "correlation_id", "details"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8377"},
        {"Host": ""},
        {"Host": "["},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_another_sites_page_gets_nothing(server: httpx.Client, headers: dict[str, str]) -> None:
    """A page may point its own name at this machine, or send requests here from the browser."""
    for method, path in (("GET", "/v1/memories"), ("POST", "/v1/memories"), ("DELETE", "/v1/memories/x"), ("GET", "/")):
        answer = server.request(method, path, headers=headers, json={"text": "x"} if method == "POST" else None)
        assert answer.status_code in (400, 403), (method, path)


def test_the_servers_own_page_is_welcome(server: httpx.Client) -> None:
    own = {"Origin": str(server.base_url).rstrip("/")}
    assert server.get("/v1/memories", headers=own).status_code == 200


def test_the_page_runs_nothing_foreign(server: httpx.Client) -> None:
    page = server.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script>" not in page.text
    for file in ("page.js", "page.css"):
        assert server.get(f"/{file}").status_code == 200


def test_openapi_describes_every_operation(server: httpx.Client) -> None:
    paths = server.get("/openapi.json").json()["paths"]
    assert {"/v1/memories", "/v1/memories/{id}", "/v1/memories/search", "/healthz"} <= paths.keys()
    assert all(operation["summary"] for path in paths.values() for operation in path.values())


def test_it_listens_on_this_machine_only(tmp_path: Path) -> None:
    environment = {**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "recollect", "serve", "--host", "0.0.0.0"]
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 3
    assert "127.0.0.1" in refused.stderr
