"""Requests as the server hands them to a source of identity: a head, and the address they came from."""

from __future__ import annotations

import base64
from types import SimpleNamespace

from fastapi import Request

from recollect.engine import Engine

HERE = "127.0.0.1"


def asked(*headers: tuple[str, str], peer: str | None = HERE, engine: Engine | None = None) -> Request:
    """A request with these headers, in this order, repeated as often as they are given."""
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/v1/memories",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
            "client": None if peer is None else (peer, 50_000),
            "app": SimpleNamespace(state=SimpleNamespace(engine=engine)),
            "state": {},
        }
    )


def bearing(token: str, engine: Engine | None = None) -> Request:
    return asked(("Authorization", f"Bearer {token}"), engine=engine)


def basic(name: str, password: str) -> Request:
    return asked(("Authorization", "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()))
