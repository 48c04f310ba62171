"""`header`: a proxy has done the login and names the user in a header. Believed from the named proxies, and from nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from fastapi import Request

from recollect.doors.http.auth.caller import Caller, known_as
from recollect.errors import InvalidInput, Unauthenticated

Network = IPv4Network | IPv6Network


def networks(listed: str) -> tuple[Network, ...]:
    """The addresses and networks of a list such as `10.0.0.7, fd00::/64`."""
    found = []
    for each in filter(None, (part.strip() for part in listed.split(","))):
        try:
            network = ip_network(each, strict=False)
        except ValueError:
            raise InvalidInput(f"trusted_proxies: {each!r:.60} is neither an address nor a network") from None
        if network.prefixlen == 0:
            raise InvalidInput(f"trusted_proxies: {each} is everybody; name the proxies")
        found.append(network)
    return tuple(found)


class TrustedHeader:
    challenge = 'Proxy-Header realm="recollect"'

    def __init__(self, header: str, tenant_header: str, proxies: Sequence[Network], tenant: str, space: str) -> None:
        self._header, self._tenant_header = header, tenant_header
        self.scheme: dict[str, Any] | None = {"type": "apiKey", "in": "header", "name": header}
        self._proxies = proxies
        self._tenant, self._space = tenant, space

    async def __call__(self, request: Request) -> Caller:
        peer = request.client.host if request.client else ""
        if not self._trusts(peer):
            raise Unauthenticated("the request does not come from a trusted proxy")
        tenant = self._one(request, self._tenant_header) if self._tenant_header else self._tenant
        return known_as("header", tenant, self._one(request, self._header), self._space)

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
            raise Unauthenticated("the header that names the user or the tenant is missing or there twice")
        try:
            return given[0].encode("latin-1").decode()
        except UnicodeDecodeError:
            raise Unauthenticated("the header that names the user or the tenant is not UTF-8") from None
