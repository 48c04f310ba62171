"""What belongs to nobody: generations that switch at once, scopes, and who has work waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from recollect.errors import Conflict, NotFound
from recollect.model import (
    ApiKey,
    Backlog,
    Generation,
    GenerationState,
    Look,
    ProviderConfig,
    Scope,
    SpaceSettings,
    Target,
)
from recollect.ports import Store, System
from tests.contract.samples import (
    ANA,
    LEASE,
    NEIGHBOURS,
    T0,
    at,
    dense,
    embed,
    entry,
    found_ids,
    generation,
    memory,
    remember,
    shelve,
    unit,
)

T = TypeVar("T")
A = Target("memory", "a")
EVERYONE = (ANA, *NEIGHBOURS)


async def generations(store: Store) -> dict[str, Generation]:
    return {each.id: each for each in await store.system(lambda system: system.generations())}


async def states(store: Store) -> dict[str, str]:
    return {id: str(each.state) for id, each in (await generations(store)).items()}


async def ask(store: Store, question: Callable[[System], T]) -> T:
    return await store.system(question)


async def queue(store: Store, scope: Scope, minute: float, generation: str = "g1") -> None:
    if not await store.read(scope, lambda tx: tx.memories.get(["a"])):
        await shelve(store, scope, entry("a"))
    await store.write(scope, lambda tx: tx.embeddings.queue({A: str(minute)}, generation, at(minute)))


async def test_every_field_of_a_generation_comes_back(store: Store) -> None:
    first = generation("g/1", 384, "building", provider="openai", model="模型-3", created_at=at(1))
    await ask(store, lambda system: system.add_generation(first))
    assert await generations(store) == {"g/1": first}


async def test_a_generation_id_in_use_is_a_conflict(store: Store) -> None:
    await ask(store, lambda system: system.add_generation(generation()))
    with pytest.raises(Conflict):
        await ask(store, lambda system: system.add_generation(generation(dimensions=5)))
    assert await generations(store) == {"g1": generation()}


async def test_a_new_serving_generation_retires_the_old_one(store: Store) -> None:
    def work(system: System) -> None:
        system.add_generation(generation("g1", state="serving"))
        system.add_generation(generation("g2", 5, "building"))
        system.add_generation(generation("g3", 5, "building"))

    await ask(store, work)
    await ask(store, lambda system: system.set_generation("g2", GenerationState.SERVING))
    assert await states(store) == {"g1": "retired", "g2": "serving", "g3": "building"}
    await ask(store, lambda system: system.set_generation("g2", GenerationState.SERVING))
    assert await states(store) == {"g1": "retired", "g2": "serving", "g3": "building"}
    await ask(store, lambda system: system.set_generation("g3", GenerationState.RETIRED))
    assert await states(store) == {"g1": "retired", "g2": "serving", "g3": "retired"}


async def test_a_switch_that_fails_midway_has_not_happened(store: Store) -> None:
    await ask(store, lambda system: system.add_generation(generation("g1")))
    await ask(store, lambda system: system.add_generation(generation("g2", 5, "building")))

    def work(system: System) -> None:
        system.set_generation("g2", GenerationState.SERVING)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ask(store, work)
    assert await states(store) == {"g1": "serving", "g2": "building"}


async def test_dropping_a_generation_removes_its_vectors_everywhere(vector_store: Store) -> None:
    store = vector_store
    await ask(store, lambda system: system.add_generation(generation("g2", 2, "building")))
    for scope in (ANA, *NEIGHBOURS):
        await shelve(store, scope, entry("a"), vectors={"a": unit(1, 0, 0)})
        await store.write(scope, lambda tx: embed(tx, {A: unit(1, 0)}, "g2"))
    await ask(store, lambda system: system.set_generation("g2", GenerationState.SERVING))
    await ask(store, lambda system: system.drop_generation("g1"))
    assert await states(store) == {"g2": "serving"}
    for scope in EVERYONE:
        assert await store.read(scope, lambda tx: tx.embeddings.status([A], "g1")) == {}
        assert found_ids(await dense(store, scope, unit(1, 0), generation="g2")) == ["a"]
        assert list(await dense(store, scope, unit(1, 0, 0))) == []


async def test_a_dropped_generations_open_work_does_not_wait_for_ever(vector_store: Store) -> None:
    store = vector_store
    await queue(store, ANA, 0)
    await ask(store, lambda system: system.set_generation("g1", GenerationState.RETIRED))
    await ask(store, lambda system: system.drop_generation("g1"))
    await store.write(ANA, lambda tx: tx.embeddings.claim("g2", at(1), LEASE, 9))
    assert list(await ask(store, lambda system: system.waiting(at(9), 9))) == []
    assert await ask(store, lambda system: system.next_due()) is None


async def test_scopes_are_listed_in_pages_and_narrowed_by_owner(store: Store) -> None:
    scopes = [Scope(t, u, s) for t in ("t1", "t2") for u in ("ana", "茶") for s in ("default", "work")]
    for scope in reversed(scopes):
        await remember(store, scope, memory())

    def walk(system: System) -> list[Scope]:
        seen: list[Scope] = []
        while page := system.scopes(seen[-1] if seen else None, 3):
            seen += page
        return seen

    def narrowed(system: System) -> list[list[Scope]]:
        return [
            list(system.scopes(None, 99, tenant="t1")),
            list(system.scopes(None, 99, tenant="t2", user="ana")),
            list(system.scopes(scopes[4], 1, tenant="t2", user="ana")),
            list(system.scopes(None, 99, tenant="absent")),
        ]

    found = await ask(store, walk)
    assert (len(found), set(found)) == (8, set(scopes))
    by_tenant, by_user, page, nobody = await ask(store, narrowed)
    assert by_tenant == [scope for scope in found if scope.tenant == "t1"]
    assert by_user == [scope for scope in found if (scope.tenant, scope.user) == ("t2", "ana")]
    assert (page, nobody) == (by_user[1:2], [])


async def test_scopes_with_due_work_wait_longest_first(vector_store: Store) -> None:
    store = vector_store
    for minute, scope in zip((3, 1, 2, 9), EVERYONE, strict=True):
        await queue(store, scope, minute)
    waiting = [EVERYONE[1], EVERYONE[2], EVERYONE[0]]
    assert list(await ask(store, lambda system: system.waiting(at(3), 9))) == waiting
    assert list(await ask(store, lambda system: system.waiting(at(3), 2))) == waiting[:2]
    assert list(await ask(store, lambda system: system.waiting(at(0), 9))) == []
    assert await ask(store, lambda system: system.next_due()) == at(1)
    ahead = [EVERYONE[1], EVERYONE[3]]
    assert list(await ask(store, lambda system: system.waiting(at(1), 9, ahead=at(8)))) == ahead
    assert list(await ask(store, lambda system: system.waiting(at(1), 1, ahead=at(8)))) == ahead[:1]


async def test_next_due_follows_claims_failures_and_settlements(vector_store: Store) -> None:
    store = vector_store

    async def due() -> list[object]:
        return [await ask(store, lambda system: system.next_due())]

    assert await due() == [None]
    await queue(store, ANA, 1)
    assert await due() == [at(1)]
    jobs = await store.write(ANA, lambda tx: tx.embeddings.claim("g1", at(2), LEASE, 9))
    assert await due() == [at(2) + LEASE]
    await store.write(ANA, lambda tx: tx.embeddings.fail(jobs, "down", at(30), at(3)))
    assert await due() == [at(30)]
    await store.write(ANA, lambda tx: tx.embeddings.settle([(jobs[0], unit(1, 0, 0))], at(4)))
    assert await due() == [None]
    await queue(store, ANA, 5)
    await store.write(ANA, lambda tx: tx.embeddings.drop([A]))
    assert await due() == [None]


async def test_work_of_any_generation_counts(vector_store: Store) -> None:
    store = vector_store
    await ask(store, lambda system: system.add_generation(generation("g2", 5, "building")))
    await queue(store, ANA, 5, "g1")
    await queue(store, ANA, 2, "g2")
    assert await ask(store, lambda system: system.next_due()) == at(2)
    await store.write(ANA, lambda tx: tx.embeddings.claim("g2", at(2), timedelta(days=1), 9))
    assert await ask(store, lambda system: system.next_due()) == at(5)


async def test_work_found_missing_waits_like_any_other(vector_store: Store) -> None:
    await shelve(vector_store, ANA, entry("a"))
    await vector_store.write(ANA, lambda tx: tx.embeddings.enqueue_missing("g1", at(1), 9))
    assert list(await ask(vector_store, lambda system: system.waiting(at(1), 9))) == [ANA]


async def test_work_whose_target_is_gone_stops_waiting_once_claimed(vector_store: Store) -> None:
    store = vector_store
    await queue(store, ANA, 0)
    await store.write(ANA, lambda tx: tx.memories.delete(["a"]))
    assert list(await store.write(ANA, lambda tx: tx.embeddings.claim("g1", at(1), LEASE, 9))) == []
    assert await ask(store, lambda system: system.next_due()) is None


async def test_the_backlog_of_everyone_is_the_sum_of_each(vector_store: Store) -> None:
    store = vector_store
    assert await ask(store, lambda system: system.backlog("g1")) == Backlog()
    for minute, scope in enumerate(EVERYONE):
        await queue(store, scope, minute)
    assert await ask(store, lambda system: system.backlog("g1")) == Backlog(pending=4, oldest=T0)
    jobs = await store.write(NEIGHBOURS[0], lambda tx: tx.embeddings.claim("g1", at(9), LEASE, 9))
    await store.write(NEIGHBOURS[0], lambda tx: tx.embeddings.fail(jobs, "down", None, at(9)))
    found = await ask(store, lambda system: system.backlog("g1"))
    assert replace(found, oldest=None) == Backlog(pending=3, error=1)
    assert await ask(store, lambda system: system.backlog("g2")) == Backlog()


async def test_nobody_works_where_memory_is_off(store: Store) -> None:
    await store.system(lambda system: system.add_generation(generation("g", state=GenerationState.SERVING)))
    await remember(store, ANA, memory("a"))
    await store.write(ANA, lambda tx: tx.embeddings.queue({A: "hash"}, "g", T0))
    for enabled in (False, True):
        settings = SpaceSettings(memory_enabled=enabled)
        await store.write(ANA, lambda tx, kept=settings: tx.space.save_settings(kept))  # type: ignore[misc]
        assert await store.system(lambda system: system.waiting(at(1), 10)) == ([ANA] if enabled else [])
        assert (await store.system(lambda system: system.next_due()) is not None) == enabled


KEY = ApiKey(
    id="k1",
    name="the kitchen tablet",
    tenant="acme",
    user="ana",
    role="admin",
    secret_hash="a" * 64,
    created_at=T0,
    expires_at=at(60),
)


async def test_a_key_is_found_by_the_hash_of_its_secret(store: Store) -> None:
    other = replace(KEY, id="k0", role="user", secret_hash="b" * 64, expires_at=None, created_at=at(1))
    for key in (KEY, other):
        await store.system(lambda system, key=key: system.add_key(key))  # type: ignore[misc]
    assert await store.system(lambda system: system.find_key("a" * 64)) == KEY
    assert await store.system(lambda system: system.find_key("c" * 64)) is None
    assert await store.system(lambda system: system.keys()) == [KEY, other]
    await store.system(lambda system: system.touch_key("k0", at(2)))
    assert await store.system(lambda system: system.find_key("b" * 64)) == replace(other, last_used_at=at(2))


@pytest.mark.parametrize("again", [replace(KEY, id="k2"), replace(KEY, secret_hash="d" * 64)])
async def test_neither_an_id_nor_a_secret_is_given_out_twice(store: Store, again: ApiKey) -> None:
    await store.system(lambda system: system.add_key(KEY))
    with pytest.raises(Conflict):
        await store.system(lambda system: system.add_key(again))
    assert await store.system(lambda system: system.keys()) == [KEY]


async def test_a_revoked_key_stays_revoked_since_the_first_time(store: Store) -> None:
    await store.system(lambda system: system.add_key(KEY))
    for minute in (1, 2):
        await store.system(lambda system, minute=minute: system.revoke_key("k1", at(minute)))  # type: ignore[misc]
    assert await store.system(lambda system: system.find_key("a" * 64)) == replace(KEY, revoked_at=at(1))
    with pytest.raises(NotFound):
        await store.system(lambda system: system.revoke_key("nowhere", at(1)))


async def test_one_provider_is_configured_or_none(store: Store) -> None:
    assert await store.system(lambda system: system.provider()) is None
    first = ProviderConfig(provider_type="openai", endpoint_url="http://127.0.0.1:1/v1", model="m", api_key="sealed")
    for config in (first, ProviderConfig(enabled=False, provider_type="ollama", dimensions=3), None):
        await store.system(lambda system, kept=config: system.save_provider(kept))  # type: ignore[misc]
        assert await store.system(lambda system: system.provider()) == config


async def test_how_the_server_fared_is_kept_for_as_long_as_it_is_wanted(store: Store) -> None:
    def look(minute: float, run: str = "a", **counts: float) -> Look:
        return Look(run=run, at=at(minute), began=T0 if run == "a" else None, counts=counts, levels={"pending": 0.5})

    async def kept(since: float, step: int = 1, limit: int = 99) -> list[Look]:
        return [*await ask(store, lambda system: system.looks(at(since), step, limit))]

    whole = T0.minute + 60 * T0.hour  # steps are those of the clock
    start = -whole % 12
    looks = [look(start + minute, requests=float(minute)) for minute in range(25)]
    other = look(start + 3, "b")
    later = replace(looks[-1], at=looks[-1].at + timedelta(seconds=20), counts={"requests": 99.0})

    def keep(system: System) -> None:
        for each in (*looks, other, later):
            system.keep_look(each, at(-60))

    await ask(store, keep)
    assert await kept(start) == [*looks[:4], other, *looks[4:-1], later]
    assert await kept(start, step=12) == [looks[0], other, looks[11], looks[12], looks[23], later]
    assert await kept(start + 23) == [looks[23], later]
    assert await kept(start, limit=1) == [later]
    await ask(store, lambda system: system.keep_look(later, at(start + 20)))
    assert await kept(start) == [*looks[20:24], later]
