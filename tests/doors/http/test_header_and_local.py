"""The two sources that trust where a request comes from: a proxy that was named, or this machine."""

from __future__ import annotations

import pytest

from recollect.doors.http.auth.header import HeaderNames, TrustedHeader, networks
from recollect.doors.http.auth.local import Local, is_loopback
from recollect.errors import InvalidInput, Unauthenticated
from recollect.model import Scope
from tests.doors.http.requests import asked

USER = ("X-User-ID", "ana")


def source(proxies: str = "10.0.0.7, fd00::/64", tenant_header: str = "", role_header: str = "") -> TrustedHeader:
    return TrustedHeader(HeaderNames("X-User-ID", tenant_header, role_header), networks(proxies), "acme", "default")


@pytest.mark.parametrize("peer", ["10.0.0.7", "fd00::1", "::ffff:10.0.0.7"])
async def test_a_trusted_proxy_is_believed(peer: str) -> None:
    caller = await source()(asked(USER, peer=peer))
    assert (caller.scope, caller.role, caller.actor) == (Scope("acme", "ana", "default"), "user", "header")


@pytest.mark.parametrize(
    "peer", ["10.0.0.8", "127.0.0.1", "::1", "fd00:0:0:1::1", "::ffff:10.0.0.8", "", "testclient", None]
)
async def test_nobody_else_is(peer: str | None) -> None:
    forwarded = ("X-Forwarded-For", "10.0.0.7")
    with pytest.raises(Unauthenticated):
        await source()(asked(USER, forwarded, ("Forwarded", "for=10.0.0.7"), peer=peer))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-User", "ana")],
        [("X_User_ID", "ana")],
        [USER, USER],
        [USER, ("x-user-id", "eve")],
        [("X-User-ID", "")],
        [("X-User-ID", "  ")],
        [("X-User-ID", "a" * 256)],
        [("X-User-ID", "a\x00b")],
        [("X-User-ID", "\xff\xfe")],
    ],
    ids=str,
)
async def test_a_proxy_that_names_nobody_or_two_is_not_understood(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(Unauthenticated):
        await source()(asked(*headers, peer="10.0.0.7"))


@pytest.mark.parametrize(
    ("said", "role"), [([], "user"), (["admin"], "admin"), (["user"], "user"), (["Admin"], "user"), ([""], "user")]
)
async def test_a_role_is_what_the_proxy_says_in_that_very_word(said: list[str], role: str) -> None:
    headers = [("X-Role", each) for each in said]
    assert (await source(role_header="X-Role")(asked(USER, *headers, peer="10.0.0.7"))).role == role
    assert (await source()(asked(USER, *headers, peer="10.0.0.7"))).role == "user"


async def test_a_role_that_is_there_twice_is_not_understood() -> None:
    with pytest.raises(Unauthenticated):
        await source(role_header="X-Role")(asked(USER, ("X-Role", "user"), ("X-Role", "admin"), peer="10.0.0.7"))


async def test_the_tenant_may_be_named_too_and_then_must_be() -> None:
    knows = source(tenant_header="X-Tenant")
    caller = await knows(asked(USER, ("X-Tenant", "globex"), peer="10.0.0.7"))
    assert caller.scope.tenant == "globex"
    for tenants in ([], [("X-Tenant", "globex"), ("X-Tenant", "acme")]):
        with pytest.raises(Unauthenticated):
            await knows(asked(USER, *tenants, peer="10.0.0.7"))


async def test_names_are_utf_8() -> None:
    caller = await source()(asked(("X-User-ID", "安娜".encode().decode("latin-1")), peer="10.0.0.7"))
    assert caller.scope.user == "安娜"


@pytest.mark.parametrize("listed", ["nonsense", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.7,*"])
def test_everybody_is_no_proxy(listed: str) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_TRUSTED_PROXIES"):
        networks(listed)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", None])
async def test_local_is_the_owner_of_this_machine(peer: str | None) -> None:
    caller = await Local(Scope("default", "local"))(asked(peer=peer))
    assert (caller.scope, caller.role, caller.actor) == (Scope("default", "local"), "admin", "local")


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.168.1.2", "::2", "fe80::1", "0.0.0.0", "localhost.evil.example"])
async def test_another_machine_is_not(peer: str) -> None:
    with pytest.raises(Unauthenticated):
        await Local(Scope("default", "local"))(asked(peer=peer))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_which_addresses_stay_on_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
