"""Keys and tokens for tests: an issuer of its own, made once a run, with the means to forge badly."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

SECRET = "a secret that has more than thirty-two bytes"


def rsa_key(which: int = 0, bits: int = 2048) -> rsa.RSAPrivateKey:
    return _rsa_key(which, bits)


@cache
def _rsa_key(which: int, bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def private_pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def claims(**changed: Any) -> dict[str, Any]:
    """What a sound token says; None takes a claim out, a `timedelta` counts from now."""
    said = {"sub": "ana", "exp": timedelta(minutes=5), **changed}
    return {
        name: int(time.time() + value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in said.items()
        if value is not None
    }


def signed(key: Any = SECRET, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, algorithm, headers)


def forged(header: dict[str, Any], said: Any, key: bytes = b"", signature: bytes | None = None) -> str:
    """A token put together by hand, HMAC-signed with `key`: what no library would make."""
    head = ".".join(_worded(json.dumps(part).encode()) for part in (header, said))
    made = hmac.digest(key, head.encode(), hashlib.sha256) if signature is None else signature
    return f"{head}.{_worded(made)}"


def jwk(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, kid: str | None, **more: Any) -> dict[str, Any]:
    public = key.public_key()
    algorithm: Any = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    described: dict[str, Any] = algorithm.to_jwk(public, as_dict=True)
    return {**described, **({"kid": kid} if kid else {}), **more}


def _worded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
