"""Our own golden set: what a person tells an assistant, what is asked later, and what should come back.

A case's store holds its `setup_memories` and the pools it names as `distractors`, under a user of its own; memories marked with
another `user` belong to somebody else and must never be seen. All cases share one store, so a leak has every chance to show.

Beyond id, setup_memories, query, expected_retrievals and rubric a case may say

    acceptable    retrievals a fair reader would neither ask for nor mind; they count neither for nor against
    expect_empty  nothing stored has to do with the question
    top           the expected ones must be among so many, not just among five (which of the near-duplicates comes first?)
    at_least      so many of the expected ones will do (more is relevant than fits)
    query_pad, query_chars   the question goes on with this text up to so many characters
    types, limit, token_budget, now   how it is asked

and a memory: type, tags, key, theme, importance, created_at, expires_at, user, forgotten.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.progress import track

from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.engine.remembering.drafts import checked_choice, checked_time
from recollect.model import Filter, MemoryType, Query, Recall, Scope
from recollect.policy.budget import count_tokens
from recollect.policy.recipes import recipe_named

SHIPPED = Path(__file__).with_name("memory_golden_dataset.json")
TENANT, SPACE = "eval", "golden"
DEEP = 100
SCOPES_AT_ONCE = 16
MEMORY_FIELDS = {"content", "type", "tags", "key", "theme", "importance", "created_at", "expires_at"}


class BadSet(ValueError):
    """The set contradicts itself; the message lists where."""


@dataclass(frozen=True)
class Setup:
    """One memory to be stored before the question."""

    fields: Mapping[str, Any]
    user: str | None
    forgotten: bool

    @property
    def content(self) -> str:
        return str(self.fields["content"])


@dataclass(frozen=True)
class Golden:
    """One case."""

    id: str
    lang: str
    category: str
    memories: tuple[Setup, ...]
    query: str
    expected: frozenset[str]
    acceptable: frozenset[str]
    top: int | None
    at_least: int | None
    types: tuple[str, ...]
    limit: int | None
    token_budget: int | None
    now: str | None
    rubric: str


@dataclass(frozen=True)
class GoldenSet:
    version: str
    cases: tuple[Golden, ...]


@dataclass(frozen=True)
class Shown:
    """One memory that came back; `content` is what was stored, however much of it was shown."""

    content: str
    relevance: float
    score: float
    own: bool


@dataclass(frozen=True)
class Missing:
    """An expected memory that didn't come, and where it would have stood without a cut; no rank when nothing found it."""

    content: str
    rank: int | None
    relevance: float | None


@dataclass(frozen=True)
class Answer:
    case: Golden
    shown: tuple[Shown, ...]
    seconds: float
    tokens: int
    """Counted here, over the texts as they were shown."""
    budget: int | None
    degraded: tuple[str, ...]
    missing: tuple[Missing, ...] = ()


def read(path: Path = SHIPPED) -> GoldenSet:
    document = json.loads(path.read_text(encoding="utf-8"))
    found = list(problems(document))
    if found:
        raise BadSet(f"{path.name}: " + "; ".join(found))
    return GoldenSet(document["version"], tuple(_case(each, document) for each in document["cases"]))


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Everything in the set that can't be meant."""
    ids = [case["id"] for case in document["cases"]]
    yield from (f"{id} is there twice" for id in sorted({id for id in ids if ids.count(id) > 1}))
    pools = document.get("pools", {})
    for case in document["cases"]:
        own = {each["content"] for each in case["setup_memories"] if "user" not in each and not each.get("forgotten")}
        for text in (*case["expected_retrievals"], *case.get("acceptable", ())):
            if text not in own:
                yield f"{case['id']} expects what is not stored: {text[:60]!r}"
        if bool(case["expected_retrievals"]) == bool(case.get("expect_empty")):
            yield f"{case['id']} must expect either something or nothing"
        yield from (
            f"{case['id']} names no pool: {name!r}" for name in case.get("distractors", ()) if name not in pools
        )
        for memory in case["setup_memories"]:
            unknown = set(memory) - MEMORY_FIELDS - {"user", "forgotten"}
            yield from (f"{case['id']} has a memory with an unknown field {name!r}" for name in sorted(unknown))


def _case(case: Mapping[str, Any], document: Mapping[str, Any]) -> Golden:
    memories = [*case["setup_memories"]]
    for name in case.get("distractors", ()):
        memories += document["pools"][name]
    return Golden(
        id=case["id"],
        lang=case.get("lang", "en"),
        category=case.get("category", "other"),
        memories=tuple(_setup(each, document.get("created_at")) for each in memories),
        query=_padded(case["query"], case.get("query_pad", ""), case.get("query_chars", 0)),
        expected=frozenset(case["expected_retrievals"]),
        acceptable=frozenset(case.get("acceptable", ())),
        top=case.get("top"),
        at_least=case.get("at_least"),
        types=tuple(case.get("types", ())),
        limit=case.get("limit"),
        token_budget=case.get("token_budget"),
        now=case.get("now", document.get("now")),
        rubric=case["rubric"],
    )


def _setup(memory: Mapping[str, Any], created_at: str | None) -> Setup:
    fields = {name: value for name, value in memory.items() if name in MEMORY_FIELDS}
    if created_at is not None:
        fields.setdefault("created_at", created_at)
    return Setup(fields, memory.get("user"), bool(memory.get("forgotten")))


def _padded(query: str, pad: str, chars: int) -> str:
    return query + pad * -(-(chars - len(query)) // len(pad)) if pad and len(query) < chars else query


class Stage:
    """The set, stored: who owns which id, and what it said."""

    def __init__(self, engine: Engine, cases: Sequence[Golden]) -> None:
        self._engine = engine
        self.cases = cases
        self._said: dict[tuple[str, str], str] = {}

    async def store(self) -> None:
        """Users side by side, the memories of one in order: a later value under a key supersedes the earlier."""
        room = asyncio.Semaphore(SCOPES_AT_ONCE)

        async def one(case: Golden) -> None:
            async with room:
                for memory in case.memories:
                    await self._remember(case, memory)

        for done in track(asyncio.as_completed([one(case) for case in self.cases]), f"{'storing':9}", len(self.cases)):
            await done
        await embed.drain(self._engine)

    async def _remember(self, case: Golden, memory: Setup) -> None:
        scope = scope_of(case, memory.user)
        receipt = await self._engine.remember(scope, memory.fields)
        if receipt.id is None:
            raise BadSet(f"{case.id}: {memory.content[:60]!r} was refused ({receipt.reason})")
        self._said[scope.user, receipt.id] = memory.content
        if memory.forgotten:
            await self._engine.forget(scope, [receipt.id])
            del self._said[scope.user, receipt.id]

    async def ask(self, recipe: str, doing: str = "asking") -> list[Answer]:
        """Every question once, one after another, so that the times are those of a question asked alone."""
        await self._engine.recall(Scope(TENANT, "nobody", SPACE), Query(text="warm up", recipe=recipe))
        return [await self._answer(case, recipe) for case in track(self.cases, f"{doing:9}")]

    async def _answer(self, case: Golden, recipe: str) -> Answer:
        query = question(case, recipe)
        started = perf_counter()
        recalled = await self._engine.recall(scope_of(case), query)
        seconds = perf_counter() - started
        shown = tuple(self._shown(case, recalled))
        lost = case.expected - {each.content for each in shown}
        return Answer(
            case=case,
            shown=shown,
            seconds=seconds,
            tokens=sum(count_tokens(hit.content) for hit in recalled),
            budget=recipe_named(recipe).token_budget if case.token_budget is None else case.token_budget,
            degraded=recalled.trace.degraded,
            missing=await self._look_for(case, query, lost) if lost else (),
        )

    async def _look_for(self, case: Golden, query: Query, lost: frozenset[str]) -> tuple[Missing, ...]:
        """Asked again without a cut, off the clock, so that whoever tunes can see how near a miss was."""
        uncut = replace(query, min_relevance=0.0, limit=DEEP, token_budget=1_000_000)
        everything = list(self._shown(case, await self._engine.recall(scope_of(case), uncut)))
        places = {each.content: (rank, each.relevance) for rank, each in enumerate(everything, start=1)}
        return tuple(Missing(text, *places.get(text, (None, None))) for text in sorted(lost))

    def _shown(self, case: Golden, recalled: Recall) -> Iterable[Shown]:
        """A hit is recognised by its id in its owner's books: a foreign text that reads the same is still foreign."""
        for hit in recalled:
            said = self._said.get((scope_of(case).user, hit.target.id))
            yield Shown(hit.content if said is None else said, hit.relevance, hit.score, said is not None)


def scope_of(case: Golden, user: str | None = None) -> Scope:
    return Scope(TENANT, case.id if user is None else f"{case.id}.{user}", SPACE)


def question(case: Golden, recipe: str) -> Query:
    types = tuple(checked_choice(each, MemoryType, "type") for each in case.types)
    return Query(
        text=case.query,
        recipe=recipe,
        limit=case.limit,
        filter=Filter(kinds=("memory",), types=types),
        token_budget=case.token_budget,
        now=checked_time(case.now, "now") if case.now else None,
    )
