"""The Authorization header, strictly read: what is let through is what was meant, and everything else is one refusal."""

from __future__ import annotations

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.doors.http.auth.credentials import MOST_CHARS, authorization, name_and_password, token_in
from recollect.errors import Unauthenticated
from tests.doors.http.requests import asked

TOKENS = st.text("abcXYZ019-._~+/", min_size=1, max_size=200)


@given(TOKENS, st.sampled_from(["Bearer", "bearer", "BEARER", "bEaReR"]), st.integers(1, 5))
def test_a_token_comes_out_as_it_went_in(token: str, scheme: str, spaces: int) -> None:
    assert token_in(f"{scheme}{' ' * spaces}{token}", "Bearer") == token


@given(st.text(max_size=300))
@example("Bearer")
@example("Bearer ")
@example("Bearer a b")
@example("Bearer a, Bearer b")
@example("Basic YTpi")
@example("Bearer\ta")
@example("Bearer a\r\nX-User-ID: eve")
@example("Bearer é")
@example(" Bearer a")
@example("Bearer =a")
def test_anything_else_is_refused_or_is_a_whole_token(header: str) -> None:
    try:
        token = token_in(header, "Bearer")
    except Unauthenticated:
        return
    assert header.split(" ", 1)[0].lower() == "bearer"
    assert header.split(" ", 1)[1].strip(" ") == token
    assert token.isascii()
    assert not set(token) & set(' ,;"\\\r\n\t:')


def test_a_huge_header_is_not_looked_at() -> None:
    with pytest.raises(Unauthenticated):
        token_in("Bearer " + "a" * MOST_CHARS, "Bearer")


@pytest.mark.parametrize(
    "headers", [[], [("Authorization", "Bearer a"), ("Authorization", "Bearer a")], [("X-Authorization", "Bearer a")]]
)
def test_the_header_is_there_once(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(Unauthenticated):
        authorization(asked(*headers), "Bearer")


@given(st.text(max_size=40), st.text(max_size=40))
def test_name_and_password_come_apart_at_the_first_colon(name: str, password: str) -> None:
    name = name.replace(":", "").encode("utf-8", "ignore").decode()
    password = password.encode("utf-8", "ignore").decode()
    token = base64.b64encode(f"{name}:{password}".encode()).decode()
    assert name_and_password(token) == (name, password)


@pytest.mark.parametrize("token", ["", "YW5h", "%%%", "YW5hOng", "/////w==", base64.b64encode(b"\xff:\xfe").decode()])
def test_what_is_no_basic_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthenticated):
        name_and_password(token)
