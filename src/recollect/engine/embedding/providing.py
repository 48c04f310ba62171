"""Where embeddings come from, as an administrator configures it while everything runs.

Saving a configuration first tries it with one harmless word, then stores it (the key sealed), then has its model adopted: a new
generation is filled in the background while the old one serves, and takes over in one step. Every other process notices
within seconds, because each looks when it refreshes its list of generations. No stored text goes to a server before its
configuration is saved, and none goes to one after it was removed.

Who can make an embedder of a configuration is not known here: `Providers` is told by whoever puts the engine together.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from recollect.engine import audit
from recollect.engine.embedding.generations import Generations
from recollect.errors import Conflict, InvalidInput, RecollectError, Unsupported
from recollect.model import Generation, GenerationState, ProviderConfig, Scope
from recollect.ports import Embedder, Store, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

logger = logging.getLogger("recollect.providing")

AGAIN_SECONDS = 30.0
_TURN_SECONDS = 0.02
LONGEST_URL = 2048
MOST_DIMENSIONS = 16_000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200")))
"""Where clouds tell a machine its credentials outside the link-local range."""
Origin = Literal["system", "configured", "settings", "local", "off"]
Choice = tuple[Embedder | None, Origin, bool]
"""The embedder that is to be used (None: words only), who decided so, and whether it is to push aside what serves."""
Key = str | Literal[False] | None
"""An API key; None for no key; False to keep the one that is stored."""


class Providers(Protocol):
    @property
    def pinned(self) -> str | None:
        """The provider that the settings name outright, which leaves nothing to configure."""

    async def choose(self, stored: ProviderConfig | None) -> Choice: ...

    async def attempt(self, config: ProviderConfig) -> None:
        """Whether a configuration works, found out without any stored text."""


class Vault(Protocol):
    def seal(self, secret: str) -> str: ...

    def open(self, sealed: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """What is configured (never the key itself) and what that has come to."""

    stored: ProviderConfig | None
    key_is_set: bool
    origin: Origin
    pinned: str | None
    serving: Generation | None
    building: tuple[Generation, ...]
    trouble: str | None


class Providing:
    """Keeps a process at the configuration that is stored. One for all views of an engine."""

    def __init__(
        self, store: Store, generations: Generations, providers: Providers, vault: Callable[[], Vault], origin: Origin
    ) -> None:
        self._store = store
        self._generations = generations
        self.providers = providers
        self.vault = vault
        self.origin = origin
        self.trouble: str | None = None
        self._applied: ProviderConfig | None = None
        self._settled = False
        self._again_at = float("inf")
        self._turn = threading.Lock()
        generations.follow = self.follow

    async def stored(self) -> ProviderConfig | None:
        return await self._store.system(lambda system: system.provider())

    async def follow(self) -> None:
        """Adopt what is stored now, if it isn't what was adopted last. One does it; the others wait only at the very start."""
        if self.providers.pinned is not None:
            return
        while not self._turn.acquire(blocking=False):
            if self._settled:
                return
            await asyncio.sleep(_TURN_SECONDS)
        try:
            stored = await self.stored()
            if stored != self._applied or time.monotonic() >= self._again_at:
                await self._apply(stored)
            self._settled = True
        finally:
            self._turn.release()

    async def _apply(self, stored: ProviderConfig | None) -> None:
        self._again_at = float("inf")
        self.trouble = None
        try:
            embedder, origin, insist = await self.providers.choose(self.opened(stored))
        except RecollectError as problem:
            # Not the default instead: it would have everything embedded anew because of a key that is missing for an hour.
            logger.warning("the configured embedding provider can't be used: %s", problem.code)
            self.trouble = problem.message
            self._again_at = time.monotonic() + AGAIN_SECONDS
            embedder, origin, insist = None, "configured", True
        keep = stored is not None and stored.enabled
        self._generations.adopt(embedder, insist=insist, keep=keep)
        self._applied, self.origin = stored, origin

    def opened(self, stored: ProviderConfig | None) -> ProviderConfig | None:
        """The configuration with its key in the clear, for use and not for keeping."""
        if stored is None or stored.api_key is None or not stored.enabled:
            return stored
        return replace(stored, api_key=self.vault().open(stored.api_key))


async def provision(engine: Engine) -> Provision:
    providing = _providing(engine)
    stored = await providing.stored()
    alive = await engine.generations.alive()
    return Provision(
        stored=None if stored is None else replace(stored, api_key=None),
        key_is_set=stored is not None and stored.api_key is not None,
        origin="settings" if providing.providers.pinned else providing.origin,
        pinned=providing.providers.pinned,
        serving=next((each for each in alive if each.state is GenerationState.SERVING), None),
        building=tuple(each for each in alive if each.state is GenerationState.BUILDING),
        trouble=providing.trouble,
    )


async def save_provider(engine: Engine, scope: Scope, wanted: ProviderConfig, key: Key) -> Provision:
    """Try it, keep it, and begin to use it. `scope` is the administrator's own: the audit fact is theirs."""
    providing = _providing(engine)
    _refuse_if_pinned(providing)
    wanted = _checked(replace(wanted, api_key=await _key(providing, wanted, key)))
    if wanted.enabled and wanted.provider_type != "local":
        await _tried(providing.providers, wanted)
    sealed = wanted.api_key and providing.vault().seal(wanted.api_key)
    await engine.store.system(lambda system: system.save_provider(replace(wanted, api_key=sealed)))
    facts = {"provider_type": wanted.provider_type, "enabled": wanted.enabled, "key": wanted.api_key is not None}
    await _follow_up(engine, scope, "provider.saved", off=not wanted.enabled, **facts)
    return await provision(engine)


async def remove_provider(engine: Engine, scope: Scope) -> Provision:
    """Back to what the settings say."""
    providing = _providing(engine)
    _refuse_if_pinned(providing)
    await engine.store.system(lambda system: system.save_provider(None))
    await _follow_up(engine, scope, "provider.removed", off=False)
    return await provision(engine)


async def _follow_up(engine: Engine, scope: Scope, action: str, *, off: bool, **facts: object) -> None:
    def work(tx: Tx) -> None:
        audit.record(tx, engine.occasion, engine.clock.now(), action, **facts)

    await engine.store.write(scope, work)
    await engine.generations.refresh()
    await engine.generations.give_up(serving=off)
    engine.wake()


def _providing(engine: Engine) -> Providing:
    if engine.providing is None:
        raise Unsupported("this engine was put together without a way to configure where embeddings come from")
    return engine.providing


def _refuse_if_pinned(providing: Providing) -> None:
    if providing.providers.pinned is not None:
        raise Conflict(
            f"the settings of this server fix the embedding provider ({providing.providers.pinned}): "
            "RECOLLECT_EMBEDDER=auto lets it be configured",
            pinned=providing.providers.pinned,
        )


async def _key(providing: Providing, wanted: ProviderConfig, key: Key) -> str | None:
    """The key in the clear. One that is stored is kept for the server it was given for, and shown to no other."""
    if key is not False:
        return key or None
    stored = await providing.stored()
    same = stored and (stored.provider_type, stored.endpoint_url) == (wanted.provider_type, wanted.endpoint_url)
    if stored is None or not same or stored.api_key is None:
        return None
    return providing.vault().open(stored.api_key)


async def _tried(providers: Providers, wanted: ProviderConfig) -> None:
    try:
        await providers.attempt(wanted)
    except RecollectError as problem:
        # Whatever the server said, it is the configuration that has to change: not the caller's rights, not our health.
        raise InvalidInput(
            f"nothing was saved, because this provider does not work: {problem.message}", cause=problem.code
        ) from None


def _checked(wanted: ProviderConfig) -> ProviderConfig:
    if wanted.provider_type == "local":
        if wanted.endpoint_url or wanted.api_key or wanted.dimensions:
            raise InvalidInput("the local model has no endpoint_url, api_key or dimensions")
        return wanted
    if wanted.provider_type == "custom_http" and not wanted.endpoint_url:
        raise InvalidInput("a custom_http provider needs its endpoint_url")
    if wanted.provider_type == "openai" and not (wanted.endpoint_url or wanted.api_key):
        raise InvalidInput("openai needs an api_key, or the endpoint_url of a server that speaks the same language")
    if wanted.provider_type != "llamacpp" and not wanted.model:
        # Vectors of two models must never be taken for each other, and the name is all that tells them apart.
        raise InvalidInput(f"{wanted.provider_type} needs the name of the model")
    if wanted.dimensions is not None and not 1 <= wanted.dimensions <= MOST_DIMENSIONS:
        raise InvalidInput(f"dimensions must be from 1 to {MOST_DIMENSIONS:,}")
    return wanted if wanted.endpoint_url is None else replace(wanted, endpoint_url=checked_url(wanted.endpoint_url))


def checked_url(url: str) -> str:
    """An address that may be asked for embeddings: http or https, to a host, without credentials. It is never quoted back."""
    try:
        address = urlsplit(url.strip())
        host, _ = address.hostname, address.port
    except ValueError:
        raise InvalidInput("endpoint_url is not an address") from None
    if address.scheme not in {"http", "https"} or not host:
        raise InvalidInput("endpoint_url must be a full http:// or https:// address")
    if address.username is not None or address.password is not None:
        raise InvalidInput("endpoint_url must not hold credentials; give the key as api_key, which is stored encrypted")
    if address.fragment or len(url) > LONGEST_URL or not url.strip().isprintable():
        raise InvalidInput(f"endpoint_url must be printable, at most {LONGEST_URL} characters, without a fragment")
    if _is_nowhere(host):
        raise InvalidInput("endpoint_url must not point at a link-local, multicast or unspecified address")
    return url.strip()


def _is_nowhere(host: str) -> bool:
    """Addresses at which no embedding server lives, but on clouds the machine's own credentials do."""
    address = _numbered(host.split("%")[0])
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or _translated(address) or address
    return bool(mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified or mapped in _METADATA)


def _numbered(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a host is written as, in any form a resolver takes: `2852039166` and `0xa9fea9fe` are 169.254.169.254."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host)) if host.isascii() and " " not in host else None
    except OSError:
        return None


def _translated(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """What a NAT64 address leads to."""
    inside = isinstance(address, ipaddress.IPv6Address) and address in _NAT64
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if inside else None
