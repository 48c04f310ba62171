"""Memories on the page: look, find, open, change, pin, archive, forget and think better of it."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from tests.browser.conftest import Opening
from tests.providers.chat_wire import Act, ChatServer

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>{{7*7}} ${7*7}"


def test_an_empty_page_teaches_and_what_is_told_shows_at_once(open_page: Opening) -> None:
    ana = open_page()
    expect(ana.page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    ana.page.get_by_label("Something to remember").fill("I prefer tea over coffee")
    ana.button("Remember").click()
    expect(ana.page.get_by_text("Remembered.", exact=True)).to_be_visible()
    expect(ana.rows).to_have_count(1)
    expect(ana.rows.first).to_contain_text("saved by hand")
    assert ana.remembered() == ["I prefer tea over coffee"]


def test_filters_and_search_find_and_are_in_the_address(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("The standup is at ten", type="fact", theme="work", tags=["meeting"])
    ana.tell("I like jasmine tea", type="preference", theme="home")
    ana.go("memories?theme=work")
    expect(ana.rows).to_have_count(1)
    expect(ana.rows.first).to_contain_text("#meeting")
    chips = ana.page.get_by_role("group", name="Theme")
    expect(chips.get_by_role("button", name="work")).to_have_attribute("aria-pressed", "true")
    ana.button("Any theme", chips).click()
    expect(ana.rows).to_have_count(2)
    ana.page.get_by_label("Search").fill("jasmine")
    expect(ana.rows).to_have_count(1)
    expect(ana.page.get_by_role("status").filter(has_text="1 found")).to_be_visible()
    assert "q=jasmine" in ana.page.url
    ana.page.reload()
    expect(ana.rows).to_have_count(1)
    ana.page.get_by_label("Search").fill("zeppelin")
    expect(ana.page.get_by_role("heading", name="Nothing matches")).to_be_visible()


def test_what_is_typed_is_found_by_words_and_by_meaning(open_page: Opening) -> None:
    ana = open_page()
    for text in ("Our dog is called Mia", "The ferry leaves at noon"):
        ana.tell(text)
    ana.go("memories")
    ana.embedded()
    search = ana.page.get_by_label("Search")
    search.press_sequentially("ferr")
    expect(ana.rows.first).to_contain_text("The ferry leaves")
    search.fill("hound")
    expect(ana.rows.first).to_contain_text("Our dog is called Mia")


def test_one_memory_tells_where_it_comes_from_and_what_it_replaced(open_page: Opening) -> None:
    ana = open_page()
    ana.says("monday", "The launch is in March")
    message = ana.api.get("/v1/conversations/monday").json()["messages"][0]["id"]
    ana.tell("The launch is in March", key="launch")
    id = ana.tell("The launch is in May", key="launch", source_conversation_id="monday", source_message_id=message)
    ana.go(f"memories?id={id}")
    panel = ana.page.get_by_label("Memory", exact=True)
    expect(panel).to_contain_text("What it replaced")
    expect(panel.get_by_role("button", name="The launch is in March")).to_be_visible()
    expect(panel.locator("blockquote")).to_contain_text("The launch is in March")
    expect(panel).to_contain_text("words and meaning")
    panel.get_by_role("link", name="Open the conversation").click()
    expect(ana.page.locator(".turn.marked")).to_contain_text("The launch is in March")


def test_one_memory_tells_where_it_was_used(open_page: Opening, model: ChatServer) -> None:
    ana = open_page()
    id = ana.tell("I am allergic to hazelnuts")
    model.acts.append(Act(text="No hazelnuts for you [m1]."))
    talk = {"message": "Am I allergic to hazelnuts or anything else?", "session_id": "lunch"}
    assert ana.api.post("/v1/chat", json=talk).is_success
    ana.go(f"memories?id={id}")
    panel = ana.page.get_by_label("Memory", exact=True)
    expect(panel).to_contain_text("Where it was used")
    expect(panel).to_contain_text("named as m1")
    panel.get_by_role("link", name="No hazelnuts for you").click()
    reply = ana.page.locator(".turn.marked")
    expect(reply.locator(".said")).to_have_text("No hazelnuts for you [m1].")
    expect(reply.locator(".cited a")).to_have_attribute("href", f"#/memories?id={id}")
    ana.api.delete(f"/v1/memories/{id}")
    ana.page.reload()
    expect(reply.locator(".said")).to_have_text("No hazelnuts for you [m1].")
    expect(reply.locator(".used")).to_have_count(0)


def test_a_telling_that_was_merged_can_be_taken_out_again(open_page: Opening) -> None:
    ana = open_page()
    id = ana.tell("The cellar door sticks")
    ana.tell("the cellar  door sticks!")
    ana.go(f"memories?id={id}")
    panel = ana.page.get_by_label("Memory", exact=True)
    expect(panel).to_contain_text("Told 2 times")
    ana.button("Make it a memory of its own", panel).click()
    expect(panel).not_to_contain_text("Told 2 times")
    assert sorted(ana.remembered()) == ["The cellar door sticks", "the cellar  door sticks!"]


def test_edit_pin_archive_and_restore(open_page: Opening) -> None:
    ana = open_page()
    id = ana.tell("My office is room 12")
    ana.go(f"memories?id={id}")
    panel = ana.page.get_by_label("Memory", exact=True)
    ana.button("Edit", panel).click()
    ana.page.get_by_label("Text", exact=True).fill("My office is room 21")
    panel.get_by_label("Type").select_option("note")
    panel.get_by_label("Theme").fill("work")
    panel.get_by_label("Tags").fill("office, room")
    ana.button("Save", panel).click()
    expect(panel.locator(".memory-text")).to_have_text("My office is room 21")
    expect(ana.rows.first).to_contain_text("note · work · #office · #room")
    ana.button("Pin", panel).click()
    expect(ana.button("Unpin", panel)).to_be_visible()
    ana.button("Archive", panel).click()
    expect(ana.button("Restore", panel)).to_be_visible()
    assert ana.remembered(status="archived") == ["My office is room 21"]
    ana.button("Restore", panel).click()
    expect(ana.button("Archive", panel)).to_be_visible()
    (kept,) = ana.api.get("/v1/memories").json()["items"]
    assert (kept["text"], kept["pinned"], kept["type"], kept["tags"]) == (
        "My office is room 21",
        True,
        "note",
        ["office", "room"],
    )


def test_forgetting_can_be_undone_until_it_is_final(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("I live in Porto")
    ana.tell("I live near the sea, too")
    ana.go("memories")
    ana.page.clock.install()
    ana.button("Forget", ana.rows.first).click()
    expect(ana.rows).to_have_count(1)
    ana.button("Undo").click()
    expect(ana.rows).to_have_count(2)
    ana.page.clock.run_for(60_000)
    assert len(ana.remembered()) == 2
    ana.button("Forget", ana.rows.first).click()
    ana.page.clock.run_for(8_500)
    expect(ana.page.get_by_text(re.compile("Forgotten for good: 1 memory"))).to_be_visible()
    assert len(ana.remembered()) == 1


def test_forgetting_takes_along_what_was_said_if_one_wants(open_page: Opening) -> None:
    ana = open_page()
    ana.says("monday", "I keep bees on the roof", "How nice.")
    message = ana.api.get("/v1/conversations/monday").json()["messages"][0]["id"]
    id = ana.tell("I keep bees on the roof", source_conversation_id="monday", source_message_id=message)
    ana.go(f"memories?id={id}")
    ana.page.clock.install()
    ana.button("Forget, and what I said").click()
    ana.page.clock.run_for(8_500)
    expect(ana.page.get_by_text("Forgotten for good: 1 memory, and 1 message that said it.")).to_be_visible()
    assert [each["content"] for each in ana.api.get("/v1/conversations/monday").json()["messages"]] == ["How nice."]


def test_a_pair_that_may_not_both_be_true_is_decided_by_its_owner(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("I like coffee")
    receipt = ana.api.post("/v1/memories", json={"text": "I like tea"}).json()
    assert receipt["conflicts"], "the two are no conflict any more: choose another pair"
    ana.go("memories?status=active")
    card = ana.page.locator(".disputes .card")
    expect(card).to_contain_text("Which of these is true?")
    card.locator(".columns > div").filter(has_text="tea").get_by_role("button", name="This one").click()
    expect(card).to_have_count(0)
    assert ana.remembered() == ["I like tea"]


def test_hostile_text_is_text_everywhere(open_page: Opening) -> None:
    eve = open_page()
    id = eve.tell(HOSTILE, theme="<b>theme</b>", tags=["<i>tag</i>"])
    eve.says("<u>session</u>", HOSTILE, HOSTILE)
    for place in (
        "memories",
        f"memories?id={id}",
        "lab?q=onerror",
        "conversations?id=%3Cu%3Esession%3C%2Fu%3E",
        "controls",
    ):
        eve.go(place)
        expect(eve.page.locator("main")).to_contain_text(re.compile("onerror|Controls"))
        assert eve.page.locator("main img, main script, main b, main i, main u").count() == 0
        assert "owned" not in eve.page.title()


def test_ten_thousand_scroll_with_a_few_rows_drawn(open_page: Opening) -> None:
    ana, count = open_page(), 10_000
    ana.tell("note 1 of many")
    ana.multiplies(count)
    ana.go("memories")
    expect(ana.page.get_by_text(f"{count:,} remembered")).to_be_visible()
    expect(ana.rows.first).to_be_visible()
    ana.page.locator(".virtual").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(ana.page.locator(f'[aria-posinset="{count}"]')).to_be_visible()
    assert ana.rows.count() < 60


def test_who_scrolls_far_waits_only_for_where_they_stop(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("note 1 of many")
    ana.multiplies(10_000)
    ana.go("memories")
    expect(ana.rows.first).to_be_visible()
    held: list[Route] = []
    scrolling = True

    def hold(route: Route) -> None:
        held.append(route) if scrolling else route.continue_()

    ana.page.route("**/v1/memories?*", hold)
    for part in (0.2, 0.4, 0.6, 0.8, 1):
        ana.page.locator(".virtual").evaluate("(list, part) => { list.scrollTop = list.scrollHeight * part }", part)
        ana.page.wait_for_timeout(100)
    assert 1 <= len(held) <= 2
    scrolling = False
    for route in held:
        route.continue_()
    expect(ana.page.locator(".virtual-row[aria-posinset='10000']")).to_be_visible()


def test_by_keyboard_alone(open_page: Opening) -> None:
    ana = open_page()
    for number in range(3):
        ana.tell(f"thing number {number}")
    ana.go("memories")
    expect(ana.rows).to_have_count(3)
    press = ana.page.keyboard.press
    press("/")
    expect(ana.page.get_by_label("Search")).to_be_focused()
    press("Escape")
    ana.rows.first.focus()
    press("ArrowDown")
    expect(ana.rows.nth(1)).to_be_focused()
    press("p")
    expect(ana.rows.nth(1).get_by_label("Unpin")).to_be_visible()
    ana.rows.nth(1).focus()
    press("Enter")
    expect(ana.page.get_by_role("heading", name="Memory", exact=True)).to_be_focused()
    press("Escape")
    expect(ana.page.locator(".panel.open")).to_have_count(0)
    ana.page.locator("body").press("g")
    press("c")
    expect(ana.page.get_by_label("Your message")).to_be_visible()
    ana.page.locator("h1 a").focus()
    press("?")
    expect(ana.page.get_by_role("dialog")).to_contain_text("Pin or unpin")


def test_two_tabs_see_the_same_memory(open_page: Opening) -> None:
    first = open_page()
    second = open_page(first, path="memories")
    first.page.get_by_label("Something to remember").fill("said in the first tab")
    first.button("Remember").click()
    expect(first.rows).to_have_count(1)
    expect(second.rows).to_contain_text("said in the first tab")
    second.button("Pin", second.rows.first).click()
    expect(first.button("Unpin", first.rows.first)).to_be_visible()
    first.api.post("/v1/memories", json={"text": "said by an assistant"})
    expect(first.rows).to_have_count(1)
    first.page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(first.rows).to_have_count(2)


def test_what_somebody_else_forgot_is_not_pinned(open_page: Opening) -> None:
    ana = open_page()
    id = ana.tell("soon to be gone")
    ana.go("memories")
    expect(ana.rows).to_have_count(1)
    ana.api.delete(f"/v1/memories/{id}")
    ana.expected.add("404")
    ana.button("Pin", ana.rows.first).click()
    expect(ana.page.locator(".notice.bad")).to_be_visible()
    expect(ana.button("Pin", ana.rows.first)).to_be_visible()


def test_a_failing_network_takes_back_what_was_shown_too_early(open_page: Opening) -> None:
    ana = open_page()
    ana.expected |= {"ERR_", "Failed to load"}
    ana.tell("kept through the storm")
    ana.go("memories")
    expect(ana.rows).to_have_count(1)

    def fails(route: Route) -> None:
        route.abort()

    ana.page.route("**/v1/memories/**", fails)
    ana.button("Pin", ana.rows.first).click()
    expect(ana.page.get_by_text("The server can't be reached.")).to_be_visible()
    expect(ana.button("Pin", ana.rows.first)).to_be_visible()
    ana.rows.first.click()
    expect(ana.page.locator(".panel").get_by_role("alert")).to_be_visible()
    ana.page.unroute("**/v1/memories/**", fails)
    ana.button("Try again", ana.page.locator(".panel")).click()
    expect(ana.page.locator(".memory-text")).to_have_text("kept through the storm")


def test_a_server_that_is_gone_is_said_until_it_is_back(open_page: Opening) -> None:
    ana = open_page()
    ana.expected |= {"ERR_", "Failed to load"}
    ana.tell("there before")
    ana.go("memories")
    expect(ana.rows).to_have_count(1)
    ana.context.set_offline(True)
    ana.page.get_by_label("Search").fill("before")
    expect(ana.page.locator("#away")).to_contain_text("Trying again")
    expect(ana.page.locator(".empty").get_by_role("alert")).to_contain_text("can't be reached")
    ana.context.set_offline(False)
    expect(ana.page.locator("#away")).to_be_empty()
    expect(ana.rows.first).to_contain_text("there before")
    expect(ana.rows.first.locator("mark")).to_have_text("before")


def test_a_server_that_is_gone_is_said_once_and_in_the_place_of_what_is_missing(open_page: Opening) -> None:
    ana = open_page(role="admin")
    ana.expected |= {"ERR_", "Failed to load"}
    ana.tell("there before")
    missing = {
        "controls": ("Memory", "remembered"),
        "operations": ("Nothing to mend.", "Requests"),
        "lab?q=before": ("there before",),
    }
    for place, shown in missing.items():
        ana.context.set_offline(True)
        ana.go(place)
        expect(ana.page.locator("#away")).to_contain_text("Trying again")
        for each in ana.page.locator("main").get_by_role("alert").all():
            expect(each).to_contain_text("can't be reached")
        expect(ana.page.locator("main").get_by_role("alert").first).to_be_visible()
        assert ana.page.locator(".notice.bad").count() <= 1, place
        ana.context.set_offline(False)
        expect(ana.page.locator("#away")).to_be_empty()
        for words in shown:
            expect(ana.page.locator("main")).to_contain_text(words)
        expect(ana.page.locator("main").get_by_role("alert")).to_have_count(0)


def test_a_late_answer_does_not_replace_a_newer_one(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("a walnut tree")
    ana.tell("a lemon tree")
    ana.go("memories")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "walnut" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    ana.page.route("**/v1/memories/search", hold)
    with ana.page.expect_request(lambda request: "walnut" in (request.post_data or "")):
        ana.page.get_by_label("Search").fill("walnut")
    ana.page.get_by_label("Search").fill("lemon")
    expect(ana.rows).to_have_count(1)
    expect(ana.rows.first).to_contain_text("lemon")
    for route in held:
        route.continue_()
    ana.page.wait_for_load_state("networkidle")
    expect(ana.rows.first).to_contain_text("lemon")


def test_the_one_that_is_open_is_marked_and_what_is_gone_is_said_plainly(open_page: Opening) -> None:
    ana = open_page()
    ana.expected.add("404")
    id = ana.tell("the one to open")
    ana.tell("another one")
    ana.go("memories")
    ana.rows.filter(has_text="the one to open").click()
    marked = ana.page.locator(".virtual-row[aria-current]")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("the one to open")
    ana.button("Close", ana.page.locator(".panel")).click()
    expect(marked).to_have_count(0)
    ana.api.delete(f"/v1/memories/{id}")
    ana.go(f"memories?id={id}")
    expect(ana.page.locator(".panel").get_by_role("alert")).to_have_text(
        "There is no such memory here, or not any more."
    )
    expect(ana.button("Try again")).to_have_count(0)


def test_what_is_only_looked_at_does_not_count_as_used(open_page: Opening) -> None:
    ana = open_page()
    id = ana.tell("I am allergic to hazelnuts")
    ana.go("memories?q=hazelnuts")
    expect(ana.rows).to_have_count(1)
    ana.go("lab?q=hazelnuts&b=companion")
    expect(ana.page.locator(".hits li")).to_have_count(2)
    ana.go(f"memories?id={id}")
    facts = ana.page.locator(".panel .fact-list")
    expect(facts).to_contain_text("never yet")
    assert ana.api.post("/v1/memories/search", json={"query": "hazelnuts"}).json()["hits"]
    ana.waits(lambda: bool(ana.api.get(f"/v1/memories/{id}").json()["access_count"]))
    assert ana.api.get(f"/v1/memories/{id}").json()["access_count"] == 1


def test_what_was_removed_before_saving_is_named_in_words(open_page: Opening) -> None:
    ana = open_page()
    ana.page.get_by_label("Something to remember").fill(
        "card 4111 1111 1111 1111, key sk-abcdefghijklmnopqrstuvwx1234567890"
    )
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".notice").filter(has_text="Removed before saving")).to_contain_text("card number")
    expect(ana.page.locator(".notice").filter(has_text="Removed before saving")).to_contain_text("API key")


def test_why_there_is_no_vector_is_said(open_page: Opening) -> None:
    ana = open_page()
    ana.tell("a memory with a vector")
    ana.go("memories")
    ana.page.route(
        "**/v1/memories?*",
        lambda route: route.fulfill(
            json={
                **(page := route.fetch().json()),
                "items": [
                    {**each, "embedding": "error", "embedding_error": "the model refused"} for each in page["items"]
                ],
            }
        ),
    )
    ana.page.reload()
    expect(ana.page.locator(".badge.error")).to_have_attribute("title", "the model refused")
