"""Sessions copied to a Redis: the same answers whatever becomes of it, and nothing there that was forgotten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from recollect import Memory
from recollect.engine import Engine
from recollect.engine.conversations import sweep
from recollect.engine.conversations.copies import Copied, last_messages
from recollect.errors import NotFound
from recollect.model import Message, Scope, WorkingMemory
from recollect.ports import Store
from recollect.providers.caches.breaker import Breaker
from recollect.providers.caches.hashes import RedisHashes, hash_name
from recollect.stores.sqlite import SqliteStore
from recollect.testing.clock import ManualClock
from recollect.worker.jobs import settle_own
from tests.engine.conftest import ANA, anywhere, both, engine_over
from tests.services.valkey import ValkeyServer

CANARY = "qzvxkanarrr9"
PATIENT = 10.0
"""Seconds a call may take: how busy the machine is must not matter."""


def copying(store: Store, server: ValkeyServer, clock: ManualClock | None = None) -> Engine:
    hashes = RedisHashes(server.url, b"pepper", wait_s=PATIENT, breaker=Breaker(first_s=0.01, longest_s=0.05))
    engine = engine_over(Copied(store, hashes, b""), clock=clock)
    engine.copies = hashes
    return engine


@pytest.fixture
async def engine(store: Store, valkey: ValkeyServer) -> AsyncIterator[Engine]:
    engine = copying(store, valkey)
    yield engine
    assert engine.copies is not None
    await engine.copies.close()


def turn(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


async def window(engine: Engine, scope: Scope = ANA, session: str = "s1") -> Sequence[Message]:
    """The last messages as a chat reads them."""
    read = await last_messages(engine, scope, session)

    def work(tx: object) -> Sequence[Message]:
        conversation = tx.conversations.get(session)  # type: ignore[attr-defined]
        return read(tx, conversation) if conversation else ()  # type: ignore[arg-type]

    return await engine.store.read(scope, work)


def hash_of(server: ValkeyServer, scope: Scope = ANA, session: str = "s1") -> dict[str, str]:
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return dict(client.hgetall(hash_name(scope, session)))


def everything(server: ValkeyServer) -> str:
    """Every key and every value of the server, past the code that wrote them."""
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        read = {"hash": client.hgetall, "set": client.smembers, "string": client.get}
        return repr([(name, read[client.type(name)](name)) for name in client.scan_iter("*")])


@both
async def test_the_hash_says_what_the_session_is_about(engine: Engine, valkey: ValkeyServer) -> None:
    await engine.take_in(ANA, "s1", [turn("I want to run the Oslo marathon in September.")])
    await engine.add_turns(ANA, "s1", [turn("How lovely!", "assistant")])
    told, known = hash_of(valkey), await engine.working(ANA, "s1")
    assert (told["session_id"], told["turn_count"]) == ("s1", "1")
    assert (told["current_topic"], told["last_emotion"]) == (known.current_topic, known.last_emotion)
    assert told["current_goal"] == known.context_variables["goal"] == "run the Oslo marathon in September"
    assert json.loads(told["context_variables"]) == known.context_variables
    assert (told["created_at"], told["updated_at"]) == (known.created_at.isoformat(), known.updated_at.isoformat())
    messages = [(each["id"], each["role"], each["content"]) for each in json.loads(told["messages"])]
    assert messages == [(each.id, each.role, each.content) for each in await window(engine)]
    assert [text for _, _, text in messages] == ["I want to run the Oslo marathon in September.", "How lovely!"]
    with redis.Redis.from_url(valkey.url) as client:
        assert 23 * 3600 < client.ttl(hash_name(ANA, "s1")) <= 24 * 3600


@anywhere
async def test_keys_are_named_as_agreed_and_never_spelt_alike(engine: Engine) -> None:
    assert hash_name(Scope("default", "ana"), "s1") == "session:ana:s1"
    assert hash_name(Scope("acme", "ana", "home"), "s1") == "session:acme:ana:home:s1"
    scopes = [Scope("default", "a:b"), Scope("default", "a"), Scope("a", "b"), Scope("a", "default", "b")]
    names = [hash_name(scope, session) for scope in scopes for session in ("c", "b:c", "b%3Ac")]
    assert len(set(names)) == len(names)


@anywhere
async def test_two_anas_never_meet(engine: Engine, valkey: ValkeyServer) -> None:
    others = [Scope("other", "ana"), ANA.within("work"), Scope("default", "ana")]
    for number, scope in enumerate([ANA, *others]):
        await engine.take_in(scope, "s1", [turn(f"I live in house number {number}.")])
    for number, scope in enumerate([ANA, *others]):
        assert [each.content for each in await window(engine, scope)] == [f"I live in house number {number}."]
    await engine.erase_user("other", "ana")
    assert not hash_of(valkey, others[0])
    assert all(hash_of(valkey, scope) for scope in (ANA, *others[1:]))


@both
async def test_a_chat_reads_the_copy_where_the_database_confirms_it(engine: Engine, valkey: ValkeyServer) -> None:
    await (await engine.converse(ANA, "I live in Lyon.", session_id="s1")).whole()
    await engine.talks.settle()
    truth = await engine.store.read(ANA, lambda tx: tx.conversations.history("s1", 10))
    assert [each.role for each in truth] == ["user", "assistant"]
    assert list(await window(engine)) == list(truth)
    told = hash_of(valkey)
    with redis.Redis.from_url(valkey.url) as client:
        client.hset(hash_name(ANA, "s1"), "messages", told["messages"].replace("Lyon", "Bern"))
        assert "Bern" in (await window(engine))[0].content, "it is read from there"
        for harm in ("", "[1]", '{"a": 1}', told["messages"].replace('"s1"', '"s2"'), "[" * 100_000):
            client.hset(hash_name(ANA, "s1"), "messages", harm)
            assert list(await window(engine)) == list(truth), "and not where it came to harm"
        client.delete(hash_name(ANA, "s1"))
        assert list(await window(engine)) == list(truth)


@both
async def test_a_copy_that_was_left_behind_is_not_believed(engine: Engine, store: Store, valkey: ValkeyServer) -> None:
    await engine.take_in(ANA, "s1", [turn("I live in Lyon.")])
    before = hash_of(valkey)
    await engine.add_turns(ANA, "s1", [turn("Since when?", "assistant")])
    with redis.Redis.from_url(valkey.url) as client:
        client.hset(hash_name(ANA, "s1"), mapping=before)  # as if the last copy had got lost
        assert len(await window(engine)) == 2
        before = hash_of(valkey)
        await engine_over(store).add_turns(ANA, "s1", [turn("Since May.")])  # by somebody who keeps no copies
        client.hset(hash_name(ANA, "s1"), mapping=before)
        assert len(await window(engine)) == 3


@both
async def test_what_goes_quiet_is_archived_and_its_copy_goes(store: Store, valkey: ValkeyServer) -> None:
    clock = ManualClock()
    engine = copying(store, valkey, clock)
    await engine.take_in(ANA, "s1", [turn("I want to learn the cello."), turn("How?"), turn("Where?")])
    clock.advance(timedelta(minutes=31))
    assert (await sweep.sweep(engine)).archived == 1
    assert not hash_of(valkey)
    with pytest.raises(NotFound):
        await engine.working(ANA, "s1")
    assert len(await window(engine)) == 3
    await engine.take_in(ANA, "s1", [turn("hello again")])
    assert hash_of(valkey)["turn_count"] == "1"


@both
async def test_incognito_never_reaches_it_and_what_becomes_so_leaves(engine: Engine, valkey: ValkeyServer) -> None:
    await engine.start_incognito(ANA, "secret")
    await engine.take_in(ANA, "secret", [turn(f"I live in {CANARY}.")])
    await (await engine.converse(ANA, f"I work in {CANARY}.", session_id="secret")).whole()
    await engine.talks.settle()
    assert (await engine.working(ANA, "secret")).turn_count == 2
    assert CANARY not in everything(valkey)
    await engine.take_in(ANA, "open", [turn(f"I swim in {CANARY}.")])
    assert CANARY in everything(valkey)
    await engine.start_incognito(ANA, "open")
    await engine.take_in(ANA, "open", [turn("And I dive.")])
    await sweep.sweep(engine)
    assert CANARY not in everything(valkey)


@both
async def test_memory_off_takes_the_copies_away(engine: Engine, valkey: ValkeyServer) -> None:
    for change in ({"memory_enabled": False}, {"incognito_default": True}):
        await engine.take_in(ANA, "s1", [turn(f"I live in {CANARY}.")])
        assert CANARY in everything(valkey)
        await engine.change_settings(ANA, change)
        await engine.take_in(ANA, "s1", [turn(f"I really live in {CANARY}.")])
        assert CANARY not in everything(valkey)
        await engine.change_settings(ANA, dict.fromkeys(change, "memory_enabled" in change))


@both
@pytest.mark.parametrize("how", ["forget", "clear", "conversation", "person", "words"])
async def test_what_is_forgotten_is_gone_from_there(engine: Engine, valkey: ValkeyServer, how: str) -> None:
    scope = Scope("default", CANARY) if how == "person" else ANA
    session = f"about {CANARY}" if how == "conversation" else "s1"
    taken = await engine.take_in(scope, session, [turn(f"My cat is called {CANARY}. I want to feed {CANARY}.")])
    ids = [each.id for read in taken.extractions for each in read.receipts if each.id]
    assert ids
    assert CANARY in everything(valkey)
    match how:
        case "forget":
            await engine.forget(scope, ids)
        case "clear":
            await engine.clear(scope)
        case "conversation":
            await engine.forget_conversation(scope, session)
        case "person":
            await engine.erase_user(scope.tenant, scope.user)
        case "words":
            await (await engine.converse(scope, "forget that", session_id=session)).whole()
            await (await engine.converse(scope, "yes", session_id=session)).whole()
            await engine.talks.settle()
    assert CANARY not in everything(valkey)


@anywhere
async def test_a_late_copy_brings_nothing_back(engine: Engine, valkey: ValkeyServer) -> None:
    assert engine.copies is not None
    ticket = await engine.copies.ticket(ANA)
    assert ticket is not None
    await engine.copies.drop(ANA)
    await engine.copies.put(ANA, "s1", {"messages": CANARY}, ticket)
    assert CANARY not in everything(valkey)
    ticket = await engine.copies.ticket(ANA)
    assert ticket is not None
    await engine.copies.put(ANA, "s1", {"messages": CANARY}, ticket)
    assert CANARY in everything(valkey)


@anywhere
async def test_whoever_leaves_in_the_middle_leaves_nothing_half_done(engine: Engine, valkey: ValkeyServer) -> None:
    for turns in range(1, 9):
        await engine.take_in(ANA, "s1", [turn(f"I live in {CANARY}.")])
        task = asyncio.create_task(engine.forget_conversation(ANA, "s1"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert isinstance(engine.store, Copied)
        await engine.store.settle()
        left = await engine.store.read(ANA, lambda tx: tx.conversations.get("s1"))
        assert (left is not None) == (CANARY in everything(valkey))


@anywhere
async def test_a_removal_that_is_refused_is_owed(store: Store, private_valkey: ValkeyServer) -> None:
    engine = copying(store, private_valkey)
    assert engine.copies is not None
    await engine.take_in(ANA, "s1", [turn(f"I live in {CANARY}.")])
    with redis.Redis.from_url(private_valkey.url) as client:
        client.replicaof("127.0.0.1", "1")  # it can be read, and takes no orders
        await engine.forget_conversation(ANA, "s1")
        assert CANARY in everything(private_valkey)
        assert await engine.copies.get(ANA, "s1") is None
        client.replicaof("no", "one")
    for number in range(1_000):
        await (sweep.sweep if number % 2 else settle_own)(engine)
        if CANARY not in everything(private_valkey):
            break
        await asyncio.sleep(0.02)
    assert CANARY not in everything(private_valkey)
    await engine.take_in(ANA, "s1", [turn("I live in Bern.")])
    assert hash_of(private_valkey)
    await engine.copies.close()


@both
async def test_the_same_answers_when_redis_dies_in_mid_conversation(store: Store, private_valkey: ValkeyServer) -> None:
    plain = engine_over(await SqliteStore.open(":memory:"), clock=ManualClock())
    engine = copying(store, private_valkey, ManualClock())
    says = [
        "I live in Lyon and I want to learn the cello.",
        "Where do I live?",
        "My sister is called Mira.",
        "What do you remember about my sister?",
        "forget that",
        "yes",
        "Who is Mira?",
        "Where do I live?",
    ]
    for number, text in enumerate(says):
        if number == 3:
            private_valkey.kill()
        if number == 6:
            private_valkey.start()
        replies = []
        for each in (plain, engine):
            replies.append((await (await each.converse(ANA, text, session_id="s1")).whole()).text)
            await each.talks.settle()
        assert replies[0] == replies[1]
        assert await facts(plain) == await facts(engine)
    await plain.close()
    assert engine.copies is not None
    await engine.copies.close()


async def facts(engine: Engine) -> tuple[object, ...]:
    """What is known of a session, without ids."""
    working = await engine.store.read(ANA, lambda tx: tx.space.working("s1"))
    assert isinstance(working, WorkingMemory)
    shown = {name: value for name, value in working.context_variables.items() if not name.startswith("_")}
    said = [(each.order, each.role, each.content) for each in await window(engine)]
    return said, shown, working.turn_count, working.current_topic, working.last_emotion


@anywhere
def test_the_settings_choose(store: Store, valkey: ValkeyServer, tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), user="ana", embedder="off", redis_url=valkey.url, worker=False) as memory:
        # On a busy machine a tenth of a second may not do, and then there is no copy.
        for number in range(200):
            memory.add_turns("s1", [{"role": "user", "content": f"{CANARY} number {number}"}])
            if f"{CANARY} number {number}" in everything(valkey):
                break
        assert "session:ana:s1" in everything(valkey)
        memory.forget(session_id="s1")
        for _ in range(200):  # what was not removed in time is owed, and the next removal pays
            if "messages" not in hash_of(valkey, Scope("default", "ana")):
                break
            memory.add_turns("s2", [{"role": "user", "content": "something else"}])
            memory.forget(session_id="s2")
        assert "messages" not in hash_of(valkey, Scope("default", "ana"))
