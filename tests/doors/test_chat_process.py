"""The chat through a server of its own: readers who leave, a server that is killed, many who talk at once."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.homes import Home
from tests.doors.http.process import PATIENCE_SECONDS, Server
from tests.doors.http.process import serving as process
from tests.doors.serving import served as serving
from tests.doors.test_chat import read
from tests.providers.chat_wire import Act, ChatServer, Interlocutor

CHATS = 40
TURNS = 3
SESSIONS: dict[str, tuple[str, ...]] = {
    "monday": (
        "Good morning! My name is Ana Duarte.",
        "I work as a marine biologist in Lisbon.",
        "My sister Mia lives in Oslo.",
        "Our team meeting is every Tuesday at 10:30.",
        "What is a good opening question for a meeting?",
        "I am allergic to peanuts.",
        "Can you suggest a snack?",
        "My favourite colour is turquoise.",
        "The project is called Nautilus.",
        "Thanks, that is all for today!",
    ),
    "wednesday": (
        "Hello again.",
        "The team meeting moved to Thursday at 14:00.",
        "I bought a red bicycle from a man called Rui.",
        "How do I oil a chain?",
        "My dentist appointment is on 12 March.",
        "I prefer tea over coffee these days.",
        "我的猫叫豆豆。",
        "Which tea is good in the evening?",
        "The budget of Nautilus is 48000 euros.",
        "Good night!",
    ),
    "friday": (
        "Hi!",
        "Mia is expecting a baby in June.",
        "My new office is room 214.",
        "I finished reading Moby Dick.",
        "What should I read next?",
        "The Nautilus launch is planned for 5 September.",
        "I am learning the cello.",
        "How long does it take to learn the cello?",
        "My passport expires in 2031.",
        "See you!",
    ),
}
QUESTIONS = {
    "Where does my sister Mia live?": "Oslo",
    "What am I allergic to?": "peanuts",
    "When is the team meeting?": "Thursday at 14:00",
    "What is the budget of Nautilus?": "48000",
    "When is my dentist appointment?": "12 March",
    "我的猫叫什么？": "豆豆",
    "Which room is my new office?": "214",
    "When is the Nautilus launch?": "5 September",
    "When does my passport expire?": "2031",
}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with Interlocutor().running() as running:
        yield running


def within(seconds: float, look: Callable[[], Any]) -> Any:
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def say(server: Server, message: str, session: str) -> dict[str, Any]:
    answer = httpx.post(
        f"{server.url}v1/chat", json={"message": message, "session_id": session}, timeout=PATIENCE_SECONDS
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def transcript(server: Server, session: str) -> list[dict[str, Any]]:
    answer = httpx.get(f"{server.url}v1/conversations/{session}", params={"limit": 1000}, timeout=PATIENCE_SECONDS)
    return [] if answer.status_code == 404 else answer.json()["messages"]


def test_a_reader_who_leaves_ends_the_model_and_keeps_what_was_said(tmp_path: Path, model: ChatServer) -> None:
    model.acts.append(Act(text="one two three four", stalls_after=2, drips=True))
    with process(tmp_path, chat_url=model.url, chat_model="m", worker="0") as server:
        asked = {"message": "Count to four", "session_id": "s", "stream": True}
        with httpx.stream("POST", f"{server.url}v1/chat", json=asked, timeout=PATIENCE_SECONDS) as answer:
            for line in answer.iter_lines():
                if line.startswith("data:") and "two" in line:
                    break
        messages = within(
            PATIENCE_SECONDS, lambda: [each for each in transcript(server, "s") if each["role"] == "assistant"]
        )
        assert [(each["content"], each["partial"]) for each in messages] == [("one two", True)]
        assert within(PATIENCE_SECONDS, model.left.is_set), "the model's work was not ended"
        assert [each["order"] for each in transcript(server, "s")] == [0, 1]
        model.acts.append(Act(text="Five."))
        assert say(server, "Go on", "s")["reply"] == "Five."


def test_a_server_that_ends_stores_what_was_said(tmp_path: Path, model: ChatServer) -> None:
    model.acts.append(Act(text="one two three four", stalls_after=2, drips=True))
    with process(tmp_path, chat_url=model.url, chat_model="m", shutdown_s="1") as server:
        asked = {"message": "Count to four", "session_id": "s", "stream": True}
        with (
            httpx.Client(timeout=PATIENCE_SECONDS) as client,
            client.stream("POST", f"{server.url}v1/chat", json=asked) as answer,
        ):
            for line in answer.iter_lines():
                if line.startswith("data:") and "two" in line:
                    break
            server.process.terminate()
            server.process.wait(PATIENCE_SECONDS)
    with process(tmp_path, chat_url=model.url, chat_model="m") as server:
        kept = [(each["content"], each["partial"]) for each in transcript(server, "s")]
    assert kept == [("Count to four", False), ("one two", True)]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_thirty_turns_over_three_sessions_survive_being_killed(tmp_path: Path, model: ChatServer) -> None:
    for session, messages in SESSIONS.items():
        with process(tmp_path, chat_url=model.url, chat_model="m", rate_limit="0", embedder="local") as server:
            for message in messages:
                say(server, message, session)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(PATIENCE_SECONDS)
    with process(tmp_path, chat_url=model.url, chat_model="m", rate_limit="0", embedder="local") as server:
        for session, messages in SESSIONS.items():
            kept = transcript(server, session)
            assert [each["content"] for each in kept if each["role"] == "user"] == list(messages)
            assert [each["order"] for each in kept] == list(range(20))
            assert not any(each["partial"] for each in kept)
        for question, answer in QUESTIONS.items():
            reply = say(server, question, f"asking {question[:8]}")
            assert any(answer in each["content"] for each in reply["memories"]), question
            shown = [asked for asked in model.asked if asked.get("stream")][-1]["messages"]
            assert answer in shown[-1]["content"], question


async def test_a_store_that_is_gone_fails_the_turn_and_leaves_nothing(home: Home, model: ChatServer) -> None:
    async with serving(home, chat_url=model.url, chat_model="m") as app:
        await app.ana.post("/v1/chat", json={"message": "Before", "session_id": "s"})
        await app.engine.store.close()
        asked = len(model.asked)
        answer = await app.ana.post("/v1/chat", json={"message": "Into the void", "session_id": "s"})
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert len(model.asked) == asked, "no model is asked about what is not stored"
    assert home.count("SELECT count(*) FROM messages") == 2


async def test_a_store_that_goes_while_the_model_speaks_is_told(home: Home, model: ChatServer) -> None:
    model.acts.append(Act(text="one two", late_s=3.0))
    async with serving(home, chat_url=model.url, chat_model="m") as app:
        asking = asyncio.create_task(app.ana.post("/v1/chat", json={"message": "Count to two", "session_id": "s"}))
        assert await asyncio.to_thread(within, PATIENCE_SECONDS, lambda: model.asked)
        await app.engine.store.close()
        reply = (await asking).json()
        assert (reply["reply"], reply["reply_id"]) == ("one two", None)
        assert "the reply could not be stored" in reply["error"]["message"]
    assert home.count("SELECT count(*) FROM messages") == 1


async def test_many_chats_at_once_lose_and_mix_up_nothing(tmp_path: Path, model: ChatServer) -> None:
    settings = {"chat_url": model.url, "chat_model": "m", "rate_limit": "0", "user_id_source": "header"}
    with process(tmp_path, **settings) as server:
        limits = httpx.Limits(max_connections=CHATS)
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE_SECONDS, limits=limits) as client:
            await asyncio.gather(*(_chat(client, number) for number in range(CHATS)))


async def _chat(client: httpx.AsyncClient, number: int) -> None:
    """One conversation of several turns, of a person who has other conversations at the same time."""
    user, session = {"X-User-ID": f"user{number % 10}"}, f"chat{number}"
    told: list[str] = []
    for turn in range(TURNS):
        message = f"chat {number} says line {turn}"
        asked = {"message": message, "session_id": session, "stream": True}
        answer = await client.post("v1/chat", json=asked, headers=user)
        found = read(answer.text)
        assert found[-1][0] == "done", found
        said = "".join(data["text"] for name, data in found if name == "delta")
        assert said == "Ana lives in Lyon."
        told += [message, said]
    kept = (await client.get(f"v1/conversations/{session}", headers=user)).json()["messages"]
    assert [each["content"] for each in kept] == told
    assert [each["order"] for each in kept] == list(range(2 * TURNS))
    assert json.dumps(kept).count(f"chat {number} says") == TURNS
