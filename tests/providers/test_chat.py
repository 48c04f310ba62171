"""A chat model behind a real HTTP server, and one with a script: the same promises, kept by both.

Then what only a server can do to us: stall, stumble, hang up, refuse, and answer with rubbish.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from recollect.errors import InvalidInput, NotAllowed, Unavailable
from recollect.model import Piece, Usage, Utterance
from recollect.ports import Chat
from recollect.providers.chat import CompatibleChat, open_chat
from recollect.testing import ScriptedChat
from tests.providers.chat_wire import USUAL, Act, ChatServer

ASKED = (Utterance("system", "Be brief."), Utterance("user", "Where does Ana live?"))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().running() as running:
        yield running


@pytest.fixture
def chat(server: ChatServer) -> CompatibleChat:
    return CompatibleChat(server.url, "tiny", "sk-1", timeout_s=60.0, first_wait_s=0.01)


@pytest.fixture
def hasty(server: ChatServer) -> CompatibleChat:
    """For those who are kept waiting."""
    return CompatibleChat(server.url, "tiny", "sk-1", timeout_s=1.0, first_wait_s=0.01)


@pytest.fixture(params=["scripted", "compatible"])
async def model(request: pytest.FixtureRequest, server: ChatServer) -> AsyncIterator[Chat]:
    made: Chat = ScriptedChat(otherwise=USUAL) if request.param == "scripted" else CompatibleChat(server.url, "tiny")
    yield made
    await made.close()


async def test_a_whole_answer_comes_with_its_tokens(model: Chat) -> None:
    answer = await model.complete(ASKED)
    assert (answer.text, answer.usage, answer.finish) == (USUAL, Usage(6, 4), "stop")


async def test_a_stream_is_the_answer_in_pieces_and_ends_with_its_tokens(model: Chat) -> None:
    pieces = [piece async for piece in model.stream(ASKED)]
    assert "".join(piece.text for piece in pieces) == USUAL
    assert len(pieces) > 2
    assert pieces[-1] == Piece(usage=Usage(6, 4), finish="stop")
    assert not any(piece.finish for piece in pieces[:-1])


async def test_a_schema_may_be_asked_for(model: Chat) -> None:
    assert (await model.complete(ASKED, schema=SCHEMA)).text == USUAL


async def test_many_at_once_are_kept_apart(model: Chat) -> None:
    answers = await asyncio.gather(*(model.complete(ASKED) for _ in range(20)))
    assert {answer.text for answer in answers} == {USUAL}


async def test_a_closed_model_says_nothing(model: Chat) -> None:
    await model.close()
    with pytest.raises(Unavailable):
        await model.complete(ASKED)
    with pytest.raises(Unavailable):
        await anext(aiter(model.stream(ASKED)))


async def test_the_wire(server: ChatServer, chat: CompatibleChat) -> None:
    await chat.complete(ASKED, schema=SCHEMA, max_tokens=50)
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where does Ana live?"}]
    assert server.asked == [
        {
            "model": "tiny",
            "messages": said,
            "max_tokens": 50,
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            },
        }
    ]
    assert server.keys == ["Bearer sk-1"]


@pytest.mark.parametrize(("knows", "asked"), [({"json_object"}, "json_object"), (set(), None)])
async def test_a_server_that_knows_no_schemas_is_told_in_words(
    server: ChatServer, chat: CompatibleChat, knows: set[str], asked: str | None
) -> None:
    server.knows = knows
    assert (await chat.complete(ASKED, schema=SCHEMA)).text == USUAL
    last = server.asked[-1]
    assert last.get("response_format", {}).get("type") == asked
    assert json.dumps(SCHEMA) in last["messages"][-2]["content"]
    assert last["messages"][-1] == {"role": "user", "content": "Where does Ana live?"}
    before = len(server.asked)
    await chat.complete(ASKED, schema=SCHEMA)
    assert len(server.asked) == before + 1, "what it can't do is asked of it once"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_stumble_is_tried_again(server: ChatServer, chat: CompatibleChat, status: int) -> None:
    server.acts.append(Act(status=status))
    assert (await chat.complete(ASKED)).text == USUAL
    assert len(server.asked) == 2


async def test_a_stream_that_has_not_begun_is_tried_again(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(Act(status=503))
    assert "".join([piece.text async for piece in chat.stream(ASKED)]) == USUAL


async def test_what_keeps_failing_is_unavailable(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.extend([Act(status=503)] * 9)
    with pytest.raises(Unavailable, match="HTTP 503"):
        await chat.complete(ASKED)
    assert len(server.asked) == 3


async def test_a_long_wait_asked_for_is_not_sat_out(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(Act(status=429, headers={"Retry-After": "120"}))
    start = time.monotonic()
    with pytest.raises(Unavailable):
        await chat.complete(ASKED)
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("status", "error"), [(401, NotAllowed), (403, NotAllowed), (404, InvalidInput), (400, InvalidInput)]
)
async def test_refusals_are_final_and_quote_nothing(
    server: ChatServer, chat: CompatibleChat, status: int, error: type[Exception]
) -> None:
    said = json.dumps({"error": {"message": "bad key sk-1 for: Where does Ana live?"}}).encode()
    server.acts.append(Act(status=status, body=said))
    with pytest.raises(error) as caught:
        await chat.complete(ASKED)
    assert len(server.asked) == 1
    assert "Ana" not in str(caught.value)
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>gateway</html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b"[" * 100_000,
        b'{"error": {"message": "overloaded"}}',
        b"\xff\xfe\x00",
    ],
)
async def test_rubbish_is_unavailable(server: ChatServer, chat: CompatibleChat, body: bytes) -> None:
    server.acts.append(Act(body=body))
    with pytest.raises(Unavailable):
        await chat.complete(ASKED)


async def test_an_empty_answer_is_an_answer(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(Act(body=b'{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}'))
    answer = await chat.complete(ASKED)
    assert (answer.text, answer.usage, answer.finish) == ("", None, "length")


async def test_an_endless_answer_is_cut_off(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(Act(body=b'{"choices": [' + b" " * (9 * 1024 * 1024)))
    with pytest.raises(Unavailable, match="more than"):
        await chat.complete(ASKED)


async def test_silence_is_not_waited_for_for_ever(server: ChatServer, hasty: CompatibleChat) -> None:
    server.acts.extend([Act(late_s=600)] * 3)
    with pytest.raises(Unavailable, match="within 1 s"):
        await hasty.complete(ASKED)


@pytest.mark.parametrize("act", [Act(stalls_after=2), Act(stalls_after=2, drips=True), Act(hangs_up_after=2)])
async def test_a_stream_that_dries_up_keeps_what_came_and_says_so(
    server: ChatServer, hasty: CompatibleChat, act: Act
) -> None:
    server.acts.append(act)
    came: list[str] = []

    async def listen() -> None:
        async for piece in hasty.stream(ASKED):
            came.append(piece.text)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(Unavailable):
        await listen()
    assert came == ["Ana", " lives"]
    assert len(server.asked) == 1, "half an answer is not asked for again"


@pytest.mark.parametrize(
    "event", [b"data: {oops\n\n", b'data: {"error": {"message": "out of memory"}}\n\n', b"data: 3\n\n"]
)
async def test_rubbish_in_a_stream_ends_it(server: ChatServer, chat: CompatibleChat, event: bytes) -> None:
    server.acts.append(Act(event=event))
    with pytest.raises(Unavailable):
        async for _ in chat.stream(ASKED):
            pass


async def test_comments_and_unknown_fields_are_passed_over(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(
        Act(event=b': hello\n\nevent: ping\n\ndata: {"choices": [{"delta": {"role": "x"}}]}\n\n', usage=False)
    )
    pieces = [piece async for piece in chat.stream(ASKED)]
    assert "".join(piece.text for piece in pieces) == USUAL
    assert pieces[-1].usage is None


async def test_a_caller_that_goes_away_ends_the_models_work(server: ChatServer, chat: CompatibleChat) -> None:
    server.acts.append(Act(stalls_after=2, drips=True))
    heard = asyncio.Event()

    async def listen() -> None:
        async for _ in chat.stream(ASKED):
            heard.set()

    listening = asyncio.create_task(listen())
    await asyncio.wait_for(heard.wait(), 60)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert await asyncio.to_thread(server.left.wait, 60)


async def test_nobody_there() -> None:
    chat = CompatibleChat("http://127.0.0.1:9/v1", "tiny", timeout_s=1, first_wait_s=0.01)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        await chat.complete(ASKED)


@pytest.mark.parametrize(
    ("url", "model", "key"),
    [
        ("ftp://x", "m", ""),
        ("nonsense", "m", ""),
        ("http://", "m", ""),
        ("http://x", " ", ""),
        ("http://x", "m", "a b"),
    ],
)
def test_what_cannot_work_is_refused_at_once(url: str, model: str, key: str) -> None:
    with pytest.raises(InvalidInput):
        open_chat(url, model, key)


def test_without_an_address_there_is_no_model() -> None:
    assert open_chat("", "") is None
