"""The secrets of our own keys: random, recognisable by their first letters, and stored as a hash only."""

from __future__ import annotations

import hashlib
import re
import secrets

PREFIX = "rk_"
SECRET_BYTES = 32
_KEY = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def is_secret(token: str) -> bool:
    """Whether it could be one of ours; what can't is never looked up."""
    return _KEY.fullmatch(token) is not None


def hash_of(secret: str) -> str:
    """Thirty-two random bytes can't be guessed, so one plain hash is enough to keep them."""
    return hashlib.sha256(secret.encode()).hexdigest()
