"""Published keys, from a real server on loopback: fetched, kept, changed, and gone for a while."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from recollect.doors.http.auth import jwks
from recollect.doors.http.auth.jwks import FRESH_SECONDS, SHORTEST_INTERVAL, STALE_SECONDS, PublishedKeys
from recollect.doors.http.auth.jwt_claim import Claims, JwtClaim
from recollect.errors import InvalidInput, Unauthenticated, Unavailable
from tests.doors.http.issuing import SECRET, ec_key, forged, jwk, public_pem, rsa_key, signed
from tests.doors.http.requests import bearing
from tests.services.wire import Exchange, Wire


class Issuer(Wire):
    """Publishes `keys`, as long as `status` is 200; counts how often it is asked."""

    path = "/jwks.json"

    def __init__(self, keys: list[dict[str, Any]]) -> None:
        super().__init__()
        self.keys = keys
        self.status = 200
        self.body: bytes | None = None
        self.asked = 0

    def meet(self, exchange: Exchange) -> None:
        self.asked += 1
        said = {"keys": self.keys} if self.body is None else self.body
        exchange.says(self.status, said, {"Location": "/elsewhere"})


@dataclass
class Time:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    keys = [jwk(rsa_key(), "one", alg="RS256", use="sig"), jwk(ec_key(), "curve")]
    with Issuer(keys).running() as running:
        yield running


def source(issuer: Issuer, time: Time) -> JwtClaim:
    return JwtClaim(PublishedKeys(issuer.url, time), Claims(), "acme", "default")


def named(kid: str | None, which: int = 0) -> str:
    return signed(rsa_key(which), "RS256", {"kid": kid} if kid else None)


async def test_tokens_of_published_keys_hold_and_one_fetch_is_enough(issuer: Issuer) -> None:
    knows = source(issuer, Time())
    for token in (named("one"), named("one"), signed(ec_key(), "ES256", {"kid": "curve"}), named(None)):
        assert (await knows(bearing(token))).scope.user == "ana"
    assert issuer.asked == 1


async def test_a_new_key_is_found_when_a_token_names_it(issuer: Issuer) -> None:
    time = Time()
    knows = source(issuer, time)
    await knows(bearing(named("one")))
    issuer.keys = [jwk(rsa_key(1), "two")]
    time.now += SHORTEST_INTERVAL + 1
    assert (await knows(bearing(named("two", 1)))).scope.user == "ana"
    with pytest.raises(Unauthenticated):
        await knows(bearing(named("one")))
    assert issuer.asked == 2


async def test_made_up_names_do_not_make_us_ask_each_time(issuer: Issuer) -> None:
    time = Time()
    knows = source(issuer, time)
    for number in range(20):
        with pytest.raises(Unauthenticated):
            await knows(bearing(named(f"made up {number}")))
    assert issuer.asked == 1
    time.now += SHORTEST_INTERVAL + 1
    with pytest.raises(Unauthenticated):
        await knows(bearing(named("made up")))
    assert issuer.asked == 2


async def test_a_withdrawn_key_stops_working_once_the_keys_are_old(issuer: Issuer) -> None:
    time = Time()
    knows = source(issuer, time)
    await knows(bearing(named("one")))
    issuer.keys = [jwk(rsa_key(1), "two")]
    time.now += FRESH_SECONDS + 1
    with pytest.raises(Unauthenticated):
        await knows(bearing(named("one")))


async def test_known_keys_outlive_an_outage_but_not_for_ever(issuer: Issuer) -> None:
    time = Time()
    knows = source(issuer, time)
    await knows(bearing(named("one")))
    issuer.status = 500
    time.now += FRESH_SECONDS + 1
    assert (await knows(bearing(named("one")))).scope.user == "ana"
    time.now += STALE_SECONDS
    with pytest.raises(Unavailable):
        await knows(bearing(named("one")))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, None),
        (302, None),
        (200, b"no JSON"),
        (200, b"[]"),
        (200, b'{"keys": 7}'),
        (200, b'{"keys": [' + b" " * jwks.MOST_BYTES + b"]}"),
        (200, b"[" * 100_000),
    ],
    ids=["down", "elsewhere", "words", "a list", "a number", "huge", "deep"],
)
async def test_without_keys_nobody_is_let_in(issuer: Issuer, status: int, body: bytes | None) -> None:
    issuer.status, issuer.body = status, body
    with pytest.raises(Unavailable):
        await source(issuer, Time())(bearing(named("one")))


async def test_an_issuer_that_is_not_there(issuer: Issuer) -> None:
    issuer.url = "http://127.0.0.1:1/jwks.json"
    with pytest.raises(Unavailable):
        await source(issuer, Time())(bearing(named("one")))


@pytest.mark.parametrize(
    "published",
    [
        {"kty": "oct", "k": "AAAA", "kid": "one"},
        jwk(rsa_key(), "one", use="enc"),
        jwk(rsa_key(), "one", alg="PS256"),
        jwk(rsa_key(), "one", alg="HS256"),
        jwk(rsa_key(0, 1024), "one"),
        {"kty": "RSA", "kid": "one", "n": "!!", "e": 7},
        {"kty": "EC", "kid": "one", "crv": "P-256"},
        {"kid": "one"},
    ],
    ids=["a secret", "for encryption", "of PS256", "of HS256", "short", "broken", "half", "nameless"],
)
async def test_a_key_that_is_not_for_this_checks_nothing(issuer: Issuer, published: dict[str, Any]) -> None:
    issuer.keys = [published]
    with pytest.raises(Unauthenticated):
        await source(issuer, Time())(bearing(named("one")))


async def test_a_token_without_a_name_fits_only_where_there_is_no_choice(issuer: Issuer) -> None:
    issuer.keys.append(jwk(rsa_key(1), "two"))
    with pytest.raises(Unauthenticated):
        await source(issuer, Time())(bearing(named(None)))


@pytest.mark.parametrize("alg", ["HS256", "none"])
async def test_a_public_key_is_no_secret(issuer: Issuer, alg: str) -> None:
    header = {"alg": alg, "kid": "one"}
    for key in (public_pem(rsa_key()).encode(), json.dumps(issuer.keys[0]).encode(), SECRET.encode()):
        with pytest.raises(Unauthenticated):
            await source(issuer, Time())(bearing(forged(header, {"sub": "ana", "exp": 2**33}, key)))


@pytest.mark.parametrize(
    "url", ["http://id.example/jwks", "ftp://id.example", "https://", "id.example", "file:///keys"]
)
def test_keys_do_not_come_in_the_clear(url: str) -> None:
    with pytest.raises(InvalidInput, match="https"):
        PublishedKeys(url)
