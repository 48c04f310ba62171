"""What surrounds every door: one shape for all errors, correlation ids, headers, names, limits."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.doors.http import correlation
from recollect.doors.http.auth.header import HeaderNames, TrustedHeader, networks
from recollect.doors.http.logs import JsonLines
from recollect.doors.http.measuring import Metrics
from tests.doors.http.framed import SECRET_WORD, app, asking

JSON = {"Content-Type": "application/json"}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
HEADER = TrustedHeader(HeaderNames("X-User-ID"), networks("127.0.0.1"), "acme", "default")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with asking(app(max_body_bytes=2000)) as client:
        yield client


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The error in an answer, which must have the one shape."""
    body = answer.json()
    assert body.keys() == {"error"}
    error: dict[str, Any] = body["error"]
    assert error.keys() == {"code", "message", "correlation_id", "details"}
    assert error["correlation_id"] == answer.headers["X-Correlation-ID"]
    assert answer.headers["content-type"] == "application/json"
    return error


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "code"),
    [
        ("GET", "/nowhere", {}, 404, "not_found"),
        ("GET", "/door/echo/", {}, 404, "not_found"),
        ("GET", "/docs", {}, 404, "not_found"),
        ("DELETE", "/door/echo", {}, 405, "method_not_allowed"),
        ("POST", "/healthz", {}, 405, "method_not_allowed"),
        ("POST", "/door/echo", {"json": {}}, 422, "malformed"),
        ("POST", "/door/echo", {}, 422, "malformed"),
        ("POST", "/door/echo", {"content": b"{", "headers": JSON}, 422, "malformed"),
        ("POST", "/door/echo", {"content": b"[" * 1500, "headers": JSON}, 400, "invalid_input"),
        ("POST", "/door/echo", {"content": b"\xff\xfe{}", "headers": JSON}, 422, "malformed"),
        ("POST", "/door/echo", {"json": {"word": "x" * 3000}}, 413, "too_large"),
        ("POST", "/door/echo", {"content": b"{}"}, 415, "unsupported_media_type"),
        ("POST", "/door/echo", {"data": {"word": "x"}}, 415, "unsupported_media_type"),
        (
            "POST",
            "/door/echo",
            {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
            415,
            "unsupported_media_type",
        ),
        (
            "POST",
            "/door/echo",
            {"content": b"{}", "headers": {**JSON, "Content-Encoding": "gzip"}},
            415,
            "unsupported_media_type",
        ),
        ("GET", "/door/conflict", {}, 409, "conflict"),
        ("GET", "/door/stranger", {}, 401, "unauthenticated"),
        ("GET", "/door/bug", {}, 500, "broken"),
        ("GET", "/door/who/x", {"headers": {"X-Space": "a\x7fb"}}, 400, "invalid_input"),
        ("GET", "/door/who/x", {"headers": {"X-Space": b"\xff"}}, 400, "invalid_input"),
        ("GET", "/door/who/x", {"headers": {"X-Space": "a" * 256}}, 400, "invalid_input"),
        ("GET", "/door/who/x", {"headers": {"X-Session-ID": " "}}, 400, "invalid_input"),
        ("GET", "/door/who/a%00b", {}, 400, "invalid_input"),
        ("GET", "/door/who/a%0d%0ab", {}, 400, "invalid_input"),
        ("GET", "/door/session?id=%00", {}, 400, "invalid_input"),
        ("GET", "/door/session?id=s-2", {"headers": {"X-Session-ID": "s-1"}}, 400, "invalid_input"),
        ("GET", "/door/who/" + "a" * 9000, {}, 400, "invalid_input"),
    ],
)
async def test_one_error_shape(
    client: httpx.AsyncClient, method: str, path: str, sent: dict[str, Any], status: int, code: str
) -> None:
    answer = await client.request(method, path, **sent)
    assert (answer.status_code, error_of(answer)["code"]) == (status, code), answer.text
    assert SECRET_WORD not in answer.text


async def test_what_was_sent_is_not_repeated(client: httpx.AsyncClient) -> None:
    hostile = {SECRET_WORD: 1, "word": {SECRET_WORD: 2}, "count": SECRET_WORD}
    answer = await client.post("/door/echo", json=hostile)
    assert answer.status_code == 422
    assert SECRET_WORD not in answer.text
    assert {problem["at"] for problem in error_of(answer)["details"]["problems"]} == {"body.word", "body.count"}


async def test_a_conflict_keeps_its_details_and_a_wrong_method_says_which_is_right(client: httpx.AsyncClient) -> None:
    assert error_of(await client.get("/door/conflict"))["details"] == {"until": "tomorrow"}
    assert (await client.delete("/door/echo")).headers["Allow"] == "POST"


@pytest.mark.parametrize("given", ["abc-1", "a" * 128, "~", "a b"])
async def test_a_fit_correlation_id_is_taken(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/door/who/x", headers={"X-Correlation-ID": given})
    assert answer.headers["X-Correlation-ID"] == answer.json()["correlation"] == given


@pytest.mark.parametrize("given", ["", " ", "a" * 129, "é".encode(), "a\tb"])
async def test_an_unfit_one_is_replaced(client: httpx.AsyncClient, given: Any) -> None:
    answer = await client.get("/door/who/x", headers={"X-Correlation-ID": given})
    assert UUID.fullmatch(answer.headers["X-Correlation-ID"])
    assert answer.headers["X-Correlation-ID"] == answer.json()["correlation"]


@given(st.text(max_size=200))
def test_a_correlation_id_is_always_fit_to_print(given: str) -> None:
    accepted = correlation.accepted(given)
    assert accepted == given or UUID.fullmatch(accepted)
    assert accepted.isascii()
    assert accepted.isprintable()
    assert 0 < len(accepted) <= 128


async def test_every_answer_is_dressed(client: httpx.AsyncClient) -> None:
    for path in ("/", "/healthz", "/nowhere", "/door/who/x", "/door/bug", "/openapi.json"):
        headers = (await client.get(path)).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Cache-Control"] == "no-store", path
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
        assert "server" not in headers, path


async def test_who_is_asking_reaches_the_door(client: httpx.AsyncClient) -> None:
    headers: Any = {"X-Space": "工作".encode(), "X-Session-ID": "s-1", "X-Correlation-ID": "c-1"}
    answer = await client.get("/door/who/x", headers=headers)
    assert answer.json() == {
        "user": "local",
        "space": "工作",
        "role": "admin",
        "actor": "local",
        "session": "s-1",
        "correlation": "c-1",
    }
    assert (await client.get("/door/session", headers={"X-Session-ID": "s-1"})).json() == "s-1"
    assert (await client.get("/door/session?id=s-1", headers={"X-Session-ID": "s-1"})).json() == "s-1"
    assert (await client.get("/door/session?id=s-2")).json() == "s-2"


async def test_a_stranger_learns_nothing_and_is_told_one_thing() -> None:
    async with asking(app(HEADER), peer="10.0.0.7", **{"X-User-ID": "ana"}) as client:
        said = set()
        for method, path in (("GET", "/door/who/x"), ("GET", "/nowhere"), ("PUT", "/door/echo"), ("GET", "/metrics")):
            answer = await client.request(method, path)
            assert answer.status_code == 401
            assert "realm" in answer.headers["WWW-Authenticate"]
            said.add((error_of(answer)["message"], str(error_of(answer)["details"])))
        assert len(said) == 1
        for path in ("/", "/healthz", "/readyz", "/openapi.json"):
            assert (await client.get(path)).status_code == 200, path
        for path in ("/healthz/", "/healthz%2f..", "/HEALTHZ", "/healthz;x", "/door/../healthz/x"):
            assert (await client.get(path)).status_code == 401, path


async def test_a_strangers_body_is_not_read() -> None:
    read = []

    async def body() -> AsyncIterator[bytes]:
        for number in range(100):
            read.append(number)
            yield b"x" * 100

    async with asking(app(HEADER), peer="10.0.0.7") as client:
        answer = await client.post("/door/echo", content=body(), headers=JSON)
    assert answer.status_code == 401
    assert answer.headers["Connection"] == "close"


async def test_only_administrators_do_what_is_reserved() -> None:
    async with asking(app(HEADER), **{"X-User-ID": "ana"}) as client:
        for path in ("/door/reserved", "/metrics", "/v1/operations"):
            answer = await client.get(path)
            assert (answer.status_code, error_of(answer)["code"]) == (403, "not_allowed")
    async with asking(app()) as client:
        assert (await client.get("/door/reserved")).json() == "admin"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "MEMORY.example:8377"}, 200),
        ({"Host": "memory.example", "Origin": "https://memory.example"}, 200),
        ({"Host": "memory.example", "Origin": "https://other.example"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "["}, 403),
        ({"Host": "evil.example@memory.example@evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "memory.example"}, 403),
        ({"Origin": "https://memory.example.evil.example"}, 403),
    ],
    ids=str,
)
async def test_names(headers: dict[str, str], status: int) -> None:
    manners: Any = {"hosts": frozenset({"memory.example"}), "origins": frozenset({"other.example"})}
    async with asking(app(**manners), Host="memory.example") as client:
        answer = await client.get("/door/who/x", headers=headers)
        assert answer.status_code == status
        assert (await client.get("/healthz", headers={"Host": "10.1.2.3"})).status_code == 200


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "no-cors", 403),
        ("same-site", "no-cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
async def test_other_sites_pages_do_not_learn_what_is_there(site: str, mode: str, status: int) -> None:
    """As an image or a script, where no origin is named. A link from elsewhere may be followed."""
    async with asking(app()) as client:
        sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        assert (await client.get("/door/who/x", headers=sent)).status_code == status


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://recollect.test:3000", "http://recollect.test.evil.example"]
)
async def test_other_sites_pages_are_kept_out_even_where_any_name_will_do(origin: str) -> None:
    async with asking(app()) as client:
        assert (await client.post("/door/echo", json={"word": "x"}, headers={"Origin": origin})).status_code == 403
        own = {"Origin": "http://recollect.test"}
        assert (await client.post("/door/echo", json={"word": "x"}, headers=own)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Space", "a"), ("X-Space", "b")],
        [("Authorization", "Bearer a"), ("authorization", "Bearer b")],
        [("Host", "a"), ("Host", "b")],
        [("Content-Length", "2"), ("Transfer-Encoding", "chunked")],
        [("Content-Type", "application/json"), ("Content-Type", "text/plain")],
    ],
    ids=str,
)
async def test_headers_that_two_readers_could_read_differently(
    client: httpx.AsyncClient, headers: list[tuple[str, str]]
) -> None:
    answer = await client.get("/door/who/x", headers=headers)
    assert (answer.status_code, error_of(answer)["code"]) == (400, "invalid_input")


async def test_a_body_is_counted_as_it_comes(client: httpx.AsyncClient) -> None:
    """Sent in chunks, without a word about its length."""

    async def body(count: int) -> AsyncIterator[bytes]:
        yield b'{"word": "'
        for _ in range(count):
            yield b"x" * 100
        yield b'"}'

    assert (await client.post("/door/echo", content=body(10), headers=JSON)).json() == {"length": 1000}
    answer = await client.post("/door/echo", content=body(1000), headers=JSON)
    assert (answer.status_code, error_of(answer)["details"]) == (413, {"max_bytes": 2000})


async def test_variants_of_json_are_read(client: httpx.AsyncClient) -> None:
    for kind in ("application/json; charset=utf-8", "APPLICATION/JSON", "application/merge-patch+json"):
        answer = await client.post("/door/echo", content=b'{"word": "abc"}', headers={"Content-Type": kind})
        assert answer.json() == {"length": 3}, kind


async def test_the_hard_limit_says_when_to_come_back() -> None:
    async with asking(app(HEADER, request_limit=3)) as client:
        ana, bo = {"X-User-ID": "ana"}, {"X-User-ID": "bo"}
        answers = [await client.get("/door/who/x", headers=ana) for _ in range(8)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert 2 <= len(refused) <= 5  # the minute may have turned, and given three more
        assert error_of(refused[-1])["code"] == "rate_limited"
        assert 1 <= int(refused[-1].headers["Retry-After"]) <= 60
        assert (await client.get("/door/who/x", headers=bo)).status_code == 200
        assert (await client.get("/healthz")).status_code == 200


async def test_what_goes_wrong_is_logged_without_what_was_stored(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "recollect"):
        await client.get(f"/door/who/{SECRET_WORD}?q={SECRET_WORD}", headers={"X-Correlation-ID": "c-9"})
        await client.get("/door/bug")
    lines = [line_of(record) for record in caplog.records]
    assert SECRET_WORD not in json.dumps(lines)
    answered = next(line for line in lines if line.get("route") == "/door/who/{anything}")
    assert (answered["method"], answered["status"]) == ("GET", 200)
    assert answered["ms"] >= 0
    wrong = next(line for line in lines if line["level"] == "error")
    assert wrong["exception"] == "ValueError"
    assert "framed.py" in wrong["where"]


def line_of(record: logging.LogRecord) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(JsonLines().format(record))
    return line


async def test_everything_is_counted(client: httpx.AsyncClient) -> None:
    for word in ("I prefer tea", "I prefer tea", "The bus leaves at nine"):
        await client.post("/door/remember", json={"word": word})
    await client.post("/door/recall", json={"word": "which drink do I prefer?"})
    await client.get("/door/bug")
    await client.get(f"/{SECRET_WORD}")
    text = (await client.get("/metrics")).text
    assert 'recollect_writes_total{outcome="stored"} 2.0' in text
    assert 'recollect_writes_total{outcome="merged"} 1.0' in text
    assert "recollect_dedupe_saves_total 1.0" in text
    assert "recollect_trims_guarded_total 0.0" in text
    assert "recollect_recall_hits_count 1.0" in text
    assert "recollect_recall_hits_sum 1.0" in text
    assert "recollect_recall_seconds_count 1.0" in text
    assert 'recollect_requests_total{method="GET",route="/door/bug",status="500"} 1.0' in text
    assert 'recollect_requests_total{method="GET",route="unmatched",status="404"} 1.0' in text
    assert SECRET_WORD not in text


def test_chats_and_upkeep_are_counted() -> None:
    metrics = Metrics()
    for partial, failed in ((False, False), (True, False), (True, True), (False, True)):
        metrics.heard("chatted", {"partial": partial, "failed": failed})
    for action, count in (("archive", 3), ("expire", 2), ("archive", 1)):
        metrics.heard("upkeep", {"action": action, "count": count})
    metrics.heard("trim_guarded", {"count": 2})
    metrics.heard("something new", {})
    text = metrics.text().decode()
    for line in (
        'recollect_chats_total{outcome="whole"} 1.0',
        'recollect_chats_total{outcome="partial"} 1.0',
        'recollect_chats_total{outcome="failed"} 2.0',
        'recollect_upkeep_total{action="archive"} 4.0',
        'recollect_upkeep_total{action="expire"} 2.0',
        "recollect_trims_total 4.0",
        "recollect_trims_guarded_total 2.0",
    ):
        assert line in text
