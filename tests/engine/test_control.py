"""What a person decides about a space holds for every verb: memory off, incognito, and what is written down about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.engine import Engine, EngineConfig
from recollect.errors import InvalidInput, NotAllowed, NotFound
from recollect.model import Listing, Memory, Occasion, Query, Scope, SpaceSettings, Target
from recollect.ports import Store, Tx
from recollect.testing.embedder import HashEmbedder
from tests.engine.conftest import ANA, anywhere, engine_over

TEXT = "the spare key hangs behind the clock"


@pytest.fixture
async def engine(store: Store) -> Engine:
    engine = engine_over(store)
    await engine.remember(ANA, {"content": TEXT, "id": "known", "theme": "home"})
    await engine.add_turns(ANA, "talk", [{"role": "user", "content": "where is the spare key?", "id": "turn"}])
    await engine.flush(ANA)
    return engine


def in_session(engine: Engine, session_id: str) -> Engine:
    return engine.on(Occasion(session_id=session_id))


async def actions(engine: Engine, scope: Scope = ANA) -> list[str]:
    """Sorted, not in order: the clock of these tests stands still."""
    return sorted(event.action for event in await engine.audit_trail(scope, 100, 0))


async def held(engine: Engine) -> list[Any]:
    """Everything durable that could have changed, but for the audit trail."""

    def everything(tx: Tx) -> list[Any]:
        return [
            tx.memories.scan(None, 100),
            tx.conversations.scan(None, 100),
            tx.conversations.history("talk", 100),
            tx.space.themes(),
            tx.embeddings.backlog("hash:hash:64"),
        ]

    return await engine.store.read(ANA, everything)


async def test_settings_are_checked_kept_and_audited(engine: Engine) -> None:
    changed = await engine.change_settings(ANA, {"soft_cap": 0, "shared_tags": ["team", "team"], "retention_days": 30})
    assert changed == SpaceSettings(soft_cap=0, shared_tags=("team",), retention_days=30)
    assert await engine.space_settings(ANA) == changed
    await engine.change_settings(ANA, {"soft_cap": 0})
    assert (await actions(engine)).count("settings.changed") == 1, "what changes nothing is no change"


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_enabled": "no"},
        {"soft_cap": -1},
        {"soft_cap": True},
        {"retention_days": 0},
        {"shared_tags": "x"},
        {"x": 1},
    ],
)
@anywhere
async def test_a_setting_that_makes_no_sense_is_refused(engine: Engine, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await engine.change_settings(ANA, changes)
    assert await engine.space_settings(ANA) == SpaceSettings()


async def test_where_memory_is_off_nothing_is_remembered_or_recalled_but_its_owner_may_look(engine: Engine) -> None:
    await engine.change_settings(ANA, {"memory_enabled": False})
    before = await held(engine)
    assert (await engine.remember(ANA, {"content": "new"})).reason == "memory_off"
    recalled = await engine.recall(ANA, Query(text="spare key"))
    assert (recalled.hits, recalled.trace.degraded) == ((), ("memory_off",))
    for write in (
        lambda: engine.add_turns(ANA, "talk", [{"role": "user", "content": "hello"}]),
        lambda: engine.revise(ANA, "known", {"content": "changed"}),
        lambda: engine.import_lines(ANA, [{"kind": "header"}, {"kind": "memory", "id": "x", "content": "x"}]),
    ):
        with pytest.raises((NotAllowed, InvalidInput)):
            await write()
    assert await held(engine) == before
    assert (await engine.get(ANA, "known")).content == TEXT
    assert (await engine.list(ANA, Listing())).total == 1
    assert (await engine.forget(ANA, ["known"])).memories == 1
    await engine.change_settings(ANA, {"memory_enabled": True})
    assert (await engine.remember(ANA, {"content": "new"})).outcome == "stored"


LOOKS: dict[str, Callable[[Engine], Awaitable[Any]]] = {
    "get": lambda engine: engine.get(ANA, "known"),
    "why": lambda engine: engine.why(ANA, "known"),
    "conversation": lambda engine: engine.conversation(ANA, "talk", 10),
}
LISTS: dict[str, Callable[[Engine], Awaitable[Any]]] = {
    "list": lambda engine: engine.list(ANA, Listing()),
    "themes": lambda engine: engine.themes(ANA),
    "conversations": lambda engine: engine.conversations(ANA, 10, 0),
    "recall": lambda engine: engine.recall(ANA, Query(text="spare key")),
}


@pytest.mark.parametrize("by_default", [False, True])
async def test_an_incognito_session_reads_and_writes_nothing(engine: Engine, by_default: bool) -> None:
    if by_default:
        await engine.change_settings(ANA, {"incognito_default": True})
        hidden = in_session(engine, "private")
    else:
        hidden = in_session(engine, await engine.start_incognito(ANA, "private"))
    before, trail = await held(engine), await actions(engine)
    assert (await hidden.remember(ANA, {"content": "whispered"})).reason == "incognito"
    with pytest.raises(NotAllowed):
        await hidden.add_turns(ANA, "private", [{"role": "user", "content": "whispered"}])
    with pytest.raises(NotAllowed):
        await hidden.revise(ANA, "known", {"content": "whispered"})
    for look in LOOKS.values():
        with pytest.raises(NotFound):
            await look(hidden)
    for listing in LISTS.values():
        assert len(await listing(hidden)) == 0
    await engine.settle_debts()
    assert await held(engine) == before
    assert await actions(engine) == trail, "nothing of it is to be found in the trail"
    await engine.end_incognito(ANA, "private")
    assert "incognito.ended" in await actions(engine)
    assert (await hidden.remember(ANA, {"content": "spoken aloud"})).outcome == "stored"
    assert len(await hidden.recall(ANA, Query(text="spare key")))


async def test_a_conversation_that_is_incognito_takes_no_turns_from_anywhere(engine: Engine) -> None:
    await engine.start_incognito(ANA, "private")
    for asked in (engine, in_session(engine, "open")):
        with pytest.raises(NotAllowed):
            await asked.add_turns(ANA, "private", [{"role": "user", "content": "whispered"}])


async def test_other_sessions_go_on_while_one_is_incognito(engine: Engine) -> None:
    await engine.start_incognito(ANA, "private")
    for asked in (engine, in_session(engine, "open")):
        assert len(await asked.recall(ANA, Query(text="spare key")))
        assert (await asked.get(ANA, "known")).content == TEXT
    elsewhere = ANA.within("work")
    assert (await in_session(engine, "private").remember(elsewhere, {"content": "other space"})).reason == "incognito"
    await engine.end_incognito(elsewhere, "private")
    assert not await engine.is_incognito(ANA, "private"), "it is one session, wherever it is ended"


async def test_where_incognito_is_the_default_what_names_no_session_is_kept_out_too(engine: Engine) -> None:
    await engine.change_settings(ANA, {"incognito_default": True})
    assert (await engine.remember(ANA, {"content": "new"})).reason == "incognito"
    assert (await engine.recall(ANA, Query(text="spare key"))).trace.degraded == ("incognito",)
    assert (await engine.get(ANA, "known")).content == TEXT, "its owner looks from no session at all"
    assert (await engine.remember(ANA, {"content": "seed"}, as_admin=True)).outcome == "stored"


async def test_a_session_is_begun_and_ended_once(engine: Engine) -> None:
    session = await engine.start_incognito(ANA)
    await engine.start_incognito(ANA, session)
    assert await engine.is_incognito(ANA, session)
    for _ in range(2):
        await engine.end_incognito(ANA, session)
    assert not await engine.is_incognito(ANA, session)
    assert [action for action in await actions(engine) if action.startswith("incognito")] == [
        "incognito.ended",
        "incognito.started",
    ]


async def test_of_a_session_that_ended_nothing_remains(engine: Engine) -> None:
    await engine.end_incognito(ANA, await engine.start_incognito(ANA, "the name of the session"))
    lines = [str(event) for event in await engine.audit_trail(ANA, 100, 0)]
    assert not any("the name of the session" in line for line in lines)


async def test_clearing_takes_the_memories_and_leaves_the_talk(engine: Engine) -> None:
    for number in range(3):
        await engine.remember(ANA, {"content": f"thing {number}", "key": "thing"})
    receipt = await engine.clear(ANA)
    assert receipt.memories == 4
    assert await engine.store.read(ANA, lambda tx: tx.memories.scan(None, 10)) == []
    assert (await engine.conversation(ANA, "talk", 10))[1][0].id == "turn"
    assert (await engine.remember(ANA, {"content": TEXT})).reason == "tombstone"
    assert (await engine.clear(ANA)).memories == 0


async def test_why_tells_where_something_comes_from_and_what_it_replaced(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "standup is at 9", "key": "standup", "id": "nine"})
    await engine.remember(
        ANA, {"content": "standup is at 10", "key": "standup", "id": "ten", "source_message_id": "turn"}
    )
    found = await engine.why(ANA, "ten")
    assert found.message is not None
    assert (found.message.id, [old.id for old in found.history]) == ("turn", ["nine"])
    assert found.conversation is not None
    assert found.conversation.id == "talk"
    assert found.embedding.target == Target("memory", "ten")
    assert [newer.id for newer in (await engine.why(ANA, "nine")).derived] == ["ten"]


async def test_what_is_found_is_counted_scored_and_audited_afterwards(engine: Engine) -> None:
    asked = engine.on(Occasion(correlation_id="c-7", actor="jwt"))
    hit = (await asked.recall(ANA, Query(text="where is the spare key?", recipe="recall"))).hits[0]
    (event,) = [each for each in await engine.audit_trail(ANA, 10, 0) if each.action == "memory.recalled"]
    assert (event.correlation_id, event.facts["by"], event.facts["hits"]) == ("c-7", "jwt", 1)
    assert "key" not in str(event.facts), "what was asked stays out of the trail"
    stored: Memory = await engine.get(ANA, "known")
    assert stored.access_count == 1
    assert stored.last_scores is not None
    assert stored.last_scores.relevance == pytest.approx(hit.relevance)
    parts = (stored.last_scores.relevance, stored.last_scores.recency, stored.last_scores.importance)
    assert stored.last_scores.total == pytest.approx(sum(parts))


async def test_reads_stay_out_of_the_trail_where_that_is_set(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(audit_reads=False))
    await engine.remember(ANA, {"content": TEXT, "id": "known"})
    await engine.recall(ANA, Query(text="spare key"))
    await engine.get(ANA, "known")
    assert await actions(engine) == ["memory.stored"]


async def test_somebody_who_never_stored_anything_leaves_no_trace_by_asking(store: Store) -> None:
    engine = engine_over(store)
    await engine.recall(ANA, Query(text="anything?"))
    await engine.flush(ANA)
    assert await engine.store.system(lambda system: system.scopes(None, 10)) == []


async def test_the_spaces_of_one_user_are_listed(engine: Engine) -> None:
    await engine.remember(ANA.within("work"), {"content": "x"})
    await engine.remember(Scope("acme", "ben", "secret"), {"content": "x"})
    assert list(await engine.spaces("acme", "ana")) == ["default", "work"]


class Interrupted(HashEmbedder):
    """While it embeds a question something else happens."""

    meanwhile: Callable[[], Awaitable[Any]] | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if query and self.meanwhile is not None:
            await self.meanwhile()
        return await super().embed(texts, query=query)


@pytest.mark.parametrize("reason", ["memory_off", "incognito"])
async def test_a_question_under_way_finds_nothing_once_it_is_switched_off(store: Store, reason: str) -> None:
    embedder = Interrupted()
    engine = engine_over(store, embedder)
    await engine.remember(ANA, {"content": TEXT})
    await engine.flush(ANA)
    asking = in_session(engine, "s")
    assert await asking.recall(ANA, Query(text="where is the spare key?"))
    changes = {"memory_off": {"memory_enabled": False}, "incognito": {"incognito_default": True}}[reason]
    embedder.meanwhile = lambda: engine.change_settings(ANA, changes)
    recalled = await asking.recall(ANA, Query(text="where does the spare key hang?"))
    assert (list(recalled), recalled.trace.degraded) == ([], (reason,))
    assert (await actions(engine)).count("memory.recalled") == 1
