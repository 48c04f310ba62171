"""How the page is made: for everybody, in two tongues, at every width, light and dark, small, with no word missing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import Route, expect

from recollect import Memory
from tests.browser.conftest import Opening, plain_client
from tests.doors.http.process import Server, serving

STATIC = Path(str(files("recollect.doors.ui") / "static"))
PLACES = ("memories", "lab?q=tea", "chat", "conversations?id=monday", "controls", "operations")
LARGEST_SCRIPTS = 150 * 1024
READABLE = {
    "memories": "1 remembered",
    "memories?id={id}": "Told 2 times",
    "memories?status=archived": "Nothing is like that",
    "lab?q=looked": "to be looked at",
    "chat": "nothing can be added",
    "chat?session=monday": "word for word",
    "conversations?id=monday": "word for word",
    "controls": "Cap on automatic memories",
    "operations": "Nothing to mend",
}
CONTROLS = """() => [...document.querySelectorAll("main button, main textarea, main input, main a.button")].map((each) =>
  each.type === "search" ? "Search" : each.ariaLabel || each.textContent || each.labels?.[0]?.textContent || each.outerHTML)"""
LOOKING = {
    "Search",
    "Pinned only",
    "Token limit",
    "Changes only",
    "Close",
    "Export",
    "Export my data",
    "Show more",
    "default",
}
"""What one may do where nothing may be changed."""
pytestmark = pytest.mark.parametrize("server", ["sqlite"], indirect=True)  # how it looks is the same over any store


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_stands_in_anybodys_way(open_page: Opening, theme: str, request: pytest.FixtureRequest) -> None:
    ana = open_page(role="admin", color_scheme=theme)
    id = ana.tell("I like tea", tags=["drinks"], pinned=True)
    ana.says("monday", "I like tea", "Noted.")
    for place in (*PLACES, f"memories?id={id}"):
        ana.go(place)
        expect(ana.page.locator("main")).to_contain_text("tea") if "tea" in place or id in place else None
        assert ana.judged() == [], place
    assert ana.api.post(
        "/v1/memories", json={"text": "the printer is on floor two"}, headers={"X-Space": "work"}
    ).is_success
    ana.go(PLACES[0])
    ana.page.reload()
    expect(ana.page.get_by_role("combobox", name="Space")).to_be_visible()
    ana.button("Incognito").click()
    expect(ana.page.locator("#banner button")).to_be_visible()
    assert ana.judged() == []
    shown = "each => { const { color, backgroundColor } = getComputedStyle(each); return [color, backgroundColor]; }"
    colour, ground = ana.page.get_by_role("combobox", name="Space").evaluate(shown)  # which axe doesn't judge
    assert colour != ground
    ana.button("End incognito").click()


@pytest.mark.parametrize("width", [360, 1920])
def test_it_fits_a_phone_and_a_wide_screen(open_page: Opening, width: int) -> None:
    ana = open_page(role="admin", viewport={"width": width, "height": 740})
    id = ana.tell("a rather long line of text " * 20 + "https://example.org/" + "x" * 300)
    ana.says("monday", "word" * 200)
    assert ana.api.post("/v1/memories", json={"text": "elsewhere"}, headers={"X-Space": "work"}).is_success
    ana.page.reload()
    for place in (*PLACES, f"memories?id={id}"):
        ana.go(place)
        expect(ana.page.locator("main > *").first).to_be_visible()
        assert ana.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
    tall = ana.page.locator("header").evaluate("each => each.offsetHeight")
    assert tall < (100 if width == 360 else 60)  # one line on a wide screen, two on a phone


def test_on_a_phone_rows_hold_two_lines_and_going_back_closes_what_was_opened(open_page: Opening) -> None:
    ana = open_page(viewport={"width": 390, "height": 844})
    ana.tell("The spare key is with the neighbour on the second floor, behind the green door")
    ana.tell("short")
    ana.go("memories")
    long = ana.rows.filter(has_text="spare key").locator(".row-content")
    expect(long).to_be_visible()
    assert long.evaluate("each => each.offsetHeight") > 40
    ana.rows.first.click()
    panel = ana.page.locator(".panel.open .memory-text")
    expect(panel).to_have_text("short")
    ana.page.go_back()
    expect(panel).to_have_count(0)
    expect(ana.rows).to_have_count(2)
    assert ana.page.url.endswith("#/memories")
    ana.page.go_forward()
    expect(panel).to_have_text("short")


def test_dates_are_those_of_the_readers_own_tongue(open_page: Opening) -> None:
    for locale, wanted in (("en-GB", "2 Mar 2026"), ("en-US", "Mar 2, 2026"), ("zh-CN", "2026年3月2日")):
        ana = open_page(locale=locale, timezone_id="UTC")
        said = ana.page.evaluate("async () => (await import('/lib/words.js')).day('2026-03-02T12:00:00Z')")
        assert said == wanted


def test_it_speaks_chinese_and_remembers_that(open_page: Opening) -> None:
    ana = open_page(role="admin")
    ana.tell("我喜欢喝乌龙茶", theme="生活")
    ana.says("monday", "我喜欢喝乌龙茶")
    ana.button("中文").click()
    expect(ana.page.locator("html")).to_have_attribute("lang", "zh")
    ana.go("memories")
    expect(ana.page.get_by_role("link", name="记忆", exact=True)).to_have_attribute("aria-current", "page")
    ana.page.get_by_label("搜索").fill("乌龙茶")
    expect(ana.rows).to_have_count(1)
    assert ana.judged() == []
    ana.go("controls")
    expect(ana.page.get_by_role("heading", name="空间", exact=True)).to_be_visible()
    assert ana.judged() == []


def test_a_browser_that_reads_chinese_is_met_in_chinese(open_page: Opening) -> None:
    ana = open_page(locale="zh-CN")
    expect(ana.button("English")).to_be_visible()


def test_where_nothing_may_be_changed_no_control_is_shown(open_page: Opening, tmp_path: Path, browser: object) -> None:
    (tmp_path / "data").mkdir()
    with Memory(tmp_path / "data" / "recollect.db", embedder="off") as memory:
        id = memory.add("to be looked at", type="fact").id
        memory.add("to be  looked at!")
        memory.add_turns("monday", [{"role": "user", "content": "word for word"}])
    with serving(tmp_path, write_mode="read_only") as server:
        ana = open_page()
        ana.page.goto(server.url)
        expect(ana.page.get_by_text("read only")).to_be_visible()
        expect(ana.page.get_by_role("link", name="Chat")).to_have_count(0)
        for place, shown in READABLE.items():
            ana.page.goto(f"{server.url}#/{place.format(id=id)}")
            expect(ana.page.locator("main")).to_contain_text(shown)
            assert set(ana.page.evaluate(CONTROLS)) <= LOOKING, place


def test_leaving_finishes_what_was_said(open_page: Opening, tmp_path: Path) -> None:
    """On a server that asks nobody who they are: what a page sends as it goes comes without the headers of its context."""
    with serving(tmp_path) as server:
        kept = httpx.post(server.url + "v1/memories", json={"text": "I once lived in Faro"}, timeout=60).json()["id"]
        ana = open_page()
        ana.page.goto(server.url)
        ana.button("Forget", ana.rows.first).click()
        ana.page.goto("about:blank")
        ana.waits(lambda: httpx.get(f"{server.url}v1/memories/{kept}", timeout=60).status_code == 404)


def test_nothing_foreign_is_let_in(open_page: Opening, server: Server) -> None:
    asked: list[str] = []
    ana = open_page()
    ana.says("monday", "I like tea")
    ana.page.on("request", lambda request: asked.append(request.url))
    for place in PLACES:
        ana.go(place)
    assert asked
    assert all(url.startswith(server.url) for url in asked)
    policy = httpx.get(server.url, timeout=60).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_every_file_is_served_and_the_scripts_are_small(server: Server) -> None:
    scripts = 0
    with plain_client(server.url) as client:
        for path in STATIC.rglob("*.*"):
            name = path.relative_to(STATIC).as_posix()
            answer = client.get("/" if name == "page.html" else f"/{name}")
            assert answer.content == path.read_bytes(), (name, answer.text[:300])
            again = client.get(str(answer.url), headers={"If-None-Match": answer.headers["etag"]})
            assert again.status_code == 304
            scripts += len(gzip.compress(path.read_bytes())) if path.suffix == ".js" else 0
        assert client.head("/").status_code == 200
        assert client.get("/views/nothing.js", headers={"X-User-ID": "ana"}).status_code == 404
    assert 0 < scripts < LARGEST_SCRIPTS
    named = {each.split('"')[0] for each in (STATIC / "page.html").read_text().split('modulepreload" href="')[1:]}
    assert named | {"app.js"} == {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")}


def blanks(phrase: str) -> set[str]:
    """`{count}` and `{count:day|days}` are the same blank."""
    return {part.split("}")[0].split(":")[0] for part in phrase.split("{")[1:]}


def test_every_word_is_there_in_both_tongues_and_used(open_page: Opening) -> None:
    ana = open_page()
    said: dict[str, dict[str, str]] = ana.page.evaluate(
        "async () => ({ en: (await import('/words/en.js')).default, zh: (await import('/words/zh.js')).default })"
    )
    assert said["en"].keys() == said["zh"].keys()
    assert {name: blanks(text) for name, text in said["en"].items()} == {
        name: blanks(text) for name, text in said["zh"].items()
    }
    scripts = "".join(path.read_text() for path in STATIC.rglob("*.js") if path.parent.name != "words")
    unused = [
        name for name in said["en"] if json.dumps(name) not in scripts and f"(`{name.split('.')[0]}." not in scripts
    ]
    assert not [name for name in unused if f"(`{name.rpartition('.')[0]}.${{" not in scripts], unused


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The address of a page that is none of ours."""
    (tmp_path / "index.html").write_text("<title>elsewhere</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_address[1]}/index.html"
        site.shutdown()


def test_a_page_of_another_origin_can_neither_read_nor_write(
    open_page: Opening, server: Server, elsewhere: str
) -> None:
    """The browser has the right to the server; the page of another origin that it shows has not."""
    ana = open_page()
    ana.expected |= {"CORS", "ERR_", "403", "404", "Failed to load"}
    ana.tell("for my eyes alone")
    ana.page.goto(elsewhere)
    tried = ana.page.evaluate(
        """async (server) => {
          const attempt = (path, options) => fetch(server + path, options).then((answer) => answer.text(), () => "barred");
          const body = JSON.stringify({ text: "slipped in" });
          return [await attempt("v1/memories"), await attempt("v1/memories", { method: "POST", body }),
                  await attempt("v1/memories", { method: "POST", body, mode: "no-cors" })];
        }""",
        server.url,
    )
    assert tried[:2] == ["barred", "barred"]
    assert "memories" not in tried[2]
    assert ana.remembered() == ["for my eyes alone"]


def test_a_slow_network_shows_that_something_is_under_way(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("worth waiting for")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ana.page.route("**/v1/memories?*", hold)
    ana.go("memories")
    expect(ana.page.locator("html.waiting")).to_have_count(1)
    held[0].continue_()
    expect(ana.rows).to_have_count(1)
    expect(ana.page.locator("html.waiting")).to_have_count(0)


@pytest.mark.parametrize(("wish", "moves"), [("reduce", "none"), ("no-preference", "rise")])
def test_who_wants_no_motion_gets_none(open_page: Opening, wish: str, moves: str) -> None:
    ana = open_page(reduced_motion=wish)
    id = ana.tell("still waters")
    ana.go(f"memories?id={id}")
    panel = ana.page.locator(".panel.open")
    expect(panel.locator(".memory-text")).to_have_text("still waters")
    expect(panel).to_have_css("animation-name", moves)
    expect(ana.rows.first).to_have_css("transition-duration", "0s" if wish == "reduce" else "0.12s, 0.12s")
