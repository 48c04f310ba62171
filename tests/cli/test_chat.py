"""`recollect chat`: a line in, a reply out, with the memories it used, and orders for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import CommandLine
from tests.providers.chat_wire import Act, ChatServer


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer().running() as running:
        yield running


@pytest.fixture
def talking(cli: CommandLine, model: ChatServer) -> CommandLine:
    cli.env |= {"RECOLLECT_CHAT_URL": model.url, "RECOLLECT_CHAT_MODEL": "scripted"}
    return cli


def test_once_without_a_model_answers_from_memory(cli: CommandLine) -> None:
    cli("add", "The spare key is under the blue flowerpot")
    said = cli("chat", "--once", "Where is the spare key?").stdout
    assert "No chat model is configured" in said
    assert "“The spare key is under the blue flowerpot” [m1]" in said


def test_once_with_a_model_shows_what_was_used(talking: CommandLine, model: ChatServer) -> None:
    talking("add", "The spare key is under the blue flowerpot")
    model.acts.append(Act(text="Under the flowerpot [m1]."))
    result = talking("chat", "--once", "Where is the spare key?")
    assert result.stdout.strip() == "Under the flowerpot [m1]."
    assert "*[m1] you told me on 20" in result.stderr


def test_once_as_json(talking: CommandLine) -> None:
    reply = talking.json("chat", "--once", "Good evening", "--session", "s")
    assert reply["text"] == "Ana lives in Lyon."
    assert reply["started"]["session_id"] == "s"
    assert reply["done"]["model"] == "scripted"


@pytest.mark.parametrize("answering", [[], ["--json"]])
def test_a_model_that_fails_ends_with_unavailable(
    talking: CommandLine, model: ChatServer, answering: list[str]
) -> None:
    model.acts.append(Act(status=400, body=b"{}"))
    result = talking("chat", "--once", "Good evening", *answering, code=5)
    assert bool(answering) or "`recollect doctor` looks into it" in result.stderr


def test_a_conversation_with_orders(talking: CommandLine, model: ChatServer) -> None:
    lines = [
        "My boat is called Nautilus",
        "/session",
        "/new",
        "/memories",
        "/help",
        "forget that",
        "/quit",
        "never read",
    ]
    result = talking("chat", "--session", "first", input="\n".join(lines))
    assert "first" in result.stderr
    assert "a new conversation" in result.stderr
    assert "memories are not shown" in result.stderr
    assert "/memories" in result.stderr
    assert "nothing here to forget" in result.stdout, "a new conversation knows nothing of the last message"
    assert "you>" not in result.stdout, "a pipe is not asked"
    assert [asked["messages"][-1]["content"] for asked in model.asked if asked.get("stream")] == [lines[0]]


def test_it_goes_on_where_it_was_left(talking: CommandLine, model: ChatServer) -> None:
    talking("chat", "--session", "s", "--once", "My boat is called Nautilus")
    talking("chat", "--session", "s", input="What is it called?\n")
    words = [each["content"] for each in model.asked[-1]["messages"]]
    assert words[1] == "My boat is called Nautilus"
