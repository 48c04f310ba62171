"""The page in a real browser, over a real server on each store. Every test is a person of their own.

The server believes a header, so that a browser context is a person; another header makes them an administrator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.api.homes import KINDS, Home, migrated
from tests.browser.looking import PATIENCE_MS, Person
from tests.doors.http.process import Server, serving
from tests.providers.chat_wire import ChatServer, Interlocutor
from tests.providers.wire import EmbeddingServer
from tests.services.chromium import running_chromium

Opening = Callable[..., Person]


@dataclass
class PageServer(Server):
    """A server, and where it keeps everything."""

    home: Home


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of this module: while it runs, its event loop would be in the way of tests that have their own."""
    with running_chromium() as running:
        yield running


@pytest.fixture(scope="session")
def model() -> Iterator[ChatServer]:
    with Interlocutor().running() as server:
        yield server


class Meanings(EmbeddingServer):
    """A model that knows which texts mean the same."""

    SAME: ClassVar = {"hound": "Our dog is called Mia"}

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        return super().answer(path, {**body, "input": [self.SAME.get(text, text) for text in body["input"]]})


@pytest.fixture(scope="session")
def vectors() -> Iterator[EmbeddingServer]:
    with Meanings().running() as server:
        yield server


@pytest.fixture(scope="session", params=KINDS)
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model: ChatServer,
    vectors: EmbeddingServer,
) -> Iterator[PageServer]:
    folder: Path = tmp_path_factory.mktemp("page")
    home = Home("sqlite", str(folder / "data" / "recollect.db"), folder)
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
        database = migrated(request.getfixturevalue("postgres"))
        home = Home("postgres", database.app_url, folder, database)
        settings["store"] = database.app_url
    with serving(folder, **settings) as running:
        yield PageServer(running.process, running.url, running.log, home)


def plain_client(address: str, **options: Any) -> httpx.Client:
    """For loopback alone: whom to trust elsewhere takes longer to read than most answers."""
    return httpx.Client(base_url=address, verify=False, trust_env=False, timeout=60, **options)


@pytest.fixture
def open_page(browser: Browser, server: PageServer) -> Iterator[Opening]:
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
            client = undo.enter_context(plain_client(server.url, headers=headers))
            page: Page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            person = Person(user, page, context, client, server.home)
            undo.callback(person.check)
            person.go(path)
            return person

        yield opened
