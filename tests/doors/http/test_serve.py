"""The real server, as a process: what it refuses to start with, slow and broken clients, several workers, and its end."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from recollect.bootstrap import open_store
from recollect.cli import app as cli
from recollect.model import Scope
from recollect.settings import Settings
from tests.api.homes import Home
from tests.doors.http.issuing import SECRET, signed
from tests.doors.http.process import PATIENCE_SECONDS, Server, environment, serving
from tests.worker.machinery import runs, until

ENOUGH = 60
LIMITS = {"max_body_bytes": "2000", "body_timeout_s": "1", "log_format": "json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), **LIMITS) as running:
        yield running


def exchange(server: Server, *sent: bytes, pause: float = 0.0) -> bytes:
    """Say exactly this, with pauses between, and listen until the server hangs up."""
    with socket.create_connection(server.address, timeout=30) as connection:
        for part in sent:
            connection.sendall(part)
            time.sleep(pause)
        heard = b""
        while chunk := connection.recv(65536):
            heard += chunk
        return heard


def status_and_code(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_a_body_that_trickles_in_is_not_waited_for(server: Server) -> None:
    answer = exchange(server, HEAD + b"Content-Length: 100\r\n\r\n", b'{"te', b'xt":', pause=0.4)
    assert status_and_code(answer) == (408, "too_slow")


def test_an_announced_giant_is_refused_at_once(server: Server) -> None:
    answer = exchange(server, HEAD + b"Content-Length: 99999999999\r\n\r\n{")
    assert status_and_code(answer) == (413, "too_large")


def test_an_unannounced_giant_is_refused_when_it_has_shown_itself(server: Server) -> None:
    chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"
    answer = exchange(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk, chunk, chunk, b"0\r\n\r\n")
    assert status_and_code(answer) == (413, "too_large")


def test_a_refusal_arrives_though_the_client_is_still_sending(server: Server) -> None:
    body = b"x" * 5_000_000
    answer = exchange(server, HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body)
    assert status_and_code(answer) == (413, "too_large")


@pytest.mark.parametrize(
    "request_",
    [
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}",
        HEAD + b"Content-Length: -2\r\n\r\n{}",
        HEAD + b"Content-Length: +2\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n{}",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\nConnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX : a\r\nConnection: close\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"nonsense\r\n\r\n",
    ],
    ids=lambda text: text[:70].decode("latin-1").replace("\r\n", " "),
)
def test_requests_that_two_readers_could_read_differently_are_refused(server: Server, request_: bytes) -> None:
    assert re.match(rb"HTTP/1.1 (400|413|415|501) ", exchange(server, request_))


@pytest.mark.parametrize(
    "path",
    [b"//v1/memories", b"/v1/../v1/memories", b"/%2e%2e/etc/passwd", b"/v1/memories/%2e%2e%2f", b"*", b"/\xc3\xa9"],
)
def test_tricks_with_paths_lead_nowhere(server: Server, path: bytes) -> None:
    answer = exchange(server, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert re.match(rb"HTTP/1.1 (400|404) ", answer)


def test_a_client_that_leaves_in_the_middle_harms_nobody(server: Server) -> None:
    for _ in range(5):
        with socket.create_connection(server.address) as connection:
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
    assert httpx.get(server.url + "healthz", timeout=PATIENCE_SECONDS).status_code == 200


def test_every_log_line_is_json_and_carries_the_id(server: Server) -> None:
    named = {"X-Correlation-ID": "find-me"}
    httpx.get(server.url + "v1/memories?tag=canary", headers=named, timeout=PATIENCE_SECONDS)
    until("the line is written, which happens after the answer", lambda: "find-me" in server.said())
    log = dropwhile(lambda line: not line.startswith("{"), server.said().splitlines())  # where it is, comes first
    lines = [json.loads(line) for line in log]
    (mine,) = [line for line in lines if line["correlation_id"] == "find-me"]
    assert (mine["method"], mine["route"], mine["status"]) == ("GET", "/v1/memories", 200)
    assert "canary" not in server.said()


def test_health_and_metrics_are_open_on_this_machine(server: Server) -> None:
    assert httpx.get(server.url + "readyz", timeout=PATIENCE_SECONDS).json() == {"status": "ready"}
    metrics = httpx.get(server.url + "metrics", timeout=PATIENCE_SECONDS)
    assert metrics.headers["content-type"].startswith("text/plain")
    assert "recollect_requests_total" in metrics.text


@pytest.mark.parametrize(
    ("options", "settings", "code", "word"),
    [
        (("--host", "0.0.0.0"), {}, 3, "RECOLLECT_USER_ID_SOURCE"),
        (("--host", "0.0.0.0"), {"user_id_source": "header"}, 3, "RECOLLECT_TRUSTED_PROXIES"),
        ((), {"user_id_source": "jwt_claim"}, 2, "RECOLLECT_JWT_SECRET"),
        ((), {"user_id_source": "jwt_claim", "jwt_secret": "short-and-secret"}, 2, "32 bytes"),
        ((), {"user_id_source": "basic_username"}, 2, "RECOLLECT_BASIC_USERS"),
        (("--workers", "2", "--store", ":memory:"), {}, 2, "--workers 1"),
        (("--store", "postgresql://nobody@127.0.0.1:1/none"), {}, 5, "127.0.0.1"),
        (("--host", "192.0.2.1"), {"user_id_source": "bearer_token"}, 5, "can't listen"),
        ((), {"answerer": "denodo"}, 2, "RECOLLECT_DENODO_URL"),
        ((), {"vector_store": "opensearch"}, 2, "vector index"),
    ],
)
def test_what_it_does_not_start_with(
    tmp_path: Path, options: tuple[str, ...], settings: dict[str, str], code: int, word: str
) -> None:
    ended = CliRunner().invoke(cli, ["serve", "--port", "0", *options], env=environment(tmp_path, **settings))
    assert (ended.exit_code, word in ended.stderr) == (code, True), ended.stderr
    assert "Traceback" not in ended.stderr
    assert "short-and-secret" not in ended.stderr


def test_a_process_that_does_not_start_says_why_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--host", "0.0.0.0"]
    ended = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, "RECOLLECT_USER_ID_SOURCE" in ended.stderr) == (3, True), ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_in_use_is_said_in_one_line(server: Server, tmp_path: Path) -> None:
    ended = CliRunner().invoke(cli, ["serve", "--port", str(server.address[1])], env=environment(tmp_path))
    assert (ended.exit_code, len(ended.stderr.splitlines())) == (5, 1)
    assert "Address already in use" in ended.stderr
    assert "another port with --port (0 finds a free one)" in ended.stderr


async def _write_until_the_end(server: Server, clients: int) -> tuple[list[str], Counter[str]]:
    """What was acknowledged, and what became of the rest, from `clients` that write without pause while the server ends."""
    acknowledged: list[str] = []
    otherwise: Counter[str] = Counter()
    enough, stopping = asyncio.Event(), asyncio.Event()

    async def write(number: int) -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            for turn in range(10_000):
                try:
                    answer = await client.post(
                        "/v1/memories", json={"text": f"Client {number} noted fact number {turn}"}
                    )
                except httpx.TransportError as problem:
                    otherwise[type(problem).__name__] += 1
                    if stopping.is_set():
                        return
                    continue
                if answer.status_code == 201:
                    acknowledged.append(answer.json()["id"])
                    if len(acknowledged) == ENOUGH:
                        enough.set()
                else:
                    otherwise[str(answer.status_code)] += 1

    async def end() -> None:
        await enough.wait()
        stopping.set()
        server.process.terminate()

    await asyncio.gather(end(), *(write(number) for number in range(clients)))
    return acknowledged, otherwise


async def _stored(home: Home) -> set[str]:
    store = await open_store(Settings.load({}, store=home.url, pool_size=2))
    try:
        memories = await store.read(Scope("default", "local"), lambda tx: tx.memories.scan(None, 100_000))
        return {memory.id for memory in memories}
    finally:
        await store.close()


@pytest.mark.slow
# Two processes over one file are a case of their own; over a server, one is what two are.
@pytest.mark.parametrize(("home", "workers"), [("sqlite", "1"), ("sqlite", "2"), ("postgres", "2")], indirect=["home"])
def test_the_end_loses_nothing_that_was_acknowledged(home: Home, tmp_path: Path, workers: str) -> None:
    with serving(tmp_path, "--workers", workers, "--store", home.url) as server:
        acknowledged, otherwise = asyncio.run(_write_until_the_end(server, clients=8))
        assert server.process.wait(PATIENCE_SECONDS) in (0, -15)
    assert len(acknowledged) >= ENOUGH
    assert set(acknowledged) <= asyncio.run(_stored(home))
    assert not [outcome for outcome in otherwise if outcome.startswith("5")], (otherwise, server.said())
    assert "error" not in server.said().lower(), server.said()


@pytest.mark.slow
def test_several_workers_count_together_check_the_same_tokens_and_end_with_the_first(tmp_path: Path) -> None:
    settings = {"user_id_source": "jwt_claim", "jwt_secret": SECRET}
    with serving(tmp_path, "--workers", "2", **settings) as server:
        login = {"Authorization": f"Bearer {signed(role='admin')}"}
        apart = httpx.Limits(
            max_keepalive_connections=0
        )  # each on a connection of its own, so that both processes get some
        with httpx.Client(base_url=server.url, limits=apart, timeout=PATIENCE_SECONDS) as client:
            for _ in range(20):
                assert client.get("v1/memories", headers=login).status_code == 200
                assert client.get("v1/memories").status_code == 401

            def told() -> str:
                return client.get("metrics", headers=login).text

            # An answer is counted after it was given, and another process may be asked before that.
            for count in (
                'recollect_requests_total{method="GET",route="/v1/memories",status="200"} 20.0',
                'recollect_refusals_total{reason="401"} 20.0',
            ):
                until(count, lambda count=count: count in told())  # type: ignore[misc]
            assert "http_requests" not in told()
        assert SECRET not in _command_lines(server)
        others = _children(server.process.pid)
        server.process.kill()
        server.process.wait()
        until("nobody is left behind", lambda: not any(runs(int(pid)) for pid in others))


def _command_lines(server: Server) -> str:
    seen = [Path(f"/proc/{server.process.pid}/cmdline")]
    seen += [Path(f"/proc/{pid}/cmdline") for pid in _children(server.process.pid)]
    assert len(seen) >= 3
    return " ".join(file.read_bytes().decode() for file in seen)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
