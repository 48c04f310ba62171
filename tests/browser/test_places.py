"""The other places of the page: the search lab, the chat, conversations, controls, operations, and incognito in all of them."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Opening
from tests.providers.chat_wire import Act, ChatServer


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


def test_a_model_that_fails_is_said_and_nothing_typed_is_lost(open_page: Opening, model: ChatServer) -> None:
    ana = open_page(path="chat")
    ana.expected.add("503")
    model.acts.extend([Act(status=400, body=b"{}")] * 5)
    ana.page.get_by_label("Your message").fill("Is anybody there?")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant").get_by_role("alert")).to_be_visible()
    model.acts.clear()


def test_orders_to_the_memory_are_carried_out_in_words(open_page: Opening) -> None:
    ana = open_page(path="chat")
    ana.page.get_by_label("Your message").fill("Remember that my bike is red")
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant .said")).not_to_be_empty()
    ana.waits(lambda: len(ana.remembered()) == 1)


def test_incognito_cannot_be_overlooked_and_leaves_nothing(open_page: Opening, model: ChatServer) -> None:
    ana = open_page()
    ana.tell("I own a lighthouse")
    ana.button("Incognito").click()
    banner = ana.page.locator("#banner")
    expect(banner).to_contain_text("nothing is remembered")
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
    ana = open_page(path="controls")
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
    ana.button("New space").click()
    ana.page.get_by_label("Its name").fill("work")
    ana.button("Open").click()
    expect(ana.page.get_by_role("heading", name="Memory in work")).to_be_visible()


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
    ana.button("Erase everything", dialog).click()
    expect(ana.page.get_by_role("heading", name="Everything is erased")).to_be_visible()
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
    for chart in ("Requests in 5 s", "Waiting for a vector", "Recalls that found something"):
        expect(boss.page.locator("figure").filter(has_text=chart)).to_be_visible()
    expect(boss.page.get_by_text("1 memories looked at.")).to_be_visible()
    expect(boss.page.get_by_role("heading", name="Who makes the vectors")).to_be_visible()
