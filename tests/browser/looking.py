"""A person at the page: what they see and do, and the client by which a test knows what is really stored."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

JUDGE = (files("axe_playwright_python") / "axe.min.js").read_text()
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
SERIOUS = {"serious", "critical"}


@dataclass
class Person:
    user: str
    page: Page
    context: BrowserContext
    api: httpx.Client
    faults: list[str] = field(default_factory=list)
    expected: set[str] = field(default_factory=set)
    """Words of faults that a test brings about on purpose."""
    visits: int = 0

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
        """Anew, even if it is where they are: what was told by other ways meanwhile is shown."""
        self.visits += 1
        self.page.goto(f"/?{self.visits}#/{path}")
        expect(self.page.locator("header nav a").first).to_be_visible()

    def tell(self, text: str, **fields: Any) -> str:
        answer = self.api.post("/v1/memories", json={"text": text, **fields})
        assert answer.is_success, answer.text
        id: str = answer.json()["id"]
        return id

    def says(self, session: str, *messages: str) -> None:
        turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(messages)]
        assert self.api.post(f"/v1/conversations/{session}/messages", json={"messages": turns}).status_code == 201

    def brings(self, count: int) -> None:
        """Many memories at once, the way an export is brought along."""
        at = "2026-01-01T00:00:00+00:00"
        for start in range(0, count, 2500):
            lines = [
                json.dumps(
                    {
                        "kind": "memory",
                        "id": f"note-{n}",
                        "content": f"note {n} of many",
                        "created_at": at,
                        "updated_at": at,
                    }
                )
                for n in range(start, min(start + 2500, count))
            ]
            sent = "\n".join(lines)
            answer = self.api.post("/v1/import", content=sent, headers={"Content-Type": "application/x-ndjson"})
            assert answer.is_success, answer.text

    def remembered(self, **filters: Any) -> list[str]:
        return [each["text"] for each in self.api.get("/v1/memories", params=filters).json()["items"]]

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
        self.page.evaluate(JUDGE)
        found = self.page.evaluate("rules => axe.run(document, rules)", RULES)
        return [
            f"{each['id']}: {each['help']}: {each['nodes'][0]['html']}"
            for each in found["violations"]
            if each["impact"] in SERIOUS
        ]
