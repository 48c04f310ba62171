"""`header`: a proxy has done the login and names the user in a header. Believed from the named proxies, and from nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from fastapi import Request

from recollect.doors.http.auth.caller import Caller, known_as
from recollect.errors import InvalidInput, Unauthenticated
from recollect.model.access import Role

Network = IPv4Network | IPv6Network


def networks(listed: str) -> tuple[Network, ...]:
    """The addresses and networks of a list such as `10.0.0.7, fd00::/64`."""
    found = []
    for each in filter(None, (part.strip() for part in listed.split(","))):
        try:
            network = ip_network(each, strict=False)
        except ValueError:
            raise InvalidInput(f"RECOLLECT_TRUSTED_PROXIES: {each!r:.60} is neither an address nor a network") from None
        if network.prefixlen == 0:
            raise InvalidInput(f"RECOLLECT_TRUSTED_PROXIES: {each} is everybody; name the proxies")
        found.append(network)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """The headers the proxy speaks in. Empty: it doesn't say that; then there is one tenant, and nobody is an admin."""

    user: str
    tenant: str = ""
    role: str = ""


class TrustedHeader:
    challenge = 'Proxy-Header realm="recollect"'

    def __init__(self, names: HeaderNames, proxies: Sequence[Network], tenant: str, space: str) -> None:
        self._names = names
        self.scheme: dict[str, Any] | None = {"type": "apiKey", "in": "header", "name": names.user}
        self._proxies = proxies
        self._tenant, self._space = tenant, space

    async def __call__(self, request: Request) -> Caller:
        peer = request.client.host if request.client else ""
        if not self._trusts(peer):
            raise Unauthenticated("the request does not come from a trusted proxy")
        tenant = self._one(request, self._names.tenant) if self._names.tenant else self._tenant
        return known_as("header", tenant, self._one(request, self._names.user), self._space, self._role(request))

    def _role(self, request: Request) -> Role:
        """Most people have no role, so this header may be missing; anything but the one word is no role either."""
        if not self._names.role or self._names.role not in request.headers:
            return "user"
        return "admin" if self._one(request, self._names.role) == "admin" else "user"

    def _trusts(self, peer: str) -> bool:
        try:
            address: IPv4Address | IPv6Address = ip_address(peer)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._proxies)

    @staticmethod
    def _one(request: Request, header: str) -> str:
        """Twice the header means that somebody else's came through beside the proxy's own."""
        given = request.headers.getlist(header)
        if len(given) != 1:
            raise Unauthenticated("a header that says who asks is missing or there twice")
        try:
            return given[0].encode("latin-1").decode()
        except UnicodeDecodeError:
            raise Unauthenticated("a header that says who asks is not UTF-8") from None
