"""page: how soon a browser shows something, and how much it had to fetch for it.

The real server on loopback, the real Chromium, a person with some memories. `cold` is a browser that was never here, `warm` one
that keeps the files and asks whether they are still the same. The first paint is the browser's own measure, from the beginning of
the navigation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Page

from bench.report import Row
from tests.doors.http.process import serving
from tests.services.chromium import running_chromium

COLUMNS = {
    "place": "",
    "paint_cold_ms": "first paint, cold",
    "paint_warm_ms": "first paint, warm",
    "shown_cold_ms": "content, cold",
    "shown_warm_ms": "content, warm",
    "requests": "requests",
    "scripts_kb": "scripts kB",
    "all_kb": "all kB",
}
PLACES = {
    "memories": ".virtual-row",
    "lab?q=memory": ".hits .card",
    "chat": ".composer",
    "conversations": ".virtual-row",
    "controls": ".switch",
    "operations": ".chart",
}
MEMORIES = 200
PATIENCE_MS = 60_000
WATCH = """selector => {
  const look = () => {
    if (document.querySelector(selector)) window.shownAt ??= performance.now();
    else requestAnimationFrame(look);
  };
  look();
}"""
TOLD = """async () => {
  while (!window.shownAt) await new Promise(requestAnimationFrame);
  return {
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    shown: window.shownAt,
    fetched: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .map((each) => [each.name, each.encodedBodySize]),
  };
}"""


def run(count: int) -> list[Row]:
    with TemporaryDirectory(prefix="recollect-page-") as folder, serving(Path(folder)) as server:
        _fill(server.url)
        with running_chromium() as browser:
            return visits(browser, server.url, PLACES, count)


def visits(browser: Browser, address: str, places: Mapping[str, str], count: int, **who: Any) -> list[Row]:
    """Each place, and what must be in sight there before it counts as shown. `who`: what makes a browser somebody."""
    return [
        _place(lambda: browser.new_context(**who), f"{address}#/{at}", shown, count) for at, shown in places.items()
    ]


def _fill(address: str) -> None:
    at = "2026-01-01T00:00:00Z"
    lines = [
        json.dumps({"kind": "memory", "id": f"m{n}", "content": f"memory {n}", "created_at": at, "updated_at": at})
        for n in range(MEMORIES)
    ]
    with httpx.Client(base_url=address, timeout=PATIENCE_MS / 1000) as client:
        client.post("/v1/import", content="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
        said = {"messages": [{"role": "user", "content": "word for word"}]}
        client.post("/v1/conversations/monday/messages", json=said).raise_for_status()


def _place(opening: Callable[[], BrowserContext], address: str, shown: str, count: int) -> Row:
    looks = list(_looks(opening, address, shown, count))
    cold, warm = [one for one, _ in looks], [other for _, other in looks]
    fetched = {name: size for name, size in cold[0]["fetched"] if "/v1/" not in name}
    return {
        "place": address.partition("#/")[2],
        "paint_cold_ms": round(median(look["paint"] for look in cold)),
        "paint_warm_ms": round(median(look["paint"] for look in warm)),
        "shown_cold_ms": round(median(look["shown"] for look in cold)),
        "shown_warm_ms": round(median(look["shown"] for look in warm)),
        "requests": len(cold[0]["fetched"]),
        "scripts_kb": round(sum(size for name, size in fetched.items() if name.endswith(".js")) / 1024, 1),
        "all_kb": round(sum(fetched.values()) / 1024, 1),
    }


def _looks(opening: Callable[[], BrowserContext], address: str, shown: str, count: int) -> Iterator[tuple[Row, Row]]:
    for _ in range(count):
        with opening() as context:
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.add_init_script(f"({WATCH})({json.dumps(shown)})")
            page.goto(address)
            cold = _told(page)
            page.reload()
            yield cold, _told(page)


def _told(page: Page) -> Row:
    told: Row = page.evaluate(TOLD)
    return told
