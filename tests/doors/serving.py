"""The whole app over a real store, as every door's tests ask it: by HTTP, as one of several people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI

from recollect.bootstrap import open_engine
from recollect.cli.serving import DOORS, PAGES
from recollect.doors.http.app import create_app
from recollect.doors.http.auth.header import HeaderNames, TrustedHeader, networks
from recollect.engine import Engine
from recollect.settings import Settings
from tests.api.homes import Home


@dataclass(frozen=True)
class Served:
    """`engine` is for what no door offers, such as waiting for embeddings."""

    home: Home
    app: FastAPI
    engine: Engine
    client: Callable[..., httpx.AsyncClient]

    @property
    def ana(self) -> httpx.AsyncClient:
        return self.client("ana")


def app_over(settings: Settings) -> FastAPI:
    """The server's own doors and pages, with people who are known by a header."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Engine]:
        running = await open_engine(settings)
        try:
            yield running.engine
        finally:
            await running.close()

    identity = TrustedHeader(HeaderNames("X-User-ID"), networks("127.0.0.1"), settings.tenant, settings.space)
    return create_app(opening, identity, DOORS, PAGES)


@asynccontextmanager
async def served(home: Home, **settings: Any) -> AsyncIterator[Served]:
    """Words only and without a background thread, unless the settings say otherwise."""
    chosen = {"embedder": "off", "pool_size": 4, "worker": False, "rate_limit": 1_000_000, **settings}
    app = app_over(Settings.load({}, store=home.url, data_dir=home.folder / "data", **chosen))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        clients: dict[tuple[str, tuple[tuple[str, str], ...]], httpx.AsyncClient] = {}

        def client(user: str, **headers: str) -> httpx.AsyncClient:
            known = (user, tuple(sorted(headers.items())))
            if known not in clients:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                clients[known] = httpx.AsyncClient(
                    transport=httpx.ASGITransport(app, raise_app_exceptions=False),
                    base_url="http://recollect.test",
                    headers={"X-User-ID": user, **named},
                )
            return clients[known]

        yield Served(home, app, app.state.engine, client)
        for each in clients.values():
            await each.aclose()
