"""Chats: many people in streaming conversations at once, every message and reply counted and put in order afterwards.

The server runs as its users run it. The model beside it is a script that streams a reply in pieces with pauses between, so that
all chats are under way together; each reply repeats the number it was asked about, so that none can be mixed up unseen.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from bench.load import Load, Person, serving
from bench.report import Row, percentile

TURNS = 3
PIECES = 8
PAUSE_S = 0.05
PATIENCE_S = 300.0
COLUMNS = {
    "what": "",
    "chats": "chats",
    "turns": "turns",
    "per_s": "turns per s",
    "errors": "errors",
    "lost": "lost",
    "misordered": "misordered",
    "first_p50_ms": "first piece p50",
    "first_p95_ms": "first piece p95",
    "whole_p50_ms": "whole p50",
    "whole_p95_ms": "whole p95",
}


@dataclass
class Seen:
    first_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    misordered: int = 0


async def run(store: str, chats: int, embedder: str, workers: int) -> list[Row]:
    seen = Seen()
    async with _model() as url:
        chat = {"RECOLLECT_CHAT_URL": url, "RECOLLECT_CHAT_MODEL": "script", "RECOLLECT_RATE_LIMIT": "0"}
        async with serving(Load(store, chats, workers=workers, embedder=embedder), **chat) as port:
            started = perf_counter()
            await asyncio.gather(*(_chat(port, number, seen) for number in range(chats)))
            took = perf_counter() - started
            for number in range(chats):
                await _count(port, number, seen)
    turns = len(seen.whole_ms)
    row: Row = {
        "what": store,
        "chats": chats,
        "turns": turns,
        "per_s": turns / took,
        "errors": seen.errors.total(),
        "kinds_of_errors": dict(seen.errors),
        "lost": seen.lost,
        "misordered": seen.misordered,
        "first_p50_ms": percentile(seen.first_ms, 0.50),
        "first_p95_ms": percentile(seen.first_ms, 0.95),
        "whole_p50_ms": percentile(seen.whole_ms, 0.50),
        "whole_p95_ms": percentile(seen.whole_ms, 0.95),
    }
    return [row]


async def _chat(port: int, number: int, seen: Seen) -> None:
    for turn in range(TURNS):
        before = perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_S):
                first, text = await _turn(port, number, _said(number, turn))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as problem:
            seen.errors[type(problem).__name__] += 1
            return
        if text != _reply(_said(number, turn)):
            seen.errors["another reply"] += 1
        seen.first_ms.append((first - before) * 1000)
        seen.whole_ms.append((perf_counter() - before) * 1000)


def _said(number: int, turn: int) -> str:
    return f"This is chat {number}, line {turn}."


def _reply(message: str) -> str:
    return " ".join(["I heard:", *message.split(), *["and so on"] * (PIECES - 6)])


async def _turn(port: int, number: int, message: str) -> tuple[float, str]:
    """When the first piece came, and all pieces together."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"message": message, "session_id": f"chat-{number}", "stream": True}).encode()
    head = f"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nX-User-ID: person-{number}\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    first, text, done = 0.0, "", False
    name = ""
    while line := await reader.readline():
        if line.startswith(b"event: "):
            name = line[7:].strip().decode()
        elif line.startswith(b"data: ") and name == "delta":
            first = first or perf_counter()
            text += json.loads(line[6:])["text"]
        elif line.startswith(b"data: ") and name == "done":
            done = True
    writer.close()
    if not done:
        raise ValueError("the turn did not end")
    return first, text


async def _count(port: int, number: int, seen: Seen) -> None:
    """What is there of one conversation, against what was said in it."""
    person = Person(f"person-{number}", port)
    _, _, content = await person.ask("GET", f"/v1/conversations/chat-{number}?limit=100")
    await person.leave()
    kept: list[dict[str, Any]] = json.loads(content).get("messages", [])
    expected = [text for turn in range(TURNS) for text in (_said(number, turn), _reply(_said(number, turn)))]
    found = [each["content"] for each in kept]
    seen.lost += len([text for text in expected if text not in found])
    seen.misordered += found != expected or [each["order"] for each in kept] != list(range(len(kept)))


@asynccontextmanager
async def _model() -> AsyncIterator[str]:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:  # the server ended before it asked
        writer.close()
        return
    length = re.search(r"^content-length: (\d+)", head, re.IGNORECASE | re.MULTILINE)
    asked = json.loads(await reader.readexactly(int(length[1]) if length else 0))
    if asked.get("stream"):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        message = re.findall(r"This is chat \d+, line \d+\.", asked["messages"][-1]["content"])[-1]
        for place, word in enumerate(_reply(message).split(" ")):
            piece = {"choices": [{"index": 0, "delta": {"content": f" {word}" if place else word}}]}
            writer.write(b"data: " + json.dumps(piece).encode() + b"\n\n")
            await writer.drain()
            await asyncio.sleep(PAUSE_S)
        writer.write(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    else:  # asked to read a turn: it finds nothing
        nothing = {"choices": [{"message": {"content": '{"items": []}'}, "finish_reason": "stop"}]}
        body = json.dumps(nothing).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
        writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    writer.close()
