"""A hundred people in three tenants, with the same words, ids, sessions and tags: nobody sees or touches what is another's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from recollect.engine import Engine, browse
from recollect.engine.embedding import embed
from recollect.errors import Conflict, NotFound
from recollect.model import EmbeddingState, Filter, Listing, Query, Scope, Target
from tests.api.homes import Home, engine_over, open_store

PEOPLE = 100
FEW = 30
WORDS = ("ferry", "lighthouse", "harbour", "lamp", "tea", "茶", "mirror", "garden")
SHARED_ID = "same-for-everyone"
SESSION = "the-same-talk"
TAG = "shared"
SEARCHES = (
    ("native", Filter()),
    ("native", Filter(kinds=("message",), sessions=(SESSION,))),
    ("recall", Filter(kinds=("memory",), tags=(TAG,))),
)


@dataclass(frozen=True)
class Person:
    """`name` occurs in everything this person stored, and in nothing else."""

    scope: Scope
    name: str

    @property
    def own_id(self) -> str:
        return f"only-{self.name}"


async def crowd(engine: Engine, count: int) -> list[Person]:
    """Users of the same name in each of three tenants, each with a memory of their own."""
    people = [Person(Scope(f"tenant{number % 3}", f"user{number // 3}"), f"person{number}x") for number in range(count)]
    await asyncio.gather(*(furnish(engine, person) for person in people))
    await embed.drain(engine)
    return people


async def furnish(engine: Engine, person: Person) -> None:
    chance = Random(person.name)

    def words() -> str:
        return f"{person.name} {' '.join(chance.sample(WORDS, 4))}"

    labels = {"tags": [TAG], "theme": "common", "key": "plan"}
    await engine.remember(person.scope, {"content": words(), "id": SHARED_ID, "value": person.name, **labels})
    await engine.remember(person.scope, {"content": words(), "id": person.own_id, "tags": [TAG]})
    turns = [{"role": "user", "content": words(), "id": f"turn-{n}", "name": person.name} for n in range(2)]
    await engine.add_turns(person.scope, SESSION, turns)
    await engine.add_turns(person.scope, f"talk-{person.name}", [{"role": "user", "content": words()}])


@pytest.fixture
async def engine(home: Home) -> AsyncIterator[Engine]:
    engine = engine_over(await open_store(home))
    yield engine
    await engine.close()


LOOKING = {"memory.recalled", "memory.read", "memory.listed", "themes.listed", "conversation.read", "exported"}


async def snapshot(engine: Engine, scope: Scope) -> dict[str, Any]:
    """Everything a person can see without searching."""
    targets = [Target("memory", SHARED_ID), Target("message", "turn-0")]
    return {
        "export": [line async for line in engine.export(scope)],
        "themes": await engine.themes(scope),
        "list": await engine.list(scope, Listing(tags=(TAG,))),
        "audit": [each for each in await engine.audit_trail(scope, 100, 0) if each.action not in LOOKING],
        "talk": await browse.conversation(engine, scope, SESSION, 100),
        "vectors": await browse.embedding_status(engine, scope, targets),
    }


async def test_no_path_shows_anything_of_anybody_else(engine: Engine) -> None:
    for person in await crowd(engine, PEOPLE):
        for recipe, within in SEARCHES:
            query = Query(text=" ".join(WORDS), recipe=recipe, limit=200, filter=within, min_relevance=0.0)
            found = await engine.recall(person.scope, query)
            assert len(found) >= 2, "the words are everyone's, so one's own are found"
            assert all(person.name in hit.content for hit in found)
        seen = await snapshot(engine, person.scope)
        assert {memory.id for memory in seen["list"]} == {SHARED_ID, person.own_id}
        texts = [line["content"] for line in seen["export"] if "content" in line]
        assert len(texts) == 5
        assert all(person.name in text for text in texts)
        assert [(theme.slug, theme.count) for theme in seen["themes"]] == [("common", 1)]
        assert len(seen["audit"]) == 4
        assert all(person.name in message.content for message in seen["talk"][1])
        assert (await engine.get(person.scope, SHARED_ID)).value == person.name
        assert {status.state for status in seen["vectors"].values()} == {EmbeddingState.READY}


Attempt = Callable[[Engine, Scope, str], Awaitable[object]]
ATTEMPTS: dict[str, Attempt] = {
    "get": lambda engine, scope, id: engine.get(scope, id),
    "update": lambda engine, scope, id: engine.revise(scope, id, {"content": "taken over"}),
    "pin": lambda engine, scope, id: engine.revise(scope, id, {"pinned": True}),
    "forget": lambda engine, scope, id: engine.forget(scope, [id]),
    "forget with own": lambda engine, scope, id: engine.forget(scope, [SHARED_ID, id]),
    "conversation": lambda engine, scope, id: browse.conversation(engine, scope, id, 10),
    "forget conversation": lambda engine, scope, id: engine.forget_conversation(scope, id),
}


async def test_what_is_foreign_looks_exactly_like_what_is_not_there(engine: Engine) -> None:
    everyone = await crowd(engine, FEW)
    chance = Random(7)
    for way, attempt in ATTEMPTS.items():
        for thief, victim in (chance.sample(everyone, 2) for _ in range(3)):
            before = await snapshot(engine, victim.scope), await snapshot(engine, thief.scope)
            refusals = []
            for id in (f"talk-{victim.name}" if "conversation" in way else victim.own_id, "nowhere-at-all"):
                with pytest.raises(NotFound) as refusal:
                    await attempt(engine, thief.scope, id)
                refusals.append((refusal.value.message.replace(id, "…"), sorted(refusal.value.details)))
            assert refusals[0] == refusals[1], way
            assert (await snapshot(engine, victim.scope), await snapshot(engine, thief.scope)) == before, way
    foreign = Target("memory", everyone[0].own_id)
    status = await browse.embedding_status(engine, everyone[1].scope, [foreign])
    assert status[foreign].state is EmbeddingState.OFF


async def test_what_one_does_to_ones_own_is_nobody_elses_business(engine: Engine) -> None:
    """The same ids are everyone's: changing, forgetting and erasing one's own leaves all others as they were."""
    everyone = await crowd(engine, FEW)
    actors, bystanders = everyone[:4], everyone[4:]
    before = {person: await snapshot(engine, person.scope) for person in bystanders}
    await engine.revise(actors[0].scope, SHARED_ID, {"content": "changed", "tags": ["other"], "theme": "elsewhere"})
    await engine.forget(actors[1].scope, [SHARED_ID])
    await engine.forget_conversation(actors[2].scope, SESSION)
    await engine.erase_user(actors[3].scope.tenant, actors[3].scope.user)
    lines = [line async for line in engine.export(actors[0].scope)]
    await engine.import_lines(actors[3].scope, lines)
    for person in bystanders:
        assert await snapshot(engine, person.scope) == before[person]
    again = await engine.remember(actors[0].scope, {"content": "what another forgot", "id": actors[1].own_id})
    assert again.outcome == "stored"
    with pytest.raises(Conflict):
        await engine.remember(actors[0].scope, {"content": "something else", "id": actors[0].own_id})


async def test_a_grave_refuses_its_owner_only(engine: Engine) -> None:
    """What one person forgot, another may still say: tombstones and twins are each person's own."""
    one, other = await crowd(engine, 2)
    text = "the safe is behind the mirror"
    for person in (one, other):
        assert (await engine.remember(person.scope, {"content": text, "id": "secret"})).outcome == "stored"
    await engine.forget(one.scope, ["secret"])
    assert (await engine.remember(one.scope, {"content": text})).outcome == "refused"
    assert (await engine.remember(other.scope, {"content": text})).outcome == "merged"
    same_user_elsewhere = one.scope.within("other-space")
    assert (await engine.remember(same_user_elsewhere, {"content": text})).outcome == "stored"
