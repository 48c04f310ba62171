"""Load: many people at once against the real server, four questions to one thing to remember, and every write counted afterwards.

The server runs as its users run it, in a process of its own on loopback, with its own model. Each person has one connection and
pauses between requests, so that all together ask `rate` times a second; a rate of 0 leaves out the pauses. Times are the
server's own (`Server-Timing`) and the client's, which include waiting for a turn on a shared machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter

from bench.report import Row, percentile
from bench.texts import note, questions

PATIENCE_S = 60.0
START_S = 180.0
WRITES = 0.2
COLUMNS = {
    "what": "",
    "requests": "requests",
    "per_s": "per s",
    "errors": "errors",
    "lost": "lost",
    "server_p50_ms": "server p50",
    "server_p95_ms": "server p95",
    "client_p50_ms": "client p50",
    "client_p95_ms": "client p95",
}


@dataclass(frozen=True)
class Load:
    store: str = "sqlite"
    users: int = 1000
    seconds: float = 60.0
    rate: float = 200.0
    workers: int = 1
    embedder: str = "auto"


@dataclass
class Seen:
    """What one kind of request came to."""

    server_ms: list[float] = field(default_factory=list)
    client_ms: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def row(self, what: str, seconds: float) -> Row:
        count = len(self.client_ms)
        return {
            "what": what,
            "requests": count,
            "per_s": count / seconds,
            "errors": self.errors.total(),
            "kinds_of_errors": dict(self.errors),
            "server_p50_ms": percentile(self.server_ms, 0.50),
            "server_p95_ms": percentile(self.server_ms, 0.95),
            "client_p50_ms": percentile(self.client_ms, 0.50),
            "client_p95_ms": percentile(self.client_ms, 0.95),
        }


class Person:
    """One connection, kept open, with just enough HTTP to be quick."""

    def __init__(self, name: str, port: int) -> None:
        self.name, self._port = name, port
        self.stored = 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, float, bytes]:
        """Status, the server's own milliseconds, and the body of the answer."""
        if self._streams is None or self._streams[0].at_eof():  # an idle connection that the server has let go
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        sent = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-User-ID: {self.name}\r\n"
        if sent:
            head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
        writer.write(head.encode() + b"\r\n" + sent)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        size = re.search(r"^content-length: (\d+)", answer, re.IGNORECASE | re.MULTILINE)
        took = re.search(r"^server-timing: total;dur=([\d.]+)", answer, re.IGNORECASE | re.MULTILINE)
        content = await reader.readexactly(int(size[1]) if size else 0)
        return int(answer.split(" ", 2)[1]), float(took[1]) if took else 0.0, content

    async def leave(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def run(load: Load) -> list[Row]:
    async with serving(load) as port:
        people = [Person(f"person-{number}", port) for number in range(load.users)]
        await _each(people, 64, _arrive)
        await _settled(people)
        seen = {"recall": Seen(), "write": Seen()}
        started = perf_counter()
        await asyncio.gather(*(_visit(person, load, seen, started) for person in people))
        took = perf_counter() - started
        missing = await _missing(people)
        rows = [what.row(name, took) for name, what in seen.items()]
        both = Seen(
            seen["recall"].server_ms + seen["write"].server_ms,
            seen["recall"].client_ms + seen["write"].client_ms,
            seen["recall"].errors + seen["write"].errors,
        )
        rows[1]["lost"] = missing
        return [*rows, {**both.row("all", took), "lost": missing}]


async def _arrive(person: Person) -> None:
    """Everyone keeps something and has asked once before it counts: a server that runs knows its people."""
    await _write(person, f"{person.name} lives in house {person.name[7:]}", Seen())
    await _request(person, Seen(), "/v1/memories/search", {"query": "Where does everyone live?"}, (200,))


async def _settled(people: Sequence[Person]) -> None:
    """Until what everyone brought has its embedding: moving in is another bench's business."""
    deadline = perf_counter() + START_S
    for person in people:
        while perf_counter() < deadline:
            _, _, content = await person.ask("GET", "/v1/items?limit=1")
            if b'"pending"' not in content:
                break
            await asyncio.sleep(0.5)


async def _visit(person: Person, load: Load, seen: dict[str, Seen], started: float) -> None:
    """One person's time at the server: a question or something to remember, a pause, and again."""
    chance = Random(person.name)
    asked = list(questions(50, seed=chance.randrange(10**6)))
    pause = load.users / load.rate if load.rate else 0.0
    number = chance.randrange(10**9)
    await asyncio.sleep(chance.random() * pause)
    while perf_counter() - started < load.seconds:
        if chance.random() < WRITES:
            number += 1
            await _write(person, note(chance, number), seen["write"])
        else:
            await _request(person, seen["recall"], "/v1/memories/search", {"query": chance.choice(asked)}, (200,))
        left = max(0.0, load.seconds - (perf_counter() - started))
        await asyncio.sleep(min(left, chance.expovariate(1 / pause)) if pause else 0)


async def _write(person: Person, text: str, seen: Seen) -> None:
    answer = await _request(person, seen, "/v1/memories", {"text": text}, (200, 201))
    if answer is not None and answer["outcome"] == "stored":
        person.stored += 1


async def _request(
    person: Person, seen: Seen, path: str, body: object, expected: Sequence[int]
) -> dict[str, object] | None:
    before = perf_counter()
    try:
        async with asyncio.timeout(PATIENCE_S):
            status, server_ms, content = await person.ask("POST", path, body)
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as problem:
        seen.errors[type(problem).__name__] += 1
        await person.leave()
        return None
    seen.client_ms.append((perf_counter() - before) * 1000)
    seen.server_ms.append(server_ms)
    if status not in expected:
        seen.errors[str(status)] += 1
        return None
    found: dict[str, object] = json.loads(content)
    return found


async def _missing(people: Sequence[Person]) -> int:
    """Acknowledged writes that are not there."""
    there: dict[str, int] = {}

    async def count(person: Person) -> None:
        await person.leave()
        _, _, content = await person.ask("GET", "/v1/memories?limit=1")
        there[person.name] = json.loads(content)["total"]
        await person.leave()

    await _each(people, 64, count)
    return sum(max(0, person.stored - there[person.name]) for person in people)


async def _each(people: Sequence[Person], at_once: int, act: Callable[[Person], Awaitable[None]]) -> None:
    gate = asyncio.Semaphore(at_once)

    async def one(person: Person) -> None:
        async with gate:
            await act(person)

    await asyncio.gather(*(one(person) for person in people))


@asynccontextmanager
async def serving(load: Load, **more: str) -> AsyncIterator[int]:
    """The real server, in a process of its own; the port it listens on."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-load-"))
    log = folder / "server.log"
    settings = {
        "RECOLLECT_DATA_DIR": str(folder),
        "RECOLLECT_STORE": "postgres" if load.store == "postgres" else str(folder / "load.db"),
        "RECOLLECT_USER_ID_SOURCE": "header",
        "RECOLLECT_EMBEDDER": load.embedder,
        "RECOLLECT_WORKERS": str(load.workers),
    }
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "recollect", "serve", "--port", "0"),
            env=os.environ | settings | more,
            stdout=out,
            stderr=out,
        )
    try:
        yield await _port(process, log)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def _port(process: asyncio.subprocess.Process, log: Path) -> int:
    """Where it listens, once it answers."""
    deadline = perf_counter() + START_S
    while perf_counter() < deadline and process.returncode is None:
        told = re.search(r"http://127\.0\.0\.1:(\d+)/", await asyncio.to_thread(log.read_text))
        if told:
            person = Person("nobody", int(told[1]))
            try:
                status, _, _ = await person.ask("GET", "/readyz")
            except (OSError, asyncio.IncompleteReadError):
                status = 0
            await person.leave()
            if status == 200:
                return int(told[1])
        await asyncio.sleep(0.2)
    said = await asyncio.to_thread(log.read_text)
    raise RuntimeError(f"the server did not start: {said[-2000:]}")
