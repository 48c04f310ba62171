"""The Authorization header, read strictly: once, one scheme, one token of the characters a token may have."""

from __future__ import annotations

import base64
import binascii
import re

from fastapi import Request

from recollect.errors import Unauthenticated

MOST_CHARS = 16 * 1024
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def authorization(request: Request, scheme: str) -> str:
    """The token of this request's Authorization header, which must be of `scheme`."""
    given = request.headers.getlist("authorization")
    if len(given) != 1:
        raise Unauthenticated("no Authorization header" if not given else "several Authorization headers")
    return token_in(given[0], scheme)


def token_in(header: str, scheme: str) -> str:
    if len(header) > MOST_CHARS:
        raise Unauthenticated("the Authorization header is too long")
    name, _, token = header.partition(" ")
    if name.lower() != scheme.lower():
        raise Unauthenticated(f"the Authorization header is not of the scheme {scheme}")
    token = token.strip(" ")
    if _TOKEN.fullmatch(token) is None:
        raise Unauthenticated("the token has characters that no token has")
    return token


def name_and_password(token: str) -> tuple[str, str]:
    """What a Basic token holds. The name ends at the first colon; the password may have more of them."""
    try:
        text = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Unauthenticated("the Basic token is not base64 of UTF-8") from None
    name, colon, password = text.partition(":")
    if not colon:
        raise Unauthenticated("the Basic token has no colon")
    return name, password
