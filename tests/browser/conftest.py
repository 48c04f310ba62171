"""The page in a real browser, over a real server on each store. Every test is a person of their own.

The server believes a header, so that a browser context is a person; another header makes them an administrator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.api.homes import KINDS, migrated
from tests.browser.looking import PATIENCE_MS, Person
from tests.doors.http.process import Server, serving
from tests.providers.chat_wire import ChatServer
from tests.providers.wire import EmbeddingServer
from tests.services.chromium import running_chromium

Opening = Callable[..., Person]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of this module: while it runs, its event loop would be in the way of tests that have their own."""
    with running_chromium() as running:
        yield running


@pytest.fixture(scope="session")
def model() -> Iterator[ChatServer]:
    with ChatServer().running() as server:
        yield server


@pytest.fixture(scope="session")
def vectors() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as server:
        yield server


@pytest.fixture(scope="session", params=KINDS)
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model: ChatServer,
    vectors: EmbeddingServer,
) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("page")
    settings = {
        "user_id_source": "header",
        "role_header": "X-Role",
        "chat_url": model.url,
        "chat_model": "scripted",
        "embedder": "custom_http",
        "embedder_url": f"{vectors.url}/vectors",
        "rate_limit": "0",
    }
    if request.param == "postgres":
        settings["store"] = migrated(request.getfixturevalue("postgres")).app_url
    with serving(folder, **settings) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Opening]:
    """A person at the page; `open_page(person)` again is the same person in another tab. What went wrong in it fails the test."""
    with ExitStack() as undo:

        def opened(again: Person | None = None, *, role: str = "user", path: str = "", **options: object) -> Person:
            user = again.user if again else f"person-{uuid4().hex[:12]}"
            headers = {"X-User-ID": user, "X-Role": role}
            context: BrowserContext = (
                again.context
                if again
                else browser.new_context(
                    extra_http_headers=headers,
                    base_url=server.url,
                    **{"locale": "en-GB", "reduced_motion": "reduce", **options},  # type: ignore[arg-type]
                )
            )
            if again is None:
                undo.callback(context.close)
            client = undo.enter_context(httpx.Client(base_url=server.url, headers=headers, timeout=60))
            page: Page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            person = Person(user, page, context, client)
            undo.callback(person.check)
            person.go(path)
            return person

        yield opened
