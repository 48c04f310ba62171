"""`local`: one user, the owner of this machine's memory, and no login. Only for those who are on this machine themselves."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any, ClassVar

from fastapi import Request

from recollect.doors.http.auth.caller import Caller
from recollect.errors import Unauthenticated
from recollect.model import Scope


def is_loopback(host: str) -> bool:
    """Whether `host` can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


class Local:
    challenge = 'Local realm="recollect"'
    scheme: ClassVar[dict[str, Any] | None] = None

    def __init__(self, scope: Scope) -> None:
        self._owner = Caller(scope, "admin", "local")

    async def __call__(self, request: Request) -> Caller:
        # Without a peer the connection came through a socket file: that is this machine, too.
        if request.client is not None and not is_loopback(request.client.host):
            raise Unauthenticated("asked from another machine, where only this one is served")
        return self._owner
