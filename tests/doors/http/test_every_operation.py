"""Every operation of every door, asked by those who have no business there: one answer, and never a word of anyone's memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.cli.serving import build
from recollect.doors.http.openapi import ERRORS
from recollect.settings import Settings
from tests.doors.http.issuing import SECRET, claims, forged, public_pem, rsa_key, signed
from tests.doors.http.test_openapi import OPEN, SPEC, operations

PRIVATE = "the-word-nobody-else-may-see"
JWT: dict[str, Any] = {"user_id_source": "jwt_claim", "jwt_secret": SECRET, "jwt_audience": "recollect"}
OPERATIONS = [name for name, _ in operations(SPEC) if name.split()[1] not in OPEN]
SOUND: dict[str, Any] = {"aud": "recollect"}


def bearer(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}")]


BODIES: list[Any] = [None, {"text": "x"}, {"query": PRIVATE}, []]

STRANGERS: dict[str, list[tuple[str, str]]] = {
    "nothing": [],
    "empty": [("Authorization", "")],
    "no token": [("Authorization", "Bearer")],
    "another scheme": [("Authorization", "Basic YW5hOmFuYQ==")],
    "not yet": bearer(signed(**SOUND, nbf=timedelta(hours=1))),
    "expired": bearer(signed(**SOUND, exp=timedelta(hours=-1))),
    "for others": bearer(signed(aud="somebody else")),
    "another secret": bearer(signed("x" * 40, **SOUND)),
    "another kind of key": bearer(signed(rsa_key(), "RS256", **SOUND)),
    "alg none": bearer(forged({"alg": "none"}, claims(**SOUND), signature=b"")),
    "public key as secret": bearer(forged({"alg": "HS256"}, claims(**SOUND), public_pem(rsa_key()).encode())),
    "tampered": bearer(signed(**SOUND)[:-6] + "AAAAAA"),
    "a user in a header": [("X-User-ID", "ana"), ("X-Forwarded-User", "ana"), ("X-Forwarded-For", "127.0.0.1")],
    "in the query": [("Cookie", f"token={signed(**SOUND)}")],
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = build(Settings.load({}, store=":memory:", data_dir=tmp_path, embedder="off", **JWT), "127.0.0.1")
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://recollect.test") as asking,
    ):
        ana = {"Authorization": f"Bearer {signed(**SOUND)}"}
        stored = await asking.post("/v1/memories", json={"text": PRIVATE}, headers=ana)
        assert stored.status_code == 201
        yield asking


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_no_operation_opens_to_a_stranger(client: httpx.AsyncClient, stranger: str) -> None:
    answers: set[tuple[int, str, str]] = set()
    for operation in OPERATIONS:
        method, path = operation.split()
        answer = await client.request(
            method, path, headers=STRANGERS[stranger], params={"access_token": signed(**SOUND)}
        )
        error: dict[str, Any] = answer.json()["error"]
        answers.add((answer.status_code, error["message"], str(error["details"])))
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="recollect"', operation
        assert PRIVATE not in answer.text
    assert len(answers) == 1
    assert {status for status, _, _ in answers} == {401}


@pytest.mark.parametrize("other", [{"sub": "eve"}, {"sub": "eve", "role": "admin"}], ids=["user", "admin"])
async def test_another_user_meets_an_empty_house(client: httpx.AsyncClient, other: dict[str, Any]) -> None:
    """Whatever the answer, it is one of those described, and not ana's: administrators see no more of her than others."""
    for operation in OPERATIONS:
        method, path = operation.split()
        for body in BODIES:
            answer = await client.request(method, path, headers=dict(bearer(signed(**other, **SOUND))), json=body)
            assert answer.status_code < 300 or answer.status_code in ERRORS, operation
            assert answer.status_code < 500 or answer.status_code in (501, 503), operation
            assert PRIVATE not in answer.text, operation
