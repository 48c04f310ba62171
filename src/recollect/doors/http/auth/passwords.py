"""Passwords at rest: scrypt with a salt each, as one word that says how it was made: `scrypt$n$r$p$salt$hash`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from recollect.errors import InvalidInput

SALT_BYTES, HASH_BYTES = 16, 32
MOST_MEMORY = 64 * 1024 * 1024
MOST_WORK = 2**21


@dataclass(frozen=True, slots=True)
class Hashed:
    n: int
    r: int
    p: int
    salt: bytes
    digest: bytes

    def fits(self, password: str) -> bool:
        return hmac.compare_digest(_scrypt(password, self.n, self.r, self.p, self.salt, len(self.digest)), self.digest)

    def __str__(self) -> str:
        return f"scrypt${self.n}${self.r}${self.p}${_worded(self.salt)}${_worded(self.digest)}"


def hashed(password: str, n: int = 2**14, r: int = 8, p: int = 5) -> Hashed:
    """Sixteen megabytes and a tenth of a second or so: little for a login, much for a guesser."""
    salt = secrets.token_bytes(SALT_BYTES)
    return Hashed(n, r, p, salt, _scrypt(password, n, r, p, salt, HASH_BYTES))


def read(word: str) -> Hashed:
    try:
        scheme, n, r, p, salt, digest = word.split("$")
        found = Hashed(int(n), int(r), int(p), _bytes(salt), _bytes(digest))
    except (ValueError, binascii.Error):
        raise InvalidInput("expected scrypt$n$r$p$salt$hash") from None
    sound = scheme == "scrypt" and found.n > 1 and not found.n & (found.n - 1) and min(found.r, found.p) > 0
    if not sound or len(found.salt) < 8 or len(found.digest) < 16:
        raise InvalidInput("expected scrypt$n$r$p$salt$hash, n a power of two")
    if 128 * found.n * found.r > MOST_MEMORY // 2 or found.n * found.r * found.p > MOST_WORK:
        raise InvalidInput("the parameters of this hash cost more than a login may")
    return found


def _scrypt(password: str, n: int, r: int, p: int, salt: bytes, size: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=MOST_MEMORY, dklen=size)


def _worded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(word: str) -> bytes:
    return base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
