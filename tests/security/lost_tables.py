"""People who ask of tables that they are granted and lose again, and everything that ever leaves for them.

Every table has words of its own: in its name, its rows, the questions asked of it, their answers, explanations and related
questions, and in the names given to conversations. The answerer is the worst there could be: it repeats whatever it is shown. So
what leaves tells by its words which tables it comes from, however far the way was. (Only those words are repeated: all else would
take time.)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from recollect.doors.datachat.memory import MemoryManager
from recollect.engine import Engine, EngineConfig
from recollect.engine.datachat.rules import DataRules
from recollect.engine.embedding.generations import Generations
from recollect.errors import NotFound, Unavailable
from recollect.model import AskData, DataAccess, DataAnswer, DataQuestion, Generation, Query, Scope
from recollect.policy.recipes import RECIPES
from recollect.ports import Embedder, Store
from recollect.providers.permissions.claims import ClaimPermissions
from recollect.testing import ManualClock, ScriptedAnswerer

TABLES = {"kestrel": "aqua", "osprey": "aqua", "plover": "boreal", "curlew": "boreal"}
DATABASES = ("aqua", "boreal")
SESSIONS = ("monday", "friday")
WAYS = ("query", "mixed", "talk", "bare", "fails")
KINDS = ("tbl", "row", "ask", "ans", "exp", "rel", "ttl")
CHANGES = 2
SOUGHT = " ".join(kind + bird for bird in TABLES for kind in KINDS)
NEUTRAL = "And what about the year before?"


def words_of(bird: str) -> list[str]:
    return [kind + bird for kind in KINDS]


def rows_of(bird: str) -> dict[str, Any]:
    return {"columns": ["name"], "rows": [[f"row{bird}"]], "row_count": 1, "truncated": False}


def repeated(shown: DataQuestion, kinds: Sequence[str] = KINDS) -> str:
    """All it was shown that tells of a table; or only some of it, such as rows without the name of whence they came."""
    text = repr((shown.augmented, shown.history, shown.similar))
    return " ".join(kind + bird for bird in TABLES for kind in kinds if kind + bird in text)


def answer_about(bird: str, way: str, shown: DataQuestion) -> DataAnswer:
    """By a query, by a query and what was shown besides, or in words alone: as it pleases, or repeating what was shown."""
    if way == "bare":
        return DataAnswer(answer="I can't say that.", answered=False)
    said = repeated(shown) if way != "query" else ""
    if way == "talk":
        return DataAnswer(answer=f"From before: {said}")
    if way == "mixed":
        said = repeated(shown, ("row", "ans"))
    return DataAnswer(
        answer=f"ans{bird} {said}",
        sql=f"SELECT row{bird} FROM {TABLES[bird]}.tbl{bird}",
        explanation=f"exp{bird}",
        tables=(f"{TABLES[bird]}.tbl{bird}",),
        databases=(TABLES[bird],),
        result=rows_of(bird),
        related=(f"rel{bird}?",),
    )


@dataclass
class Person:
    scope: Scope
    tables: set[str] = field(default_factory=lambda: set(TABLES))
    databases: set[str] = field(default_factory=lambda: set(DATABASES))
    asked: set[str] = field(default_factory=set)
    """Birds a query was run on."""
    bare: bool = False
    """Whether tables are granted by their names alone: then databases aren't limited."""

    @property
    def granted(self) -> set[str]:
        return {bird for bird in self.tables if TABLES[bird] in self.databases}

    @property
    def lost(self) -> list[str]:
        return [word for bird in TABLES if bird not in self.granted for word in words_of(bird)]

    def ask(self, question: str = "", **fields: Any) -> AskData:
        names = [f"tbl{bird}" if self.bare else f"{TABLES[bird]}.tbl{bird}" for bird in self.tables]
        claims = {"tables": names, "databases": ["*"] if self.bare else list(self.databases)}
        return AskData(question=question, claims=claims, **fields)


async def no_other_model(_: Generation) -> Embedder | None:
    return None


def opened(store: Store, embedder: Embedder | None = None) -> Engine:
    """With a window so small that summaries and searches matter."""
    clock = ManualClock()
    config = EngineConfig(data=DataRules(history=2, similar=2, summarise_after=2))
    engine = Engine(store, clock, config, Generations(store, clock, embedder, no_other_model))
    engine.desk.answerer = ScriptedAnswerer()
    engine.desk.permissions = ClaimPermissions("databases", "tables")
    return engine


@dataclass
class History:
    """One person's: asking, losing, being granted again; after each change everything that can be had is looked at."""

    engine: Engine
    person: Person
    chance: Random

    @property
    def answerer(self) -> ScriptedAnswerer:
        assert isinstance(self.engine.desk.answerer, ScriptedAnswerer)
        return self.engine.desk.answerer

    async def run(self, histories: int) -> None:
        """So many, each of which begins with everything granted and goes on with what was asked before."""
        for number in range(histories):
            self.person.tables, self.person.databases = set(TABLES), set(DATABASES)
            for _ in range(self.chance.randint(0, 1) if number else 3):
                await self.ask()
            for _ in range(CHANGES):
                self.change()
                await self.look()
        self.person.tables, self.person.databases = set(TABLES), set(DATABASES)
        everything = str(await self.engine.export_data(self.person.scope, self.person.ask()))
        missing = [bird for bird in self.person.asked if f"row{bird}" not in everything]
        assert not missing, f"with every grant back {missing} are still kept from {self.person.scope.user}"
        for way, text in [each async for each in self.elsewhere()]:
            assert not [word for bird in TABLES for word in words_of(bird) if word in text], (
                f"{way} shows: {text[:2000]}"
            )

    def change(self) -> None:
        """One table or database lost, or granted again."""
        if self.person.bare or self.chance.random() < 0.7:
            self.person.tables ^= {self.chance.choice(sorted(TABLES))}
        else:
            self.person.databases ^= {self.chance.choice(DATABASES)}

    async def ask(self) -> None:
        bird, way = self.chance.choice(sorted(self.person.granted)), self.chance.choice(WAYS)
        session = self.chance.choice(SESSIONS)
        name = f"ttl{bird} of ours" if self.chance.random() < 0.3 else None
        asked = self.person.ask(f"How many ask{bird} in tbl{bird}?", session_id=session, session_name=name)
        if way == "fails":
            self.answerer.add(Unavailable("not now"))
            try:
                await self.engine.ask_data(self.person.scope, asked)
            except Unavailable:
                return
        self.answerer.add(lambda shown: answer_about(bird, way, shown))
        reply = await self.engine.ask_data(self.person.scope, asked)
        self.person.asked |= {bird} if reply.answer.sql else set()
        await self.engine.desk.settle()

    async def look(self) -> None:
        """By every way there is, which must not show a word of what is lost; least of all to the answerer."""
        leaving = [text async for text in self.seen()]
        for word in self.person.lost:
            for way, text in leaving:
                assert word not in text, f"{way} shows {word} to {self.person.scope.user}: {text[:2000]}"

    async def seen(self) -> AsyncIterator[tuple[str, str]]:
        engine, scope, me = self.engine, self.person.scope, self.person.ask()
        session = self.chance.choice((*SESSIONS, "another"))
        kinds = KINDS if self.chance.random() < 0.5 else ("row", "ans", "ask")
        self.answerer.add(
            lambda shown: DataAnswer(answer=f"Before: {repeated(shown, kinds)}", related=(repeated(shown),))
        )
        reply = await engine.ask_data(scope, replace(me, question=NEUTRAL, session_id=session))
        yield "the answerer", repr(replace(self.answerer.asked[-1], access=DataAccess()))
        yield "the reply", repr(reply)
        yield "the list", repr(await engine.data_conversations(scope, me, 50, 0))
        yield "the export", repr(await engine.export_data(scope, me))
        with suppress(NotFound):
            yield "a conversation", repr(await engine.data_conversation(scope, me, session))
        assert engine.desk.permissions is not None
        access = await engine.desk.permissions.of(scope, me.claims, None)
        with suppress(NotFound):
            yield "the library", repr(await self.through_the_library(MemoryManager(engine, scope, access), session))

    async def through_the_library(self, memory: MemoryManager, session: str) -> object:
        """One of its ways, the same as the door's; all of them in turn would take long."""
        match self.chance.randrange(4):
            case 0:
                return await memory.get_conversation_history(session)
            case 1:
                return await memory.semantic_search_memory(self.person.scope.user, SOUGHT, 10)
            case 2:
                return await memory.summarize_conversation(session)
            case _:
                return await memory.get_or_create_conversation(self.person.scope.user, session)

    async def elsewhere(self) -> AsyncIterator[tuple[str, str]]:
        """By the ways that know nothing of grants, and so show nothing of the data chat at all."""
        engine, scope = self.engine, self.person.scope
        for recipe in RECIPES.values():
            yield f"recall, {recipe.name}", repr(await engine.recall(scope, Query(text=SOUGHT, recipe=recipe.name)))
        yield "conversations elsewhere", repr(await engine.conversations(scope, 50, 0))
        yield "the other export", repr([line async for line in engine.export(scope)])
        yield "the audit trail", repr((await engine.audit_trail(scope, 100, 0)).items)
        yield "its health", repr(await engine.health(scope))
        talk = await engine.converse(scope, SOUGHT, session_id="monday")
        yield "the chat", repr([event async for event in talk]).replace(SOUGHT, "")


def people(first: int, count: int) -> Iterator[tuple[int, Person]]:
    for number in range(first, first + count):
        yield number, Person(Scope("acme", f"person-{number}"), bare=number % 3 == 0)
