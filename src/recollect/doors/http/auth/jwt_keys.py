"""Keys that tokens are checked with. The kind of key decides which algorithms it may check: never the token.

So a public key can't be used as an HMAC secret, and `none` is no algorithm of any key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cryptography.x509 import load_pem_x509_certificate

from recollect.errors import InvalidInput

HMAC = ("HS256", "HS384", "HS512")
RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
SHORTEST_SECRET = 32
SHORTEST_MODULUS = 2048

PublicKey = RSAPublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class Key:
    material: bytes | PublicKey
    algorithms: tuple[str, ...]


class Keys(Protocol):
    async def key_for(self, header: Mapping[str, Any]) -> Key | None:
        """The key for a token with this header, which nobody has vouched for yet."""


class OneKey:
    def __init__(self, key: Key) -> None:
        self._key = key

    async def key_for(self, header: Mapping[str, Any]) -> Key | None:
        return self._key


def secret_key(secret: str) -> Key:
    if "-----BEGIN" in secret:
        raise InvalidInput("RECOLLECT_JWT_SECRET holds a PEM key: give it as RECOLLECT_JWT_PUBLIC_KEY")
    if len(secret.encode()) < SHORTEST_SECRET:
        raise InvalidInput(
            f"RECOLLECT_JWT_SECRET must have at least {SHORTEST_SECRET} bytes: a shorter one can be guessed offline"
        )
    return Key(secret.encode(), HMAC)


def public_key(pem_or_path: str) -> Key:
    """From PEM text (a public key or a certificate), or the path of a file with it."""
    text = pem_or_path if "-----BEGIN" in pem_or_path else _file(pem_or_path)
    if "PRIVATE KEY" in text:
        raise InvalidInput("RECOLLECT_JWT_PUBLIC_KEY holds a private key: only its public half belongs here")
    pem = text.replace("\\n", "\n").encode()
    try:
        found = load_pem_x509_certificate(pem).public_key() if b"CERTIFICATE" in pem else load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidInput(
            "RECOLLECT_JWT_PUBLIC_KEY is not a PEM public key or certificate, nor the path of one"
        ) from None
    return checked_public(found)


def checked_public(found: object) -> Key:
    if isinstance(found, RSAPublicKey):
        if found.key_size < SHORTEST_MODULUS:
            raise InvalidInput(f"an RSA key of {found.key_size} bits is too short: {SHORTEST_MODULUS} at least")
        return Key(found, RSA)
    if isinstance(found, EllipticCurvePublicKey) and found.curve.name in CURVES:
        return Key(found, (CURVES[found.curve.name],))
    raise InvalidInput("only RSA keys and EC keys on P-256, P-384 or P-521 can check tokens")


def _file(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidInput("RECOLLECT_JWT_PUBLIC_KEY is neither PEM text nor a file that can be read") from None
