"""Random lives of several scopes, led on a real store and on the reference store at once.

Hypothesis chooses what happens; after any of it both stores hold the same, find the same, and count the same. Whatever was
forgotten stays gone, and nobody ever meets a word of someone else's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from recollect.errors import RecollectError
from recollect.model import Entry, Filter, Memory, MemoryType, Scope, Status, Target, Tombstone
from recollect.ports import Tx
from recollect.testing import ManualClock, ReferenceStore
from tests.contract.samples import (
    ANA,
    LEASE,
    NEIGHBOURS,
    T0,
    conversation,
    digest,
    entry,
    generation,
    memory,
    message,
    of,
)
from tests.contract.side_by_side import TOLERANCE, Pair, assert_same_ranking, targets, vector_of, vectors_of
from tests.contract.snapshots import everything
from tests.contract.stores import DIVIDED, OPENERS, Ground

EVERYONE = (ANA, *NEIGHBOURS)
WORDS = ("tea", "teapot", "milk", "绿茶", "绿", "user_id", "u1f375")
TAGS = ("x", "y", "a b")
MANY = 1000

scopes = st.sampled_from(EVERYONE)
ids = st.sampled_from(["a", "b", "c", "B", "茶"])
talks = st.sampled_from(["t1", "t2"])
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
tags = st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple)
themes = st.sampled_from([None, "food", "work"])
types = st.sampled_from([MemoryType.FACT, MemoryType.NOTE])
minutes = st.integers(min_value=0, max_value=20)
moments = st.none() | minutes.map(lambda minute: T0 + timedelta(minutes=minute))
terms = st.lists(st.sampled_from([*WORDS, "te*", "绿*", "u*", "absent", "tea' OR", "*"]), min_size=1, max_size=3)
filters = st.builds(
    Filter,
    kinds=st.sampled_from([("memory", "message"), ("memory",), ("message",)]),
    types=st.sampled_from([(), (MemoryType.FACT,)]),
    tags=st.sampled_from([(), ("x",), ("y", "a b")]),
    themes=st.sampled_from([(), ("food",)]),
    sessions=st.sampled_from([(), ("t1",)]),
    since=moments,
    until=moments,
)


class IndexCopy:
    """What a process keeps of a scope's index, refreshed as `Changes` says."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.revision = 0
        self.entries: dict[Target, Entry] = {}
        self.vectors: dict[Target, Any] = {}

    def refresh(self, tx: Tx) -> None:
        news = tx.index.changes(self.revision, "g1", MANY)
        if not news.purged <= self.revision <= news.revision:
            self.entries, self.vectors = {}, {}
            news = tx.index.changes(0, "g1", MANY)
        for item in news.items:
            self.entries[item.entry.target] = item.entry
            self.vectors[item.entry.target] = item.vector
        self.revision = news.revision
        assert news.size == len(self.entries)


def owner_word(scope: Scope) -> str:
    return f"of_{scope.tenant}_{scope.user}_{scope.space}"


def indexed(kept: Memory) -> Entry:
    return entry(
        kept.id,
        kept.content,
        created_at=kept.created_at,
        expires_at=kept.expires_at,
        type=kept.type,
        tags=kept.tags,
        theme=kept.theme,
    )


class Lives(RuleBasedStateMachine):
    pair: Pair

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(T0)
        self.number = 0
        self.secrets: dict[tuple[Scope, Target], str] = {}
        self.forgotten: list[tuple[Scope, str]] = []
        self.copies: list[IndexCopy] = []

    def teardown(self) -> None:
        for scope in EVERYONE:
            self.compare(scope)
            self.pair.write(scope, lambda tx: tx.erase())
        assert list(self.pair.system(lambda system: system.scopes(None, MANY))) == []

    # -- what happens --------------------------------------------------------------------------------------

    @rule(
        scope=scopes,
        id=ids,
        words=texts,
        tags=tags,
        theme=themes,
        type=types,
        expires_at=moments,
        bits=st.integers(0, 2**64 - 1),
    )
    def remember(self, scope: Scope, id: str, words: list[str], expires_at: Any, bits: int, **fields: Any) -> None:
        text = self.text(scope, words)
        now = self.clock.now()
        kept = memory(id, text, created_at=now, expires_at=expires_at, simhash=bits, key=words[0], **fields)

        def work(tx: Tx) -> None:
            tx.memories.insert(kept, digest(text))
            tx.index.put([indexed(kept)])
            tx.embeddings.queue({Target("memory", id): digest(text)}, "g1", now)

        with suppress(RecollectError):
            self.pair.write(scope, work)
            self.secrets[scope, Target("memory", id)] = text.split()[0]

    @rule(scope=scopes, id=ids, words=texts, tags=tags, theme=themes, status=st.sampled_from(Status))
    def revise(self, scope: Scope, id: str, words: list[str], status: Status, **fields: Any) -> None:
        text = self.text(scope, words)
        target = Target("memory", id)

        def work(tx: Tx) -> bool:
            for old in tx.memories.get([id]).values():
                new = replace(old, content=text, status=status, updated_at=self.clock.now(), **fields)
                tx.memories.replace(new, digest(text))
                if status is Status.ACTIVE:
                    tx.index.put([indexed(new)])
                    tx.embeddings.queue({target: digest(text)}, "g1", self.clock.now())
                else:
                    tx.index.drop([target])
                    tx.embeddings.drop([target])
                return True
            return False

        if self.pair.write(scope, work):
            self.gone(scope, [target])
            self.secrets[scope, target] = text.split()[0]

    @rule(scope=scopes, chosen=st.lists(ids, min_size=1, max_size=3), minute=minutes)
    def forget(self, scope: Scope, chosen: list[str], minute: int) -> None:
        doomed = of("memory", *chosen)
        until = self.clock.now() + timedelta(minutes=minute)

        def work(tx: Tx) -> tuple[int, int, int]:
            held = tx.memories.get(chosen).values()
            tx.space.bury([Tombstone(digest=digest(m.content), created_at=T0, expires_at=until) for m in held])
            return tx.embeddings.drop(doomed), tx.index.drop(doomed), tx.memories.delete(chosen)

        self.pair.write(scope, work)
        self.gone(scope, doomed)

    @rule(scope=scopes, talk=talks, said=st.lists(texts, min_size=1, max_size=3))
    def say(self, scope: Scope, talk: str, said: list[list[str]]) -> None:
        contents = [self.text(scope, words) for words in said]
        now = self.clock.now()

        def work(tx: Tx) -> list[Target]:
            first = tx.conversations.open(conversation(talk, created_at=now)).message_count
            messages = [
                message(f"{talk}-{first + n}", talk, first + n, content=text, created_at=now)
                for n, text in enumerate(contents)
            ]
            tx.conversations.append(messages)
            tx.index.put(
                [entry(m.id, m.content, "message", created_at=now, session_id=talk, position=m.order) for m in messages]
            )
            told = of("message", *(each.id for each in messages))
            tx.embeddings.queue({t: digest(m.content) for t, m in zip(told, messages, strict=True)}, "g1", now)
            return told

        for target, text in zip(self.pair.write(scope, work), contents, strict=True):
            self.secrets[scope, target] = text.split()[0]

    @rule(scope=scopes, talk=talks)
    def forget_talk(self, scope: Scope, talk: str) -> None:
        def work(tx: Tx) -> list[Target]:
            doomed = of("message", *(each.id for each in tx.conversations.history(talk, MANY)))
            tx.embeddings.drop(doomed)
            tx.index.drop(doomed)
            tx.conversations.delete([talk])
            return doomed

        self.gone(scope, self.pair.write(scope, work))

    @rule(
        scope=scopes,
        fate=st.sampled_from(["settle", "retry", "give up", "abandon", "settle the first"]),
        minute=minutes,
    )
    def embed(self, scope: Scope, fate: str, minute: int) -> None:
        now = self.clock.now()

        def work(tx: Tx) -> tuple[Sequence[object], int]:
            jobs = sorted(tx.embeddings.claim("g1", now, LEASE, MANY), key=lambda job: job.target)
            settled = 0
            if fate.startswith("settle"):
                settled = tx.embeddings.settle(vectors_of(jobs if fate == "settle" else jobs[:1]), now)
            elif fate != "abandon":
                retry_at = now + timedelta(minutes=minute) if fate == "retry" else None
                tx.embeddings.fail(jobs, "the provider is down", retry_at, now)
            return jobs, settled

        self.pair.write(scope, work)

    @rule(scope=scopes)
    def embed_what_is_missing(self, scope: Scope) -> None:
        now = self.clock.now()

        def work(tx: Tx) -> tuple[int, int]:
            tx.embeddings.drop([Target("memory", "a")])
            missing = tx.embeddings.enqueue_missing("g1", now, MANY)
            jobs = tx.embeddings.claim("g1", now, LEASE, MANY)
            return missing, tx.embeddings.settle(vectors_of(jobs), now)

        self.pair.write(scope, work)

    @rule(scope=scopes, chosen=st.lists(ids, max_size=3))
    def touch(self, scope: Scope, chosen: list[str]) -> None:
        self.pair.write(scope, lambda tx: tx.memories.touch(chosen, self.clock.now()))

    @rule(scope=scopes)
    def change_ones_mind(self, scope: Scope) -> None:
        class Change(Exception):
            pass

        def work(tx: Tx) -> None:
            tx.erase()
            tx.memories.insert(memory("never", "never"), digest("never"))
            tx.index.put([entry("never", "tea")])
            raise Change

        for store in (self.pair.real, self.pair.reference):
            with pytest.raises(Change):
                self.pair.runner.run(store.write(scope, work))

    @rule(scope=scopes)
    def erase(self, scope: Scope) -> None:
        # What `vectors` counts of rows still in the queue is a store's own business.
        self.pair.write(scope, lambda tx: replace(tx.erase(), vectors=0, tombstones=0))
        self.gone(scope, [target for owner, target in self.secrets if owner == scope])

    @rule(by=minutes)
    def wait(self, by: int) -> None:
        self.clock.advance(timedelta(minutes=by))

    # -- what is seen --------------------------------------------------------------------------------------

    @rule(scope=scopes, terms=terms, filter=filters)
    def search_words(self, scope: Scope, terms: list[str], filter: Filter) -> None:
        now = self.clock.now()
        real, expected = self.pair.each(scope, lambda tx: tx.index.lexical(terms, filter, now, MANY))
        assert targets(real) == targets(expected)
        assert len(real) == len(expected)
        self.pair.read(scope, lambda tx: {t: tx.index.frequencies(terms).get(t, 0) for t in terms if "*" not in t})

    @rule(scope=scopes, words=texts, filter=filters, limit=st.integers(1, 5))
    def search_vectors(self, scope: Scope, words: list[str], filter: Filter, limit: int) -> None:
        query, now = vector_of(" ".join(words)), self.clock.now()
        whole = self.pair.each(scope, lambda tx: tx.index.dense(query, "g1", filter, now, MANY))
        assert targets(whole[0]) == targets(whole[1])
        best = self.pair.each(scope, lambda tx: tx.index.dense(query, "g1", filter, now, limit))
        assert_same_ranking(best[0], best[1], whole[1])

    @rule(scope=scopes)
    def copy(self, scope: Scope) -> None:
        self.copies.append(IndexCopy(scope))

    @rule()
    def refresh(self) -> None:
        for copy in self.copies:
            self.pair.runner.run(self.pair.real.read(copy.scope, copy.refresh))
            truth = self.pair.runner.run(
                self.pair.reference.read(copy.scope, lambda tx: tx.index.changes(0, "g1", MANY))
            )
            assert copy.entries == {item.entry.target: item.entry for item in truth.items}
            for item in truth.items:
                if item.vector is not None:
                    np.testing.assert_allclose(copy.vectors[item.entry.target], item.vector, atol=TOLERANCE)

    @rule(scope=scopes, bits=st.integers(0, 2**64 - 1), word=st.sampled_from(WORDS))
    def look_around(self, scope: Scope, bits: int, word: str) -> None:
        def by_id(found: Sequence[Memory]) -> list[Memory]:
            return sorted(found, key=lambda each: each.id)

        self.pair.read(scope, lambda tx: by_id(tx.memories.keyed(word)))
        self.pair.read(scope, lambda tx: by_id(tx.memories.near(bits, 3, MANY)))
        self.pair.read(
            scope, lambda tx: [by_id(tx.memories.near(m.simhash, 3, MANY)) for m in tx.memories.scan(None, MANY)]
        )
        self.pair.system(lambda system: set(system.waiting(self.clock.now(), MANY)))
        self.pair.system(lambda system: system.next_due())
        self.pair.system(lambda system: system.backlog("g1"))
        self.pair.system(lambda system: set(system.scopes(None, MANY)))

    @rule(scope=scopes)
    def compare(self, scope: Scope) -> None:
        self.pair.read(scope, everything)
        seen = repr(self.pair.runner.run(self.pair.real.read(scope, everything)))
        for other in EVERYONE:
            assert other == scope or owner_word(other) not in seen

    @rule()
    def look_for_the_forgotten(self) -> None:
        for scope, word in self.forgotten[-10:]:

            def work(tx: Tx, word: str = word) -> tuple[int, str]:
                return len(tx.index.lexical([word], Filter(), T0, 9)), repr(everything(tx))

            found, seen = self.pair.runner.run(self.pair.real.read(scope, work))
            assert found == 0
            assert word not in seen

    # -- bookkeeping ---------------------------------------------------------------------------------------

    def text(self, scope: Scope, words: list[str]) -> str:
        """Text of that scope and no other, with a first word that occurs nowhere else."""
        self.number += 1
        return " ".join([f"unique{self.number}q", owner_word(scope), *words])

    def gone(self, scope: Scope, doomed: Sequence[Target]) -> None:
        for target in doomed:
            if (scope, target) in self.secrets:
                self.forgotten.append((scope, self.secrets.pop((scope, target))))


@pytest.mark.parametrize(("name", "examples"), [("sqlite-memory", 30), ("postgres", 15), ("postgres in parts", 8)])
def test_a_store_lives_as_the_reference_does(name: str, examples: int, ground: Ground) -> None:
    with asyncio.Runner() as runner, ExitStack() as undo:
        opened = AsyncExitStack()
        store = runner.run(opened.enter_async_context((OPENERS | DIVIDED)[name](ground)))
        undo.callback(lambda: runner.run(opened.aclose()))
        reference = ReferenceStore()
        undo.callback(lambda: runner.run(reference.close()))

        class Led(Lives):
            pair = Pair(runner, store, reference)

        Led.pair.system(lambda system: system.add_generation(generation()))
        run_state_machine_as_test(
            Led,
            settings=settings(
                max_examples=examples,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
