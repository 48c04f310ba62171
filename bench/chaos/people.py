"""People who use two servers while things break: they remember, say, ask and forget, and note what they were promised.

Each keeps to one server and turns to the other when it hangs up, as behind a balancer. Of what nobody answered for they ask again
with the same text until somebody does, which must do no harm. Everybody keeps the same number of memories and conversations, so
that the servers are in the same state at the end as they were at the beginning.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Any

from bench.chaos.ledger import Fate, Ledger
from bench.load import Person
from bench.texts import PEOPLE, PLACES, THINGS

PATIENCE_S = 30.0
PAUSE_S = 0.25
KEPT = 20
TALKS, TURNS = 3, 5
"""How many conversations everybody keeps, and of how many turns."""
SILENT = ("hung up", "no answer")
WEIGHTS = {"write": 0.3, "say": 0.15, "ask": 0.55}


@dataclass(frozen=True)
class Answer:
    """`kind` is empty where all went well; otherwise what went wrong, in a word or two."""

    kind: str
    status: int = 0
    body: Any = None
    unknown: bool = False
    """Whether it may have been done all the same."""


@dataclass
class Errors:
    """By kind: what is promised in trouble, and what is not. `hit` tells whether a server had a reason for an error of some
    kind since some time."""

    hit: Callable[[int, float, str], bool]
    promised: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def note(self, what: str, answer: Answer, server: int, since: float) -> None:
        typed = answer.kind in ("503", "503 unknown")
        promised = typed or (answer.kind in SILENT and self.hit(server, since, answer.kind))
        (self.promised if promised else self.broken)[f"{what}: {answer.kind}"] += 1
        if not promised and len(self.examples) < 20:
            self.examples.append(f"{what} at {server}: {answer.kind} {str(answer.body)[:300]}")


@dataclass
class Books:
    """What all of them wrote down. Times are of answers that were well, by what was asked."""

    errors: Errors
    memories: Ledger = field(default_factory=Ledger)
    messages: Ledger = field(default_factory=Ledger)
    took: dict[str, list[float]] = field(default_factory=dict)
    last_ok: dict[int, float] = field(default_factory=dict)
    """By server: when it last stored something."""


class Client:
    """One person at several servers."""

    def __init__(self, name: str, ports: Sequence[int], first: int, books: Books) -> None:
        self._people = [Person(name, port) for port in ports]
        self._at = first % len(ports)
        self._books = books

    async def once(self, what: str, method: str, path: str, body: object = None, also: int = 0) -> Answer:
        """Ask where we are; whoever hangs up or says nothing is left for the other. `also`: a status that is well, too."""
        began, server = perf_counter(), self._at
        answer = await self._asked(server, method, path, body)
        if also and answer.status == also:
            return Answer("", also)
        if answer.kind:
            self._books.errors.note(what, answer, server, began)
            if answer.kind in SILENT:
                self._at = (server + 1) % len(self._people)
            return answer
        self._books.took.setdefault(what, []).append(perf_counter() - began)
        if what == "write":
            self._books.last_ok[server] = perf_counter()
        return answer

    async def leave(self) -> None:
        for each in self._people:
            await each.leave()

    async def _asked(self, server: int, method: str, path: str, body: object) -> Answer:
        person = self._people[server]
        try:
            async with asyncio.timeout(PATIENCE_S):
                status, _, content = await person.ask(method, path, body)
        except TimeoutError:
            await person.leave()
            return Answer("no answer", unknown=True)
        except (OSError, asyncio.IncompleteReadError) as problem:
            await person.leave()
            return Answer("hung up", unknown=not isinstance(problem, ConnectionRefusedError))
        return understood(status, content)


def understood(status: int, content: bytes) -> Answer:
    try:
        told = json.loads(content)
    except ValueError:
        return Answer(f"{status} without JSON", status, content[:200], unknown=True)
    if status < 300:
        return Answer("", status, told)
    error = told.get("error", {}) if isinstance(told, dict) else {}
    if status == 503 and error.get("code") == "unavailable":
        unknown = error.get("details", {}).get("outcome") == "unknown"
        return Answer("503 unknown" if unknown else "503", status, told, unknown)
    kind = "503 by whom?" if status == 503 else str(status)
    return Answer(kind, status, told, unknown=status >= 500)


class Somebody:
    def __init__(self, name: str, ports: Sequence[int], books: Books, seed: int, number: int = 0) -> None:
        self.name = name
        self._client = Client(name, ports, number, books)
        self._books = books
        self._chance = Random(f"{seed} {name}")
        self._number = 0
        self._mine: deque[tuple[str, str]] = deque()
        self._talks: deque[tuple[str, list[str]]] = deque()
        self.pause_s = PAUSE_S
        """Between two attempts at the same."""

    async def move_in(self) -> None:
        while len(self._mine) < KEPT:
            await self._write(lambda: False)
        while len(self._talks) < TALKS or len(self._talks[-1][1]) < TURNS:
            await self._say(lambda: False)
        await self._ask()

    async def live(self, pause_s: float, over: Callable[[], bool]) -> None:
        await asyncio.sleep(self._chance.random() * pause_s)
        while not over():
            what = self._chance.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
            if what == "write":
                await self._write(over)
                await self._make_room(over)
            elif what == "say":
                await self._say(over)
                await self._end_talks(over)
            else:
                await self._ask()
            await asyncio.sleep(self._chance.expovariate(1 / pause_s))
        await self.leave()

    async def write(self, over: Callable[[], bool]) -> str | None:
        """One memory; its id, unless nobody could say before it was over."""
        await self._write(over)
        return self._mine[-1][0] if self._mine else None

    async def visit(self, over: Callable[[], bool]) -> None:
        """Say something, remember something, ask, and never come back."""
        await self._say(over)
        await self._write(over)
        await self._ask()
        await self.leave()

    async def state(self, id: str) -> str:
        """That of the embedding."""
        answer = await self._client.once("look", "GET", f"/v1/memories/{id}/why")
        return str(answer.body["embedding"]["state"]) if not answer.kind else ""

    async def leave(self) -> None:
        await self._client.leave()

    def _text(self) -> str:
        self._number += 1
        word = "".join(self._chance.choices("bcdfghjklmnpqrstvwxz", k=9))
        chosen = self._chance.choice
        return f"Parcel {word} of {self.name}: {chosen(THINGS)} for {chosen(PEOPLE)}, {chosen(PLACES)}, {self._number}"

    async def _write(self, over: Callable[[], bool]) -> None:
        text = self._text()
        ledger = self._books.memories
        ledger.asked(text)
        answer = await self._insist("write", "POST", "/v1/memories", {"text": text}, over)
        if not answer.kind:
            ledger.settle(text, Fate.KEPT)
            self._mine.append((answer.body["id"], text))
        elif not answer.unknown:
            ledger.settle(text, Fate.REFUSED)

    async def _make_room(self, over: Callable[[], bool]) -> None:
        while len(self._mine) > KEPT and not over():
            id, text = self._mine.popleft()
            self._books.memories.settle(text, Fate.LEAVING)
            answer = await self._insist("forget", "DELETE", f"/v1/memories/{id}", None, over)
            if not answer.kind:
                self._books.memories.settle(text, Fate.FORGOTTEN)
            elif not answer.unknown:
                self._books.memories.settle(text, Fate.KEPT)
                self._mine.append((id, text))

    async def _say(self, over: Callable[[], bool]) -> None:
        text = self._text()
        if not self._talks or len(self._talks[-1][1]) >= TURNS:
            self._talks.append((f"talk-{self._number}", []))
        talk, said = self._talks[-1]
        self._books.messages.asked(text)
        turn = {"role": "assistant", "content": text, "id": f"{self.name}-{self._number}"}
        answer = await self._insist("say", "POST", f"/v1/conversations/{talk}/messages", {"messages": [turn]}, over)
        if not answer.unknown:
            self._books.messages.settle(text, Fate.REFUSED if answer.kind else Fate.KEPT)
        if not answer.kind:
            said.append(text)

    async def _end_talks(self, over: Callable[[], bool]) -> None:
        """Beyond so many the oldest goes, with all that was said in it."""
        while len(self._talks) > TALKS and not over():
            talk, said = self._talks.popleft()
            self._settle_all(said, Fate.LEAVING)
            answer = await self._insist("end", "DELETE", f"/v1/conversations/{talk}", None, over)
            if not answer.kind:
                self._settle_all(said, Fate.FORGOTTEN)
            elif not answer.unknown:
                self._settle_all(said, Fate.KEPT)
                self._talks.appendleft((talk, said))

    def _settle_all(self, texts: Sequence[str], fate: Fate) -> None:
        for text in texts:
            self._books.messages.settle(text, fate)

    async def _ask(self) -> None:
        words = self._chance.choice(self._mine)[1] if self._mine else "anything"
        await self._client.once("ask", "POST", "/v1/memories/search", {"query": words})

    async def _insist(self, what: str, method: str, path: str, body: object, over: Callable[[], bool]) -> Answer:
        """Until somebody says how it ended. What was done by an earlier attempt that nobody answered for is done."""
        answer = await self._client.once(what, method, path, body)
        maybe_done = answer.unknown
        while answer.kind and (maybe_done or answer.status == 0) and not over():
            await asyncio.sleep(self.pause_s)
            gone = 404 if method == "DELETE" and maybe_done else 0
            answer = await self._client.once(what, method, path, body, gone)
            maybe_done = maybe_done or answer.unknown
        return Answer(answer.kind, answer.status, answer.body, unknown=maybe_done) if answer.kind else answer
