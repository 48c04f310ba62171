"""What was said in a chat and then forgotten is gone from what its sessions noted: that would become a memory again."""

from __future__ import annotations

from recollect.testing import columns_containing, files_containing
from tests.api.homes import Home
from tests.doors.serving import Served, served

CANARY = "Quibblefrost"


def traces(home: Home) -> list[str]:
    if home.database is not None:
        return columns_containing(home.database.superuser_url, CANARY)
    return [path.name for path in files_containing(home.folder, CANARY)]


async def _told(here: Served) -> str:
    """The id of what was learnt from a chat; another asked for it."""
    for session, text in (
        ("first", f"My cat is called {CANARY}."),
        ("first", "What is my cat called?"),
        ("second", "What is my cat called?"),
    ):
        answer = await here.ana.post("/v1/chat", json={"message": text, "session_id": session})
        assert answer.status_code == 200, answer.text
    await here.engine.talks.settle()
    working = await here.ana.get("/memory/working/first")
    assert CANARY in working.text, "the session notes whom it is about"
    (id,) = [each["id"] for each in (await here.ana.get("/v1/memories")).json()["items"] if CANARY in each["text"]]
    return str(id)


async def test_a_fact_that_is_unsaid_leaves_nothing(home: Home) -> None:
    async with served(home) as here:
        id = await _told(here)
        gone = await here.ana.delete(f"/v1/memories/{id}", params={"said": "true"})
        assert gone.json()["scrubbed"] is True
        assert traces(home) == []
        working = (await here.ana.get("/memory/working/first")).json()
        assert (working["current_topic"], working["context_variables"], working["turn_count"]) == (None, {}, 2)


async def test_a_fact_that_is_forgotten_is_not_noted_any_more(home: Home) -> None:
    """Its message stays, as it was said; nothing is made of it again."""
    async with served(home) as here:
        id = await _told(here)
        assert (await here.ana.delete(f"/v1/memories/{id}")).status_code == 200
        assert CANARY not in (await here.ana.get("/memory/working/first")).text
        assert CANARY in (await here.ana.get("/v1/conversations/first")).text


async def test_an_order_in_another_session_reaches_all_of_them(home: Home) -> None:
    async with served(home) as here:
        await _told(here)
        for text in (f"forget what I told you about {CANARY}", "yes"):
            said = await here.ana.post("/v1/chat", json={"message": text, "session_id": "third"})
        assert said.json()["command"] == "forget"
        await here.engine.talks.settle()
        assert traces(home) == []
