"""Settings that would let strangers in, or nobody, are refused before the server listens, by the names of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.cli.serving import manners_of
from recollect.doors.http.auth import passwords, users_file
from recollect.doors.http.auth.basic_username import BasicUsername
from recollect.doors.http.auth.bearer_token import BearerToken
from recollect.doors.http.auth.choosing import check_reach, identity_of
from recollect.doors.http.auth.header import TrustedHeader
from recollect.doors.http.auth.jwt_claim import JwtClaim
from recollect.doors.http.auth.local import Local
from recollect.doors.http.auth.users_file import User
from recollect.errors import InvalidInput, NotAllowed
from recollect.settings import Settings
from tests.doors.http.issuing import SECRET, public_pem, rsa_key


def settings(**chosen: Any) -> Settings:
    return Settings.load({}, **chosen)


@pytest.mark.parametrize(
    ("chosen", "kind"),
    [
        ({}, Local),
        ({"user_id_source": "jwt_claim", "jwt_secret": SECRET}, JwtClaim),
        ({"user_id_source": "jwt_claim", "jwt_public_key": public_pem(rsa_key())}, JwtClaim),
        ({"user_id_source": "jwt_claim", "jwt_jwks_url": "https://id.example/keys"}, JwtClaim),
        ({"user_id_source": "bearer_token"}, BearerToken),
        ({"user_id_source": "header"}, TrustedHeader),
    ],
    ids=["local", "secret", "public key", "published keys", "keys", "header"],
)
def test_each_source_is_chosen_by_its_name(chosen: dict[str, Any], kind: type) -> None:
    assert isinstance(identity_of(settings(**chosen)), kind)


def test_a_file_of_users_is_read(tmp_path: Path) -> None:
    users_file.write(tmp_path / "users", {"ana": User("ana", passwords.hashed("x", 16, 1, 1))})
    chosen = settings(user_id_source="basic_username", basic_users=str(tmp_path / "users"))
    assert isinstance(identity_of(chosen), BasicUsername)


@pytest.mark.parametrize(
    ("chosen", "word"),
    [
        ({"user_id_source": "jwt_claim"}, "RECOLLECT_JWT_SECRET.*RECOLLECT_JWT_PUBLIC_KEY.*RECOLLECT_JWT_JWKS_URL"),
        ({"user_id_source": "jwt_claim", "jwt_secret": SECRET, "jwt_jwks_url": "https://id.example"}, "exactly one"),
        ({"user_id_source": "jwt_claim", "jwt_secret": "short"}, "RECOLLECT_JWT_SECRET"),
        ({"user_id_source": "jwt_claim", "jwt_public_key": "nowhere.pem"}, "RECOLLECT_JWT_PUBLIC_KEY"),
        ({"user_id_source": "jwt_claim", "jwt_jwks_url": "http://id.example"}, "RECOLLECT_JWT_JWKS_URL"),
        ({"user_id_source": "basic_username"}, "RECOLLECT_BASIC_USERS"),
        ({"user_id_source": "basic_username", "basic_users": "nowhere"}, "RECOLLECT_BASIC_USERS"),
        ({"user_id_source": "header", "trusted_proxies": "0.0.0.0/0"}, "trusted_proxies is"),
    ],
    ids=str,
)
def test_a_source_without_its_means_is_refused(chosen: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word) as refused:
        identity_of(settings(**chosen))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "example.org"])
def test_beyond_this_machine_somebody_is_asked(host: str) -> None:
    with pytest.raises(NotAllowed, match="RECOLLECT_USER_ID_SOURCE"):
        check_reach(settings(), host)
    with pytest.raises(NotAllowed, match="RECOLLECT_TRUSTED_PROXIES"):
        check_reach(settings(user_id_source="header"), host)
    check_reach(settings(user_id_source="header", trusted_proxies="10.0.0.1"), host)
    check_reach(settings(user_id_source="bearer_token"), host)


@pytest.mark.parametrize("source", ["local", "header", "bearer_token"])
def test_on_this_machine_every_source_will_do(source: str) -> None:
    check_reach(settings(user_id_source=source), "127.0.0.1")


@pytest.mark.parametrize(("host", "asked"), [("127.0.0.1", True), ("::1", True), ("10.0.0.7", False)])
def test_where_a_header_is_believed_from_this_machine_names_are_asked(host: str, asked: bool) -> None:
    manners = manners_of(settings(user_id_source="header"), host)
    assert (manners.hosts is not None and "localhost" in manners.hosts) == asked
