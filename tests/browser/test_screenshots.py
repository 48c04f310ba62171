"""The places of the page as pictures, with a life in them: `build/screenshots` holds what the README may show."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opening
from tests.browser.looking import Person
from tests.providers.chat_wire import Act, ChatServer

FOLDER = Path(__file__).parents[2] / "build" / "screenshots"
WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
LIFE: tuple[tuple[str, str, str, list[str]], ...] = (
    ("The standup is at ten, on Tuesdays and Thursdays", "fact", "work", ["meeting"]),
    ("Prefers uv to pip for Python projects", "preference", "work", ["python"]),
    ("Decided to keep the archive in Postgres, not in files", "decision", "work", ["archive"]),
    ("Allergic to hazelnuts", "fact", "health", ["food"]),
    ("Runs along the river before breakfast", "pattern", "health", []),
    ("Likes jasmine tea in the afternoon", "preference", "home", ["food"]),
    ("The spare key is with the neighbour on the second floor", "note", "home", []),
    ("Flies to Lisbon on 12 March, back on the 19th", "fact", "travel", ["lisbon"]),
    ("Wants a window seat on long flights", "preference", "travel", []),
    ("Answer in short sentences, without bullet points", "instruction", "style", []),
)
TALK = (
    "I'm off to Lisbon on 12 March and back on the 19th. Anything I should book?",
    "A window seat, as you like it on long flights. Shall I look for a table by the river, too?",
)
PLACES = {
    "memories": "memories?id={id}",
    "lab": "lab?q=what+should+I+know+about+food%3F&a=native&b=companion&budget=40",
    "conversations": "conversations?id=lisbon",
    "controls": "controls",
    "operations": "operations",
}
LOOKS = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light"},
    "chinese": {"viewport": WIDE, "locale": "zh-CN"},
}


def lived(ana: Person, model: ChatServer) -> str:
    ana.says("lisbon", *TALK)
    message = ana.api.get("/v1/conversations/lisbon").json()["messages"][0]["id"]
    ids = []
    for text, type, theme, tags in LIFE:
        source = {"source_conversation_id": "lisbon", "source_message_id": message} if "Lisbon" in text else {}
        ids.append(ana.tell(text, type=type, theme=theme, tags=tags, pinned="Allergic" in text, **source))
    model.acts.append(Act(text="On 12 March, and you are back on the 19th [m1]."))
    asked = {"message": "When do I fly to Lisbon, and when am I back?", "session_id": "lisbon"}
    assert ana.api.post("/v1/chat", json=asked).is_success
    return ids[7]


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
@pytest.mark.parametrize("look", LOOKS)
def test_each_place_has_its_picture(open_page: Opening, model: ChatServer, look: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    ana = open_page(role="admin", **LOOKS[look])
    id = lived(ana, model)
    for name, place in PLACES.items():
        ana.go(place.format(id=id))
        expect(ana.page.locator(".memory-text, .hits .card, .turn, .controls .card, .chart").first).to_be_visible()
        ana.page.wait_for_load_state("networkidle")
        taken = ana.page.screenshot(path=FOLDER / f"{name}-{look}.png")
        assert taken.startswith(b"\x89PNG")
    ana.go("chat")
    model.acts.append(Act(text="Anything without hazelnuts [m2]. A jasmine tea would go with it [m1]."))
    question = "I am allergic to hazelnuts: what food and tea may I have in the afternoon?"
    ana.page.locator(".composer textarea").fill(question)
    ana.page.keyboard.press("Enter")
    expect(ana.page.locator(".turn.assistant .said")).to_contain_text("hazelnuts [m2]")
    expect(ana.page.locator(".turn.busy")).to_have_count(0)
    ana.page.screenshot(path=FOLDER / f"chat-{look}.png")
