"""What callers see of a server that fails, stalls, refuses, lies or talks too much."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import numpy as np
import pytest

from recollect.errors import InvalidInput, NotAllowed, Unavailable
from recollect.providers.embedders.http import HttpEmbedder
from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.wires import CUSTOM_HTTP, OLLAMA, OPENAI
from tests.providers.asking import KEY, QUICK, TEXT, Connect, failure, same
from tests.providers.wire import SIZE, EmbeddingServer, Fault


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_passing_failure_is_tried_again(server: EmbeddingServer, connect: Connect, status: int) -> None:
    server.faults.extend([Fault(status=status, body=b"{}"), Fault(status=status, body=b"oops")])
    assert same(await connect().embed([TEXT]), [TEXT])
    assert len(server.seen) == 3


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_lasting_failure_is_unavailable_after_bounded_attempts(
    server: EmbeddingServer, connect: Connect, status: int
) -> None:
    server.faults.extend([Fault(status=status, body=json.dumps({"error": TEXT + KEY}).encode())] * 10)
    error = await failure(connect())
    assert isinstance(error, Unavailable)
    assert str(status) in error.message
    assert error.details["attempts"] == len(server.seen) == QUICK.attempts


async def test_a_wait_the_server_asks_for_is_kept(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": "0.3"}, body=b"{}"))
    start = time.monotonic()
    await connect().embed([TEXT])
    assert time.monotonic() - start >= 0.3
    assert len(server.seen) == 2


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_wait_beyond_patience_is_passed_on_instead(
    server: EmbeddingServer, connect: Connect, as_date: bool
) -> None:
    wait = formatdate(time.time() + 3600, usegmt=True) if as_date else "3600"
    server.faults.append(Fault(status=429, headers={"Retry-After": wait}, body=b"{}"))
    error = await failure(connect())
    assert isinstance(error, Unavailable)
    assert 3500 < error.details["retry_after_s"] <= 3600
    assert len(server.seen) == 1


async def test_a_slow_server_is_cut_off_and_tried_again(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.extend([Fault(delay_s=30)] * 2)
    hasty = Patience(attempts=2, timeout_s=0.7, first_wait_s=0.01)
    error = await failure(connect(patience=hasty))
    assert isinstance(error, Unavailable)
    assert "0.7 s" in error.message
    assert error.details["attempts"] == 2


async def test_a_server_that_drips_is_cut_off_too(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(drip=True, body=b" " * 3_000))
    hasty = Patience(attempts=1, timeout_s=0.3)
    start = time.monotonic()
    assert isinstance(await failure(connect(patience=hasty)), Unavailable)
    assert time.monotonic() - start < 30


async def test_a_closed_connection_is_tried_again(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(hang_up=True))
    assert same(await connect().embed([TEXT]), [TEXT])
    server.faults.extend([Fault(hang_up=True)] * 3)
    assert isinstance(await failure(connect()), Unavailable)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with EmbeddingServer().running() as gone:
        ours = Connect(gone)()
    error = await failure(ours)
    assert isinstance(error, Unavailable)
    assert "could not be reached" in error.message
    with pytest.raises(Unavailable):
        _ = ours.dimensions


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_not_allowed_and_not_repeated(
    server: EmbeddingServer, connect: Connect, status: int
) -> None:
    server.faults.append(Fault(status=status, body=json.dumps({"error": {"message": f"bad {KEY}"}}).encode()))
    assert isinstance(await failure(connect()), NotAllowed)
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 404, 409, 422])
async def test_a_refused_model_is_invalid_input_in_the_servers_words(
    server: EmbeddingServer, connect: Connect, status: int
) -> None:
    said = json.dumps({"error": {"message": "model 'm1' not found,\n try pulling it"}}).encode()
    server.faults.append(Fault(status=status, body=said))
    error = await failure(connect(OLLAMA))
    assert isinstance(error, InvalidInput)
    assert "model 'm1' not found, try pulling it" in error.message
    assert len(server.seen) == 1


@pytest.mark.parametrize("quoted", [TEXT, TEXT.upper(), f"…{TEXT[5:25]}…", f"key {KEY[4:18]}***", "x" * 5_000 + TEXT])
async def test_a_server_that_quotes_us_is_not_quoted(server: EmbeddingServer, connect: Connect, quoted: str) -> None:
    server.faults.append(Fault(status=400, body=json.dumps({"error": f"cannot embed {quoted}"}).encode()))
    error = await failure(connect())
    assert isinstance(error, InvalidInput)
    assert TEXT[5:25].casefold() not in error.message.casefold()
    assert KEY[4:18] not in error.message
    assert len(error.message) < 300


async def test_redirects_are_not_followed(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(status=307, headers={"Location": server.url + "/elsewhere"}, body=b""))
    error = await failure(connect())
    assert isinstance(error, InvalidInput)
    assert "redirect" in error.message
    assert len(server.seen) == 1


def rows(*vectors: object) -> bytes:
    return json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(vectors)]}).encode()


GOOD = [0.5] * SIZE


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>502 Bad Gateway</html>", "not JSON"),
        (b'{"data": [', "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b"", "not JSON"),
        (b"null", "no embeddings"),
        (b'{"error": "overloaded"}', "no embeddings"),
        (b'{"data": "many"}', "no embeddings"),
        (b'{"data": [{"index": 0}, {"index": 1}]}', "without an `embedding`"),
        (rows(GOOD), "1 vectors for 2 texts"),
        (rows(GOOD, GOOD, GOOD), "3 vectors for 2 texts"),
        (rows(GOOD, GOOD[:-1]), "equally long"),
        (rows(GOOD, ["a"] * SIZE), "equally long"),
        (rows(GOOD, [[1.0], [2.0]]), "for every token"),
        (rows(GOOD[:-1], GOOD[:-1]), f"{SIZE - 1} dimensions instead of {SIZE}"),
        (rows(GOOD, [float("nan")] * SIZE), "NaN"),
        (rows(GOOD, [float("inf"), *GOOD[1:]]), "NaN or infinite"),
        (rows(GOOD, [None, *GOOD[1:]]), "NaN"),
        (rows(GOOD, [10**400, *GOOD[1:]]), "equally long"),
        (rows(GOOD, [0.0] * SIZE), "zeros"),
        (rows(GOOD, GOOD).replace(b'"index": 1', b'"index": 0'), "order is unknown"),
        (rows(GOOD, GOOD).replace(b'"index": 1', b'"index": 7'), "order is unknown"),
        (b" " * 2_000_000 + rows(GOOD, GOOD), "more than the"),
    ],
)
async def test_an_answer_that_is_not_what_was_asked_is_unavailable_and_says_why(
    server: EmbeddingServer, connect: Connect, body: bytes, reason: str
) -> None:
    server.faults.append(Fault(body=body))
    error = await failure(connect(dimensions=SIZE), [TEXT, "and where her boat is moored"])
    assert isinstance(error, Unavailable)
    assert reason in error.message
    assert len(server.seen) == 1


async def test_a_model_that_changes_its_size_is_noticed(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect()
    await ours.embed([TEXT])
    server.size = SIZE + 1
    error = await failure(ours)
    assert isinstance(error, Unavailable)
    assert ours.dimensions == SIZE


async def test_large_values_are_normalised_not_lost(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(body=rows([1e300] * SIZE)))
    found = await connect().embed([TEXT])
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)


@pytest.mark.parametrize("key", ["sk-line\nbreak", "sk-ключ", "two words"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        HttpEmbedder(OPENAI, api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host/x", "http://", "http://user:secret@/"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        HttpEmbedder(OPENAI, url=url)
    assert "secret" not in str(caught.value)


def test_a_server_must_be_named_or_a_key_given_for_the_public_one() -> None:
    with pytest.raises(InvalidInput, match="endpoint_url"):
        HttpEmbedder(CUSTOM_HTTP)
    with pytest.raises(InvalidInput, match="api_key"):
        HttpEmbedder(OPENAI)


async def test_credentials_in_a_url_stay_out_of_messages(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.append(Fault(status=400, body=b"{}"))
    address = server.url.replace("http://", "http://ana:hunter2@") + "/vectors?token=hunter2"
    error = await failure(connect(CUSTOM_HTTP, url=address))
    assert "hunter2" not in f"{error} {error.details}"


def test_one_embedder_serves_many_threads_and_loops(server: EmbeddingServer) -> None:
    connect = Connect(server)
    ours = connect()

    def works(number: int) -> bool:
        texts = [f"{number}-{at}" for at in range(5)]
        return all(same(asyncio.run(ours.embed(texts, query=True)), texts) for _ in range(3))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(works, range(8)))
    assert len(server.seen) == 24
    asyncio.run(ours.close())


async def test_closing_ends_a_pause(server: EmbeddingServer, connect: Connect) -> None:
    server.faults.extend([Fault(status=503, body=b"{}")] * 10)
    slow = Patience(attempts=5, timeout_s=5, first_wait_s=60, longest_wait_s=60)
    ours = connect(patience=slow)
    waiting = asyncio.create_task(ours.embed([TEXT]))
    await asyncio.to_thread(server.visited.wait, 60)
    await ours.close()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, timeout=50)
    with pytest.raises(Unavailable, match="closed"):
        await ours.embed([TEXT])
