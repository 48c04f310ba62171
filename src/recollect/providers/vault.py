"""Secrets that have to be stored and used again (the API keys of embedding servers), encrypted at rest.

A secret is sealed with Fernet under the first key and opened with any of them: to change keys, put the new one first, leave the
old one behind it until every secret was saved again, then drop it. Keys come from the settings (any text, or keys made by
`Fernet.generate_key()`, parted by commas), else from a file of our own that nobody but its owner may read.

A sealed text says nothing about its secret but the length. Neither a key nor a secret ever appears in a message.
"""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from recollect.errors import InvalidInput, Unavailable

KEY_FILE = "secret.key"
KEY_BYTES = 32
MOST_KEYS = 8
_SALT = b"recollect: keys of embedding servers"


class Vault:
    """Seals and opens short texts under one or more keys, the first of which seals."""

    def __init__(self, keys: Sequence[str]) -> None:
        given = [key.strip() for key in keys if key.strip()]
        if not given:
            raise InvalidInput("a vault needs at least one key")
        if len(given) > MOST_KEYS:
            raise InvalidInput(f"the secret key lists {len(given)} keys; at most {MOST_KEYS} are tried")
        self._fernet = MultiFernet([Fernet(_fernet_key(key)) for key in given])

    @classmethod
    def of(cls, secret_key: str, folder: Path) -> Vault:
        """With the keys that are configured, else with the one that lies in `folder`, made there if need be."""
        return cls(secret_key.split(",") if secret_key.strip() else _keys_in(folder / KEY_FILE))

    def seal(self, secret: str) -> str:
        return self._fernet.encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except (InvalidToken, UnicodeError):
            raise Unavailable(
                "a stored secret can't be opened with the present secret key: bring back the key it was saved under "
                "(RECOLLECT_SECRET_KEY takes several, parted by commas), or save the secret again"
            ) from None


def _fernet_key(text: str) -> bytes:
    """A Fernet key as it is; any other text through scrypt, which makes guessing it dear."""
    with suppress(binascii.Error, ValueError):
        if len(base64.b64decode(text, altchars=b"-_", validate=True)) == KEY_BYTES:
            return text.encode()
    return _derived(text)


@lru_cache(maxsize=MOST_KEYS)
def _derived(text: str) -> bytes:
    # The salt is fixed so that the same text gives the same key in every process that shares a store.
    stretched = Scrypt(salt=_SALT, length=KEY_BYTES, n=2**14, r=8, p=1).derive(text.encode())
    return base64.urlsafe_b64encode(stretched)


def _keys_in(file: Path) -> list[str]:
    try:
        if not file.exists():
            _make(file)
        keys = file.read_text(encoding="ascii").split()
    except (OSError, UnicodeError) as problem:
        raise Unavailable(
            f"the file {file.name!r} in the data folder can't be made or read ({type(problem).__name__}): "
            "set RECOLLECT_SECRET_KEY instead, or give this process the right to"
        ) from problem
    if not keys:
        raise Unavailable(f"the file {file.name!r} in the data folder is empty; it should hold a key")
    return keys


def _make(file: Path) -> None:
    """A new key, whole or not at all: of several processes that start together, one makes it and all read the same."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Made readable by its owner alone from the first moment.
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=KEY_FILE)
    try:
        with os.fdopen(handle, "wb") as writing:
            writing.write(Fernet.generate_key() + b"\n")
            writing.flush()
            os.fsync(writing.fileno())
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        os.unlink(draft)
