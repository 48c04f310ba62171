"""The other places of the page: the search lab, the chat, conversations, controls, operations, and incognito in all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Opening
from tests.providers.chat_wire import Act, ChatServer

WATCH_ERASING = """() => {
  window.erasing = [];
  new MutationObserver(() => {
    const said = document.querySelector(".erasing [role=status]")?.textContent;
    if (said && said !== window.erasing.at(-1)) window.erasing.push(said);
  }).observe(document.querySelector(".controls"), { childList: true, subtree: true });
}"""


def test_the_lab_compares_two_recipes(open_page: Opening) -> None:
    ana = open_page()
    for text in ("The ferry leaves at noon", "The ferry is blue", "Trains are late"):
        ana.tell(text)
    ana.go("lab?q=ferry&a=native&b=companion")
    columns = ana.page.locator(".results > div")
    expect(columns).to_have_count(2)
    for name, signal in (("native", "Relevance"), ("companion", "recency")):
        column = columns.filter(has=ana.page.get_by_role("heading", name=name))
        expect(column.locator("li").first).to_contain_text("ferry")
        expect(column.locator("li").first.locator(".bar").filter(has_text=signal)).to_be_visible()
    assert "b=companion" in ana.page.url


def test_the_lab_shows_where_the_budget_ends_and_what_variety_weighed(open_page: Opening) -> None:
    ana = open_page()
    for text in ("The ferry leaves at noon", "The ferry is blue", "The ferry is run by two sisters from the island"):
        ana.tell(text)
    ana.embedded()
    asked = {"query": "ferry", "recipe": "companion", "min_relevance": 0, "limit": 20}
    whole = ana.api.post("/v1/memories/search", json=asked).json()
    assert all(hit["signals"]["mmr"] <= 1 for hit in whole["hits"])
    budget = whole["hits"][0]["tokens"] + whole["hits"][1]["tokens"]
    ana.go(f"lab?q=ferry&a=companion&budget={budget}")
    kept, left = (
        ana.page.locator("ol.hits").first.locator("li"),
        ana.page.locator("ol.hits").last.locator("li.left-out"),
    )
    expect(ana.page.locator(".cut-off")).to_contain_text(f"budget of {budget} tokens ends")
    expect(kept).to_have_count(2)
    expect(left).to_have_count(1)
    assert [each.locator("a").inner_text() for each in (*kept.all(), left)] == [hit["text"] for hit in whole["hits"]]
    expect(kept.nth(1).locator(".bar").filter(has_text="Tokens so far")).to_contain_text(f"{budget} / {budget}")
    expect(kept.first.locator(".bar").filter(has_text="variety (MMR)")).to_contain_text(
        f"{whole['hits'][0]['signals']['mmr']:.2f}".rstrip("0")
    )
    ana.go("lab?q=ferry&a=companion")
    expect(ana.page.locator("ol.hits li")).to_have_count(3)
    expect(ana.page.locator(".cut-off")).to_have_count(0)


def test_a_reply_streams_with_the_memories_it_was_made_with(open_page: Opening, model: ChatServer) -> None:
    ana = open_page()
    id = ana.tell("I am allergic to hazelnuts")
    ana.go("chat")
    model.acts.append(Act(text="No hazelnuts for you [m1]."))
    ana.page.get_by_label("Your message").fill("Am I allergic to hazelnuts or anything else?")
    ana.page.keyboard.press("Enter")
    reply = ana.page.locator(".turn.assistant")
    expect(reply.locator(".said")).to_have_text("No hazelnuts for you [m1].")
    expect(reply.locator(".cited a")).to_have_attribute("href", f"#/memories?id={id}")
    assert "session=" in ana.page.url
    ana.page.reload()
    expect(ana.page.locator(".turn.assistant .said")).to_have_text("No hazelnuts for you [m1].")
    expect(reply.locator(".cited a")).to_have_attribute("href", f"#/memories?id={id}")


def test_a_model_that_fails_is_said_and_nothing_typed_is_lost(open_page: Opening, model: ChatServer) -> None:
    ana = open_page(path="chat")
    ana.expected.add("503")
    model.acts.extend([Act(status=400, body=b"{}")] * 5)
    ana.page.get_by_label("Your message").fill("Is anybody there?")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant").get_by_role("alert")).to_be_visible()
    model.acts.clear()
    ana.page.get_by_label("Your message").fill("half a thou")
    model.acts.append(Act(text="I am, now."))
    ana.button("Try again").click()
    expect(ana.page.locator(".turn.assistant .said")).to_have_text("I am, now.")
    expect(ana.page.locator(".turn.user")).to_have_text(["Is anybody there?"])
    expect(ana.page.get_by_label("Your message")).to_have_value("half a thou")


def test_orders_to_the_memory_are_carried_out_in_words(open_page: Opening) -> None:
    ana = open_page(path="chat")
    ana.page.get_by_label("Your message").fill("Remember that my bike is red")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant .said")).not_to_be_empty()
    ana.waits(lambda: len(ana.remembered()) == 1)


def test_a_word_in_the_chat_makes_the_tab_incognito_and_another_ends_it(open_page: Opening) -> None:
    ana = open_page(path="chat")
    ana.page.get_by_label("Your message").fill("Go incognito")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator("#banner")).to_contain_text("nothing is remembered")
    expect(ana.page.locator(".turn")).to_have_count(2)
    ana.page.get_by_label("Your message").fill("Stop incognito")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator("#banner")).to_be_empty()
    expect(ana.page.locator(".turn")).to_have_count(4)


def test_incognito_cannot_be_overlooked_and_leaves_nothing(open_page: Opening, model: ChatServer) -> None:
    ana = open_page()
    ana.tell("I own a lighthouse")
    ana.button("Incognito").click()
    banner = ana.page.locator("#banner")
    expect(banner).to_contain_text("nothing is remembered")
    expect(ana.page.get_by_role("heading", name="Incognito shows nothing")).to_be_visible()
    for place in ("conversations", "lab?q=lighthouse"):  # what is there is hidden, and not said to be missing
        ana.go(place)
        expect(ana.page.get_by_role("heading", name="Incognito shows nothing")).to_be_visible()
    ana.page.get_by_role("link", name="Chat").click()
    ana.page.get_by_label("Your message").fill("I also own a submarine")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant .said")).not_to_be_empty()
    expect(ana.page.locator(".turn.assistant .badge")).to_be_visible()
    ana.page.reload()
    expect(banner).to_contain_text("nothing is remembered")
    ana.button("End incognito").click()
    expect(banner).to_be_empty()
    assert ana.remembered() == ["I own a lighthouse"]
    assert ana.api.get("/v1/conversations").json()["total"] == 0


def test_conversations_are_browsed_searched_gone_on_with_taken_along_and_deleted(
    open_page: Opening, tmp_path: Path
) -> None:
    ana = open_page()
    ana.says("boats", "I bought a sailing boat", "Congratulations!")
    ana.says("bread", "My bread does not rise", "Try fresh yeast.")
    ana.go("conversations")
    expect(ana.rows).to_have_count(2)
    ana.page.get_by_label("Search").fill("yeast")
    expect(ana.rows.first).to_contain_text("yeast")
    ana.rows.first.click()
    panel = ana.page.locator(".panel.open")
    expect(panel.locator(".turn.marked")).to_contain_text("Try fresh yeast.")
    with ana.page.expect_download() as taken:
        ana.button("Export", panel).click()
    taken.value.save_as(tmp_path / "talk.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert [line["content"] for line in lines if line["kind"] == "message"] == [
        "My bread does not rise",
        "Try fresh yeast.",
    ]
    expect(panel.get_by_role("link", name="Go on")).to_have_attribute("href", "#/chat?session=bread")
    ana.page.clock.install()
    ana.button("Delete", panel).click()
    ana.page.clock.run_for(8_500)
    expect(ana.page.get_by_text("Deleted for good: 2 messages")).to_be_visible()
    assert ana.api.get("/v1/conversations/bread").status_code == 404


def test_controls_are_the_persons_own(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("something to be looked at")
    ana.go("memories")
    trail = "/v1/audit?limit=50"
    ana.waits(lambda: "memory.listed" in {each["action"] for each in ana.api.get(trail).json()["items"]})
    ana.go("controls")
    ana.page.get_by_role("switch", name="Memory Off").click()
    ana.waits(lambda: not ana.api.get("/v1/spaces/default/settings").json()["memory_enabled"])
    ana.page.get_by_label("Days to keep").fill("30")
    ana.page.keyboard.press("Tab")
    ana.page.get_by_label("Shared tags").fill("home, travel")
    ana.page.keyboard.press("Tab")
    ana.waits(lambda: ana.api.get("/v1/spaces/default/settings").json()["shared_tags"] == ["home", "travel"])
    ana.waits(lambda: ana.api.get("/v1/spaces/default/settings").json()["retention_days"] == 30)
    ana.go("controls")
    expect(ana.page.get_by_role("cell", name="settings").first).to_be_visible()
    expect(ana.page.get_by_role("cell", name="fields: Shared tags")).to_be_visible()
    opened = ana.page.get_by_role("cell", name="memories listed").first
    expect(opened).to_be_visible()
    ana.page.get_by_label("Changes only").check()
    expect(opened).to_be_hidden()
    expect(ana.page.get_by_role("cell", name="settings").first).to_be_visible()
    ana.button("New space").click()
    ana.page.get_by_label("Its name").fill("work")
    ana.button("Open").click()
    expect(ana.page.get_by_role("heading", name="Memory in the space “work”")).to_be_visible()


def test_everything_is_taken_along_brought_back_and_erased(open_page: Opening, tmp_path: Path) -> None:
    ana = open_page()
    ana.tell("a thing to take along")
    ana.go("controls")
    with ana.page.expect_download() as taken:
        ana.button("Export my data").click()
    taken.value.save_as(tmp_path / "mine.jsonl")
    assert "a thing to take along" in (tmp_path / "mine.jsonl").read_text()
    ana.button("Erase everything").click()
    dialog = ana.page.get_by_role("dialog")
    expect(ana.button("Erase everything", dialog)).to_be_disabled()
    dialog.get_by_role("textbox").fill(ana.user)
    ana.page.evaluate(WATCH_ERASING)
    ana.button("Erase everything", dialog).click()
    expect(ana.page.get_by_role("heading", name="Everything is erased")).to_be_visible()
    assert ana.page.evaluate("window.erasing")[0] == "Erasing…"
    assert ana.page.evaluate("window.erasing")[-1] == "Erasing… 1 memory and 0 messages are gone so far."
    assert ana.remembered() == []
    ana.go("controls")
    ana.page.locator("input[type=file]").set_input_files(tmp_path / "mine.jsonl")
    expect(ana.page.locator(".notice")).to_contain_text("refused")


def test_an_administrator_sees_how_the_server_fares(open_page: Opening) -> None:
    ana = open_page(path="operations")
    expect(ana.page.get_by_text("The counters are for administrators.")).to_be_visible()
    boss = open_page(role="admin")
    boss.tell("something to look after")
    boss.go("operations")
    expect(boss.page.get_by_text("1 memory looked at.")).to_be_visible()
    expect(boss.page.get_by_role("heading", name="Who makes the vectors")).to_be_visible()


def test_charts_show_what_the_server_tells(open_page: Opening) -> None:
    boss = open_page(role="admin")
    boss.page.route("**/v1/operations?*", lambda route: route.fulfill(json=told(int(route.request.url.split("=")[1]))))
    boss.go("operations")
    shown = {
        "Requests": "60",
        "Errors": "3",
        "Half answered within": "30 ms",
        "Recalls that found something": "75 %",
        "Tidied up": "0",
    }
    for title, figure in shown.items():
        chart = boss.page.locator("figure").filter(has=boss.page.get_by_text(title, exact=True))
        expect(chart.locator("strong")).to_have_text(figure)
    requests = boss.page.locator("figure").first
    expect(requests.locator("rect")).to_have_count(3)
    heights = [float(each.get_attribute("height") or 0) for each in requests.locator("rect").all()]
    assert [round(height / heights[2], 2) for height in heights] == [0.33, 0.67, 1.0]
    expect(requests.get_by_role("img")).to_have_attribute("aria-label", "Requests: 60. peak 30")
    times = boss.page.locator("figure").filter(has=boss.page.get_by_text("Half answered within", exact=True))
    expect(times.locator("polyline")).to_have_count(2)
    boss.page.get_by_label("The last").select_option("24 hours")
    expect(requests.locator("strong")).to_have_text("1,440")
    assert "minutes=1440" in boss.page.url


def test_what_the_server_names_is_said_in_chinese(open_page: Opening) -> None:
    boss = open_page(role="admin", locale="zh-CN")
    boss.tell("one memory")
    boss.expected.add("503")
    finding = {"concern": "stale", "ids": ["abc"], "why": "in English", "reason": "unused", "facts": {"days": 200}}
    report = {"space": "default", "memories": 1, "counts": {"stale": 1}, "findings": [finding]}
    boss.page.route("**/v1/health", lambda route: route.fulfill(json=report))
    boss.go("operations")
    expect(boss.page.locator("details")).to_contain_text("200 天没有提起或使用")
    boss.go("controls")
    expect(boss.page.get_by_role("cell", name="记住").first).to_be_visible()
    gone = {"error": {"code": "unavailable", "message": "the store does not answer"}}
    boss.page.route("**/v1/memories?*", lambda route: route.fulfill(status=503, json=gone))
    boss.go("memories")
    expect(boss.page.locator(".empty").get_by_role("alert")).to_contain_text("请稍后再试")
    assert "store" not in boss.page.locator("main").inner_text()


def told(minutes: int) -> dict[str, Any]:
    """Three points of an hour, with a gap in the times; of a day only how many minutes were asked for."""
    nothing = dict.fromkeys(("errors", "refused", "writes", "merged", "trimmed", "recalls", "backlog", "failed"), 0)
    unknown = dict.fromkeys(("cache_rate", "request_p95_ms", "recall_p95_ms", "embed_p50_ms", "embed_p95_ms"))

    def point(minute: int, requests: int, **more: Any) -> dict[str, Any]:
        at = {"at": f"2026-03-02T09:3{minute}:00Z", "seconds": 60, "backlog_age_s": 0, "hit_rate": None}
        return {**at, **nothing, **unknown, "request_p50_ms": None, "requests": requests, **more}

    hour = [point(1, 10, request_p50_ms=10.0), point(2, 20, errors=3), point(3, 30, request_p50_ms=30.0, hit_rate=0.75)]
    return {"since": "2026-03-02T09:30:00Z", "points": hour if minutes == 60 else [point(1, minutes)]}


def test_what_the_health_report_finds_is_archived_at_a_press(open_page: Opening) -> None:
    ana = open_page(role="admin")
    long_ago = {"created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z"}
    line = json.dumps({"kind": "memory", "id": "old", "content": "The office is at the harbour", **long_ago})
    assert ana.api.post("/v1/import", content=line, headers={"Content-Type": "application/x-ndjson"}).is_success
    ana.tell("The cat is called Mia")
    ana.go("operations")
    finding = ana.page.locator("details").filter(has_text="Stale")
    finding.locator("summary").click()
    expect(finding.get_by_role("link")).to_have_text("The office is at the harbour")
    ana.button("Archive", finding).click()
    expect(ana.page.get_by_text("Archived.")).to_be_visible()
    expect(finding).to_have_count(0)
    (kept,) = ana.api.get("/v1/memories", params={"status": "archived"}).json()["items"]
    assert kept["id"] == "old"
