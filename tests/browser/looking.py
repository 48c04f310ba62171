"""A person at the page: what they see and do, and the client by which a test knows what is really stored."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from recollect.stores.sql.tables import memories
from tests.api.homes import Home

PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

JUDGE = (files("axe_playwright_python") / "axe.min.js").read_text()
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],
    "elementRef": False,
}
SERIOUS = {"serious", "critical"}


@dataclass
class Person:
    user: str
    page: Page
    context: BrowserContext
    api: httpx.Client
    home: Home
    faults: list[str] = field(default_factory=list)
    expected: set[str] = field(default_factory=set)
    """Words of faults that a test brings about on purpose."""

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"{message.text} {message.location.get('url', '')}")

    def check(self) -> None:
        unexpected = [fault for fault in self.faults if not any(word in fault for word in self.expected)]
        assert not unexpected, unexpected

    def go(self, path: str) -> None:
        """To a place, which is asked for anew, even if it is where they are: what was told by other ways meanwhile is shown."""
        there = self.page.url.partition("#")[2]
        if not there:
            self.page.goto(f"/#/{path}")
        elif there == f"/{path}":
            self.page.reload()
        else:
            self.page.evaluate(
                "path => { document.querySelector('main').replaceChildren(); location.hash = path }", f"/{path}"
            )
        expect(self.page.locator("header nav a").first).to_be_visible()
        expect(self.page.locator("main > section")).to_be_visible()

    def tell(self, text: str, **fields: Any) -> str:
        answer = self.api.post("/v1/memories", json={"text": text, **fields})
        assert answer.is_success, answer.text
        id: str = answer.json()["id"]
        return id

    def says(self, session: str, *messages: str) -> None:
        turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(messages)]
        assert self.api.post(f"/v1/conversations/{session}/messages", json={"messages": turns}).status_code == 201

    def multiplies(self, count: int) -> None:
        """So many memories of theirs, made of the one they have: as rows, because nothing here searches them."""
        columns = [each.name for each in memories.c if each.name not in ("id", "content")]
        statement = (
            f"WITH RECURSIVE copies(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM copies WHERE n < {count:d}) "
            f"INSERT INTO memories (id, content, {', '.join(columns)}) "
            f"SELECT m.id || '-' || n, 'note ' || n || ' of many', {', '.join(f'm.{name}' for name in columns)} "
            "FROM memories m, copies WHERE m.user_id = ?"
        )
        if self.home.database is not None:
            self.home.rows(statement, [self.user])
        else:
            with closing(sqlite3.connect(self.home.url, timeout=PATIENCE_MS / 1000)) as connection, connection:
                connection.execute(statement, [self.user])

    def remembered(self, **filters: Any) -> list[str]:
        return [each["text"] for each in self.api.get("/v1/memories", params=filters).json()["items"]]

    def embedded(self) -> None:
        """Wait for every vector: until then the same question may be answered in another order."""
        self.waits(lambda: all(each["embedding"] == "ready" for each in self.api.get("/v1/memories").json()["items"]))

    def waits(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not until():
            assert time.monotonic() < deadline, "it did not come to pass"
            time.sleep(0.05)

    @property
    def rows(self) -> Locator:
        return self.page.locator(".virtual-row")

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page.locator("body")).get_by_role("button", name=name, exact=True)

    def judged(self) -> list[str]:
        """What the rules of accessibility have against the page as it is now, if it is serious."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(JUDGE)
        found = self.page.evaluate("rules => axe.run(document, rules)", RULES)
        return [
            f"{each['id']}: {each['help']}: {each['nodes'][0]['html']}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
        ]
