"""However many people come, and whatever they do, a process keeps no more in mind about them than it was given room for."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import literal, select

from recollect.engine import EngineConfig, audit
from recollect.engine.bounded import Latest, LatestSet
from recollect.engine.conversations.asides import IDLE, Asides
from recollect.engine.conversations.sessions import Sessions
from recollect.engine.recalling.notes import Notes
from recollect.engine.recalling.shelves import Labelled, Shelves
from recollect.errors import Unavailable
from recollect.model import Occasion, Query, Scope, Scores, WorkingMemory
from recollect.ports import Tx
from recollect.stores.sql.session import MOST_PREPARED
from recollect.stores.sqlite.session import SqliteDialect
from recollect.testing.clock import ManualClock
from recollect.testing.reference.store import ReferenceStore
from recollect.worker import jobs
from tests.engine.conftest import engine_over

T = TypeVar("T")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
MOST = 5
BUDGET = 60_000
people = st.integers(0, 12).map(lambda number: Scope("acme", f"person-{number}"))
few = settings(max_examples=30, deadline=None)


@few
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans())))
def test_the_latest_are_kept_in_the_order_in_which_they_were_set(steps: list[tuple[int, bool]]) -> None:
    kept: Latest[int, bool] = Latest(MOST)
    asked: LatestSet[int] = LatestSet(MOST)
    expected: list[int] = []
    for key, value in steps:
        kept[key] = value
        asked.add(key)
        expected = [*(each for each in expected if each != key), key][-MOST:]
        assert list(kept) == list(asked) == expected
        assert kept[key] is value
    assert [asked.pop() for _ in range(len(asked))] == expected
    with pytest.raises(KeyError):
        asked.pop()


def test_there_must_be_room_for_one() -> None:
    with pytest.raises(ValueError, match="room"):
        Latest(0)


@few
@given(st.lists(st.tuples(people, st.integers(0, 3), st.sampled_from(["private", "touch", "remind", "forget"]))))
def test_sessions_are_remembered_up_to_a_number(steps: list[tuple[Scope, int, str]]) -> None:
    sessions = Sessions(MOST, MOST, MOST)
    everybody = {(scope, f"s{number}") for scope, number, _ in steps}
    for minute, (scope, number, act) in enumerate(steps):
        at, session = NOW + timedelta(minutes=minute), f"s{number}"
        if act == "private":
            sessions.keep_private(scope, WorkingMemory(session_id=session, created_at=at, updated_at=at))
            assert sessions.private(scope, session) is not None
        elif act == "touch":
            sessions.touch(scope, at)
        elif act == "remind":
            sessions.remind(scope, session)
        else:
            sessions.forget(scope, session)
        assert sum(sessions.private(*each) is not None for each in everybody) <= MOST
    assert len(sessions.waiting()) <= MOST
    assert len(sessions.quiet(NOW + timedelta(days=1))) <= MOST
    assert not any(sessions.private(*each) for each in everybody), "what is quiet is let go of"


@few
@given(
    st.lists(st.tuples(people, st.integers(0, 400), st.sampled_from(["keep", "keep", "keep", "end", "erase", "wait"])))
)
def test_what_was_said_aside_is_remembered_up_to_a_length(steps: list[tuple[Scope, int, str]]) -> None:
    asides, now = Asides(most_sessions=MOST, most_chars=1000), NOW
    for scope, length, act in steps:
        if act == "keep":
            asides.keep(scope, "s", "user", "x" * length, now)
            assert asides.said(scope, "s", now)[-1].content == "x" * length
        elif act == "end":
            asides.end(scope, "s")
        elif act == "erase":
            asides.erase(scope.tenant, scope.user)
        else:
            now += IDLE / 3
        said = [asides.said(each, "s", now) for each in {scope for scope, _, _ in steps}]
        there = [sum(len(message.content) for message in each) for each in said if each]
        assert len(there) <= MOST
        assert sum(there) <= 1000 or len(there) == 1


def _scores(ids: Sequence[str]) -> dict[str, Scores]:
    each = Scores(relevance=0.5, recency=0.5, importance=0.5, total=0.5, computed_at=NOW)
    return dict.fromkeys(ids, each)


@few
@given(
    st.lists(st.tuples(people, st.integers(1, 6), st.sampled_from(["found", "passed over", "read", "discard", "down"])))
)
def test_notes_are_taken_up_to_a_number(steps: list[tuple[Scope, int, str]]) -> None:
    notes = Notes(most=20)
    for scope, number, act in steps:
        ids = [f"m{each}" for each in range(number)]
        if act == "found":
            notes.accessed(scope, ids, _scores(ids))
        elif act == "passed over":
            notes.passed_over(scope, ids)
        elif act == "read":
            notes.read(scope, audit.event(Occasion(), NOW, "memory.read"))
        elif act == "discard":
            notes.discard(scope)
        assert len(notes) <= 20
    before = len(notes)
    notes.read(Scope("acme", "latest"), audit.event(Occasion(), NOW, "memory.read"))
    assert len(notes) == before + 1 or before == 20, "nothing gives way while there is room"


async def test_notes_that_a_store_did_not_take_count_as_before() -> None:
    class Down(ReferenceStore):
        async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
            raise Unavailable("busy")

    notes, store = Notes(most=20), Down()
    for number in range(8):
        notes.accessed(Scope("acme", f"person-{number % 3}"), ["m1", "m2"], _scores(["m1", "m2"]))
        with suppress(Unavailable):
            await notes.write(store, ManualClock())
        assert len(notes) <= 20
    noted = len(notes)
    notes.accessed(Scope("acme", "person-0"), [], {})
    assert len(notes) == noted


def _fill(shelves: Shelves, scope: Scope, count: int, first: int) -> None:
    cards = [
        Labelled(
            kind="memory", id=f"m{first + number}", session=None, position=0, speaker=None, role="memory", created_at=NOW,
            dated=True, terms=f"word{first + number} of many", chars=20, is_question=False,
        )
        for number in range(count)
    ]  # fmt: skip
    shelves.of(scope).shelf.fill([(card, np.ones(16, np.float32)) for card in cards], count)


@few
@given(
    st.lists(
        st.tuples(people, st.integers(0, 60), st.sampled_from(["ask", "ask", "ask", "fail", "discard"])), max_size=25
    )
)
def test_copies_are_held_within_their_budget_however_a_question_ends(steps: list[tuple[Scope, int, str]]) -> None:
    shelves = Shelves(10_000, BUDGET)
    for number, (scope, count, act) in enumerate(steps):
        if act == "discard":
            shelves.discard(scope)
            continue
        with suppress(Unavailable), shelves.weighed(scope):
            _fill(shelves, scope, count, 100 * number)
            if act == "fail":
                raise Unavailable("the store went away")
        assert shelves.nbytes <= BUDGET or len(shelves) == 1
        assert len(shelves) > 0, "the latest stays"


async def test_looking_through_everybody_for_what_can_be_summed_up_holds_few_copies() -> None:
    clock = ManualClock()
    engine = engine_over(ReferenceStore(), config=EngineConfig(index_bytes=BUDGET), clock=clock)
    everybody = [Scope("acme", f"person-{number}") for number in range(8)]
    for scope in everybody:
        for text in ("The garden beds need compost", "The garden beds need water", "The garden beds were dug"):
            await engine.remember(scope, {"content": text, "theme": "garden"})
    clock.advance(timedelta(days=90))
    await jobs.roll_up(engine)
    assert 0 < len(engine.shelves) < len(everybody)
    assert engine.shelves.nbytes <= BUDGET
    await engine.recall(everybody[0], Query(text="garden beds"))
    assert engine.shelves.nbytes <= BUDGET


async def test_who_leaves_the_work_to_others_forgets_sessions_that_went_quiet() -> None:
    clock = ManualClock()
    engine = engine_over(ReferenceStore(), clock=clock)
    scopes = [Scope("acme", f"person-{number}") for number in range(3)]
    for scope in scopes:
        await engine.add_turns(scope, "s", [{"role": "user", "content": "The ferry leaves at noon"}])
    clock.advance(timedelta(hours=1))
    await engine.add_turns(scopes[0], "s", [{"role": "user", "content": "And at six"}])
    await jobs.settle_own(engine)
    assert engine.sessions.quiet(clock.now() + timedelta(days=1)) == scopes[:1]


def test_a_statement_that_its_builder_let_go_of_is_let_go_of() -> None:
    dialect = SqliteDialect()
    statement = select(literal("first").label("said"))
    assert "said" in dialect.prepare(statement).sql
    assert dialect.prepare(statement) is dialect.prepare(statement)
    gone = ref(statement)
    del statement
    for number in range(MOST_PREPARED):
        dialect.prepare(select(literal(number)))
    gc.collect()
    assert gone() is None
