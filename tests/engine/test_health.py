"""The health of a memory: what is found, what is not mistaken for trouble, and what each cure does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.engine import Engine
from recollect.engine.remembering.indexing import index_all
from recollect.errors import InvalidInput
from recollect.model import Flag, Listing, Memory, Status, Target
from recollect.policy.digest import twin_digest
from recollect.policy.duplicates import fingerprint
from recollect.ports import Store, Tx
from recollect.testing.clock import ManualClock
from recollect.testing.embedder import HashEmbedder
from tests.engine.conftest import ANA, engine_over

DAY = timedelta(days=1)


def advance(engine: Engine, by: timedelta) -> None:
    assert isinstance(engine.clock, ManualClock)
    engine.clock.advance(by)


async def put(engine: Engine, *memories: Memory) -> None:
    """As an old import would have left them: stored without being compared."""
    generations = await engine.generations.to_fill()

    def work(tx: Tx) -> None:
        for memory in memories:
            tx.memories.insert(memory, twin_digest(ANA, memory.content))
        index_all(tx, memories, (), generations, engine.clock.now())

    await engine.store.write(ANA, work)


def made(engine: Engine, id: str, content: str, **fields: Any) -> Memory:
    now = engine.clock.now()
    given = {"created_at": now, "updated_at": now, "simhash": fingerprint(content), **fields}
    return Memory(id=id, content=content, **given)


async def found(engine: Engine, *concerns: str) -> dict[str, list[tuple[str, ...]]]:
    report = await engine.health(ANA)
    wanted = concerns or tuple(report.counts)
    return {concern: [each.ids for each in report.findings if each.concern == concern] for concern in wanted}


async def status(engine: Engine) -> dict[str, Status]:
    return {memory.id: memory.status for memory in await engine.list(ANA, Listing(statuses=(), limit=1000))}


async def test_a_memory_in_order_has_no_findings(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "Ana keeps bees on the roof"})
    await engine.remember(ANA, {"content": "The dentist is in Market Street"})
    await engine.flush(ANA)
    report = await engine.health(ANA)
    assert (report.memories, report.findings, report.counts) == (2, (), {})


async def test_copies_are_found_and_archived_but_for_the_one_that_is_kept(engine: Engine) -> None:
    await put(
        engine,
        made(engine, "a", "Ana keeps bees on the roof."),
        made(engine, "b", "ana keeps bees on the roof", pinned=True),
        made(engine, "c", "Ana  keeps bees on the roof!", importance=0.9),
        made(engine, "d", "Ana keeps 3 hives of bees on the roof"),
        made(engine, "e", "Ana keeps bees on the roof", key="hobby"),
    )
    await engine.flush(ANA)
    assert (await found(engine))["duplicates"] == [("b", "c", "a")]
    dry = await engine.mend(ANA, ["duplicates"])
    assert [(step.action, step.id) for step in dry.plan.steps] == [("archive", "c"), ("archive", "a")]
    assert set((await status(engine)).values()) == {Status.ACTIVE}, "nothing is done unless somebody says so"
    done = await engine.mend(ANA, ["duplicates"], dry_run=False)
    assert done.done == {"archive": 2}
    assert {id for id, its in (await status(engine)).items() if its is Status.ARCHIVED} == {"a", "c"}
    assert "duplicates" not in (await engine.health(ANA)).counts


async def test_two_pinned_copies_are_told_and_left_alone(engine: Engine) -> None:
    await put(engine, *(made(engine, id, "Ana keeps bees", pinned=True) for id in ("a", "b")))
    assert (await found(engine, "duplicates"))["duplicates"] == [("a", "b")]
    assert (await engine.mend(ANA, ["duplicates"], dry_run=False)).plan.steps == ()


async def test_what_looks_alike_and_differs_is_shown_as_near(engine: Engine) -> None:
    simhash = fingerprint("the train leaves at nine")
    await put(
        engine,
        made(engine, "a", "the train leaves at nine", simhash=simhash),
        made(engine, "b", "the train leaves at ten", simhash=simhash ^ 0b101),
        made(engine, "c", "the boat leaves at ten", simhash=simhash ^ 0b1111),
    )
    near = (await found(engine, "near_duplicates"))["near_duplicates"]
    assert ("a", "b") in near
    assert ("a", "c") not in near, "four bits are too many"


async def test_flagged_and_likely_contradictions_are_found_once(engine: Engine) -> None:
    await put(
        engine,
        made(engine, "a", "I live in Berlin"),
        made(engine, "b", "I live in Oslo", created_at=engine.clock.now() + DAY),
        made(engine, "c", "The code is blue", key="code"),
        made(engine, "d", "The code is red", key="code", created_at=engine.clock.now() + DAY),
        made(engine, "e", "Ana likes tea"),
        made(engine, "f", "Ana likes coffee"),
    )
    at = engine.clock.now()
    flags = [Flag(memory_id="f", other_id="e", at=at), Flag(memory_id="b", other_id="a", at=at)]
    await engine.store.write(ANA, lambda tx: tx.links.flag(flags))
    pairs = (await found(engine, "contradictions"))["contradictions"]
    assert sorted(pairs) == [("b", "a"), ("d", "c"), ("f", "e")]


async def test_stale_and_never_used_are_told_apart_and_archived(engine: Engine) -> None:
    for id, fields in {
        "old": {},
        "pinned": {"pinned": True},
        "saved": {"manually_saved": True},
    }.items():
        await engine.remember(ANA, {"content": f"something {id}", "id": id, **fields})
    advance(engine, 150 * DAY)
    await engine.remember(ANA, {"content": "something younger", "id": "young"})
    advance(engine, 31 * DAY)
    await engine.remember(ANA, {"content": "something new", "id": "new"})
    await engine.flush(ANA)
    assert await found(engine) == {"stale": [("old",)], "never_used": [("young",)]}
    await engine.store.write(ANA, lambda tx: tx.memories.touch(["old", "young"], engine.clock.now()))
    assert await found(engine) == {}
    advance(engine, 181 * DAY)
    assert (await engine.mend(ANA, ["stale", "never_used"], dry_run=False)).done == {"archive": 3}
    left = {id for id, its in (await status(engine)).items() if its is Status.ACTIVE}
    assert left == {"pinned", "saved"}


async def test_what_has_expired_is_found_and_removed(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "for a day", "id": "over", "expires_at": engine.clock.now() + DAY})
    advance(engine, DAY)
    assert (await found(engine, "expired"))["expired"] == [("over",)]
    assert (await engine.mend(ANA, ["expired"], dry_run=False)).done == {"expire": 1}
    assert await status(engine) == {}


class Moody(HashEmbedder):
    """Refuses certain texts, until it doesn't."""

    refuses = True

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        if self.refuses and any("refused" in text for text in texts):
            raise InvalidInput("this text is not for me")
        return await super().embed(texts, query=query)


async def test_what_has_no_embedding_is_found_and_embedded_again(store: Store) -> None:
    embedder = Moody()
    engine = engine_over(store, embedder)
    await engine.remember(ANA, {"content": "a refused text", "id": "refused"})
    await engine.flush(ANA)
    await engine.remember(ANA, {"content": "a text that waits", "id": "waiting"})
    assert await found(engine, "failed", "unembedded") == {"failed": [("refused",)], "unembedded": [("waiting",)]}
    embedder.refuses = False
    assert (await engine.mend(ANA, ["failed", "unembedded"], dry_run=False)).done == {"embed": 2}
    assert await found(engine, "failed", "unembedded") == {"failed": [], "unembedded": []}
    states = await engine.embedding_status(ANA, [Target("memory", "refused"), Target("memory", "waiting")])
    assert {each.state.value for each in states.values()} == {"ready"}


async def test_the_oversized_are_told(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "word " * 2000, "id": "long"})
    assert (await found(engine, "oversized"))["oversized"] == [("long",)]


@pytest.mark.parametrize("concern", ["contradictions", "oversized", "near_duplicates", "everything"])
async def test_what_takes_a_decision_is_not_mended(engine: Engine, concern: str) -> None:
    with pytest.raises(InvalidInput, match="what can be mended is duplicates"):
        await engine.mend(ANA, [concern])


async def test_a_report_is_of_one_scope_and_names_no_content(engine: Engine) -> None:
    await put(engine, made(engine, "a", "zyxwv one"), made(engine, "b", "zyxwv one"))
    assert (await engine.health(ANA.within("work"))).findings == ()
    assert (await engine.health(replace(ANA, user="bo"))).findings == ()
    report = await engine.health(ANA)
    assert report.findings
    assert "zyxwv" not in repr(report)
