"""Tokens: those that hold say who it is; those that don't are refused, whatever is wrong with them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.doors.http.auth.jwt_claim import Claims, JwtClaim
from recollect.doors.http.auth.jwt_keys import OneKey, public_key, secret_key
from recollect.errors import InvalidInput, Unauthenticated
from recollect.model import Scope
from tests.doors.http.issuing import SECRET, claims, ec_key, forged, private_pem, public_pem, rsa_key, signed
from tests.doors.http.requests import bearing


def seconds(count: int) -> timedelta:
    return timedelta(seconds=count)


def hmac_source(**wanted: Any) -> JwtClaim:
    return JwtClaim(OneKey(secret_key(SECRET)), Claims(**wanted), "acme", "default")


def rsa_source(**wanted: Any) -> JwtClaim:
    return JwtClaim(OneKey(public_key(public_pem(rsa_key()))), Claims(**wanted), "acme", "default")


async def test_a_sound_token_names_its_user() -> None:
    caller = await hmac_source()(bearing(signed()))
    assert (caller.scope, caller.role, caller.actor) == (Scope("acme", "ana", "default"), "user", "jwt")


async def test_public_keys_of_both_kinds_check_tokens() -> None:
    assert (await rsa_source()(bearing(signed(rsa_key(), "RS256")))).scope.user == "ana"
    curve = JwtClaim(OneKey(public_key(public_pem(ec_key()))), Claims(), "acme", "default")
    assert (await curve(bearing(signed(ec_key(), "ES256")))).scope.user == "ana"


async def test_a_key_may_be_in_a_file(tmp_path: Any) -> None:
    file = tmp_path / "issuer.pem"
    file.write_text(public_pem(rsa_key()))
    source = JwtClaim(OneKey(public_key(str(file))), Claims(), "acme", "default")
    assert (await source(bearing(signed(rsa_key(), "RS256")))).scope.user == "ana"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, {"exp": seconds(-10)}),
        ({}, {"nbf": seconds(10)}),
        ({}, {"aud": "somebody else, which nobody asked about"}),
        ({"audience": ("us",)}, {"aud": "us"}),
        ({"audience": ("us", "them")}, {"aud": ["them", "others"]}),
        ({"issuer": "https://id.example"}, {"iss": "https://id.example"}),
        ({}, {"sub": "安娜"}),
    ],
    ids=str,
)
async def test_what_holds_is_let_in(wanted: dict[str, Any], said: dict[str, Any]) -> None:
    """Clocks may be half a minute apart."""
    assert (await hmac_source(**wanted)(bearing(signed(**said)))).scope.user == said.get("sub", "ana")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, {"exp": seconds(-60)}),
        ({"leeway_s": 0}, {"exp": seconds(-5)}),
        ({}, {"exp": None}),
        ({}, {"exp": "tomorrow"}),
        ({}, {"exp": [2**33]}),
        ({}, {"exp": float("inf")}),
        ({}, {"exp": float("nan")}),
        ({}, {"nbf": seconds(60)}),
        ({}, {"nbf": "soon"}),
        ({}, {"iat": seconds(3600)}),
        ({"audience": ("us",)}, {}),
        ({"audience": ("us",)}, {"aud": "them"}),
        ({"audience": ("us",)}, {"aud": ["them"]}),
        ({"audience": ("us",)}, {"aud": {"us": True}}),
        ({"audience": ("us",)}, {"aud": [["us"]]}),
        ({"issuer": "https://id.example"}, {}),
        ({"issuer": "https://id.example"}, {"iss": "https://id.example.evil"}),
        ({}, {"sub": None}),
        ({}, {"sub": 7}),
        ({}, {"sub": ""}),
        ({}, {"sub": "  "}),
        ({}, {"sub": ["ana"]}),
        ({}, {"sub": {"id": "ana"}}),
        ({}, {"sub": True}),
        ({}, {"sub": "a" * 256}),
        ({}, {"sub": "ana\n"}),
        ({}, {"sub": "an\x00a"}),
        ({"user": "email"}, {}),
        ({"user": "email"}, {"email": 7}),
        ({"tenant": "org"}, {}),
        ({"tenant": "org"}, {"org": ""}),
        ({"tenant": "org"}, {"org": ["acme"]}),
        ({}, {"role": 7}),
        ({}, {"role": {"admin": True}}),
        ({}, {"role": ["user", 7]}),
    ],
    ids=str,
)
async def test_what_does_not_hold_is_refused(wanted: dict[str, Any], said: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        await hmac_source(**wanted)(bearing(signed(**said)))


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (None, "user"),
        ("user", "user"),
        ("admin", "admin"),
        (["user", "admin"], "admin"),
        ("Admin", "user"),
        ([], "user"),
    ],
)
async def test_an_administrator_is_who_is_called_exactly_so(role: Any, expected: str) -> None:
    assert (await hmac_source()(bearing(signed(role=role)))).role == expected


async def test_the_tenant_may_come_from_a_claim() -> None:
    caller = await hmac_source(tenant="org", user="email")(bearing(signed(org="globex", email="ana@globex.example")))
    assert caller.scope == Scope("globex", "ana@globex.example", "default")


PUBLIC = public_pem(rsa_key()).encode()


@pytest.mark.parametrize(
    "token",
    [
        forged({"alg": "none", "typ": "JWT"}, claims(), signature=b""),
        forged({"alg": "None"}, claims(), signature=b""),
        forged({"alg": ""}, claims(), signature=b""),
        forged({}, claims(), PUBLIC),
        forged({"alg": "HS256"}, claims(), PUBLIC),
        forged({"alg": "HS256"}, claims(), PUBLIC.strip()),
        forged({"alg": "HS256"}, claims(), b""),
        forged({"alg": "HS384"}, claims(), PUBLIC),
        forged({"alg": ["RS256", "HS256"]}, claims(), PUBLIC),
        forged({"alg": {"RS256": 1}}, claims(), PUBLIC),
        forged({"alg": "RS256"}, claims(), b"key"),
        forged({"alg": "RS256", "kid": 7}, claims(), b"key"),
        forged({"alg": "RS256", "crit": ["exp"]}, claims(), b"key"),
        forged({"alg": "RS256", "b64": False, "crit": ["b64"]}, claims(), b"key"),
        forged({"alg": "RS256", "jwk": {"kty": "oct", "k": "AAAA"}}, claims(), b"\x00\x00\x00"),
        signed(rsa_key(1), "RS256"),
        signed(ec_key(), "ES256"),
        signed(SECRET, "HS256"),
    ],
    ids=lambda token: token[:24],
)
async def test_no_other_algorithm_and_no_other_key_opens_a_public_key(token: str) -> None:
    with pytest.raises(Unauthenticated):
        await rsa_source()(bearing(token))


@pytest.mark.parametrize(
    "token",
    [
        forged({"alg": "none"}, claims(), signature=b""),
        forged({"alg": "HS256"}, claims(), b"another secret"),
        forged({"alg": "HS256"}, ["ana"], SECRET.encode()),
        forged({"alg": "HS256"}, "ana", SECRET.encode()),
        forged({"alg": "HS256"}, {**claims(), "padding": "x" * 9000}, SECRET.encode()),
        signed(rsa_key(), "RS256"),
        "a",
        "a.b",
        "a.b.c",
        "..",
        "....",
        "e30.e30.",
        "a" * 16_000,
    ],
    ids=lambda token: token[:24],
)
async def test_no_other_token_opens_a_secret(token: str) -> None:
    with pytest.raises(Unauthenticated):
        await hmac_source()(bearing(token))


@given(st.data())
async def test_a_token_that_was_touched_is_refused(data: st.DataObject) -> None:
    token = signed()
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCxyz012-_."))
    touched = token[:at] + letter + token[at + 1 :]
    if touched == token:
        return
    with pytest.raises(Unauthenticated):
        await hmac_source()(bearing(touched))


@pytest.mark.parametrize(
    ("make", "given", "word"),
    [
        (secret_key, "short", "32 bytes"),
        (secret_key, public_pem(rsa_key()), "RECOLLECT_JWT_PUBLIC_KEY"),
        (public_key, private_pem(rsa_key()), "private"),
        (public_key, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "PEM"),
        (public_key, "no/such/file.pem", "read"),
        (public_key, public_pem(rsa_key(0, 1024)), "2048"),
    ],
    ids=["short", "a public key", "a private key", "broken", "not there", "small"],
)
def test_a_key_that_proves_nothing_is_not_taken(make: Any, given: str, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        make(given)
