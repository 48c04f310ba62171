"""Keys that an identity provider publishes: fetched once, kept, and fetched again when they are old or a token names a new one.

A token can name any key it likes, so a name that isn't known makes us look no more often than every few seconds. While the
provider is down the keys we have keep working, for a bounded time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import jwt

from recollect.doors.http.auth.jwt_keys import Key, PublicKey, checked_public
from recollect.doors.http.auth.local import is_loopback
from recollect.errors import InvalidInput, Unavailable

logger = logging.getLogger("recollect.auth")

FRESH_SECONDS = 600.0
STALE_SECONDS = 24 * 3600.0
SHORTEST_INTERVAL = 10.0
TIMEOUT_SECONDS = 5.0
MOST_BYTES = 512 * 1024
MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class Published:
    id: str | None
    key: Key


class PublishedKeys:
    def __init__(self, url: str, now: Callable[[], float] = time.monotonic) -> None:
        self._url, self._now = checked_url(url), now
        self._keys: tuple[Published, ...] = ()
        self._fetched_at = self._tried_at = float("-inf")
        self._turn = asyncio.Lock()

    async def key_for(self, header: Mapping[str, Any]) -> Key | None:
        if self._now() - self._fetched_at > FRESH_SECONDS:
            await self._fetch()
        found = self._named(header)
        if found is None:
            await self._fetch()
            found = self._named(header)
        if found is None and self._now() - self._fetched_at > STALE_SECONDS:
            raise Unavailable("logins can't be checked just now: the keys of the identity provider can't be fetched")
        return found

    def _named(self, header: Mapping[str, Any]) -> Key | None:
        """The key that the token names; without a name, the only one there is that could have signed it."""
        if self._now() - self._fetched_at > STALE_SECONDS:
            return None
        kid, algorithm = header.get("kid"), header.get("alg")
        fitting = [each.key for each in self._keys if algorithm in each.key.algorithms and kid in (None, each.id)]
        return fitting[0] if len(fitting) == 1 else None

    async def _fetch(self) -> None:
        """At most one fetch at a time, and none sooner than the shortest interval after the last attempt."""
        async with self._turn:
            if self._now() - self._tried_at < SHORTEST_INTERVAL:
                return
            self._tried_at = self._now()
            try:
                self._keys = usable(await self._document())
                self._fetched_at = self._now()
            except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as problem:
                logger.warning("the keys of the identity provider can't be fetched: %s", type(problem).__name__)

    async def _document(self) -> object:
        trust_environment = not is_loopback(urlsplit(self._url).hostname or "")
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            httpx.AsyncClient(trust_env=trust_environment) as client,
            client.stream("GET", self._url, follow_redirects=False) as answer,
        ):
            if answer.status_code != 200:
                raise httpx.HTTPError(f"status {answer.status_code}")
            body = b""
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise ValueError("too large")
        return json.loads(body)


def checked_url(url: str) -> str:
    address = urlsplit(url)
    if address.scheme == "https" and address.hostname:
        return url
    if address.scheme == "http" and is_loopback(address.hostname or ""):
        return url
    raise InvalidInput("RECOLLECT_JWT_JWKS_URL must be an https:// address: keys that came in the clear prove nothing")


def usable(document: object) -> tuple[Published, ...]:
    """The public signing keys of a key set; secrets, encryption keys and what we don't know are left out."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no key set")
    found = []
    for each in listed[:MOST_KEYS]:
        if isinstance(each, dict) and each.get("kty") in ("RSA", "EC") and each.get("use", "sig") == "sig":
            try:
                found.append(_published(each))
            except (jwt.PyJWTError, InvalidInput, ValueError, TypeError) as problem:
                logger.warning("a published key can't be used: %s", type(problem).__name__)
    return tuple(found)


def _published(each: Mapping[str, Any]) -> Published:
    algorithm = jwt.algorithms.RSAAlgorithm if each["kty"] == "RSA" else jwt.algorithms.ECAlgorithm
    key = checked_public(cast(PublicKey, algorithm.from_jwk(dict(each))))
    if each.get("alg") is not None:
        key = Key(key.material, tuple(name for name in key.algorithms if name == each["alg"]))
    return Published(each.get("kid") if isinstance(each.get("kid"), str) else None, key)
