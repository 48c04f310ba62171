"""Requests that can't be meant well, or were not meant for us, end here: before anyone asks who sent them.

Names the server does not go by (a web page may point its own name at this machine), pages of other sites (a browser sends a
login along that it remembers), headers that are there twice where two readers could disagree which one counts.
"""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.doors.http.errors import answer_to
from recollect.doors.http.refusing import refuse
from recollect.errors import InvalidInput, NotAllowed, RecollectError

ONCE = frozenset(
    b"host authorization content-type content-length content-encoding origin x-space x-session-id x-correlation-id".split()
)
LONGEST_ADDRESS = 8 * 1024
MOST_HEADERS = 32 * 1024
ANYWHERE = frozenset({"/healthz", "/readyz"})
"""Whoever watches over servers knows them by number, and learns nothing of anyone."""


class Addressed:
    """`hosts`: the names the server answers to, None for any. `origins`: names whose pages may use it beside its own."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, origins: frozenset[str]) -> None:
        self._app, self._hosts, self._origins = app, hosts, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            check_form(scope)
            if scope["path"] not in ANYWHERE:
                self._check_names(Headers(scope=scope))
        except RecollectError as error:
            answer = answer_to(error)
            answer.headers["Connection"] = "close"
            await refuse(answer, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _check_names(self, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._hosts is not None and name_in(f"//{host}") not in self._hosts:
            raise NotAllowed("this server does not go by that name")
        if (origin is None and _is_embedded(headers)) or (origin is not None and not self._own(origin, host)):
            raise NotAllowed("pages of other sites may not use this server")

    def _own(self, origin: str, host: str) -> bool:
        scheme, _, place = origin.partition("://")
        same = scheme in ("http", "https") and place.lower() == host.lower() != ""
        return same or name_in(origin) in self._origins


def _is_embedded(headers: Headers) -> bool:
    """Whether a page of elsewhere wants it as an image, a script or the like. Browsers name no origin then; such a page can't
    read the answer, but it learns whether there is one."""
    elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return elsewhere and headers.get("sec-fetch-mode") != "navigate"


def check_form(scope: Scope) -> None:
    names = Counter(name for name, _ in scope["headers"])
    twice = sorted(name.decode() for name in ONCE if names[name] > 1)
    if twice:
        raise InvalidInput(f"the header {twice[0]} is there twice")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
        raise InvalidInput(f"the headers have more than {MOST_HEADERS:,} bytes")
    if names[b"transfer-encoding"] and names[b"content-length"]:
        raise InvalidInput("a body has a length or is sent in chunks, not both")
    query: bytes = scope.get("query_string", b"")
    if any(ord(c) < 32 or ord(c) == 127 for c in scope["path"]) or b"%00" in query or b"\x00" in query:
        raise InvalidInput("the address has control characters in it")
    if len(scope["path"]) + len(query) > LONGEST_ADDRESS:
        raise InvalidInput("the address is too long")


def name_in(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
