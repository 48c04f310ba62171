"""Conversations and messages: opened once, appended in order, read in windows, removed whole."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import MISSING, fields, replace
from typing import Any

import pytest

from recollect.errors import Conflict, NotFound
from recollect.model import Conversation, Message
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, HOSTILE, T0, at, conversation, converse, message

FULL_TALK = Conversation(
    id="c-full",
    title="Tea 茶 🍵",
    created_at=T0,
    updated_at=at(1),
    expires_at=at(2),
    message_count=4,
    is_summarized=True,
    summary="They spoke of tea.",
    databases=("sales", "库存"),
    database_tags=("prod", ""),
    summary_grounds=("sales", "bank.*", "?"),
)
FULL_MESSAGE = Message(
    id="msg-full",
    session_id="c1",
    order=5,
    role="assistant",
    content="SELECT '茶' 🍵\n",
    name="Ana",
    correlation_id="corr-1",
    created_at=at(1),
    dated=False,
    sql_query="SELECT 1",
    query_explanation="one",
    tables_used=("t1", "t2"),
    execution_result={"rows": [[1, None, "é"]]},
    tokens={"prompt": 10, "completion": 2},
    execution_time_ms=12.5,
    partial=True,
    searchable="Question: how much?\nSQL: SELECT 1",
    grounds=("sales", "bank.*", ""),
)


def test_the_full_samples_leave_no_field_at_its_default() -> None:
    for sample in (FULL_TALK, FULL_MESSAGE):
        for each in fields(sample):
            default = each.default_factory() if each.default_factory is not MISSING else each.default
            assert getattr(sample, each.name) != default, each.name


async def history(store: Store, *window: Any) -> list[str]:
    return [each.id for each in await store.read(ANA, lambda tx: tx.conversations.history("c1", *window))]


async def test_the_first_to_open_a_conversation_makes_it(store: Store) -> None:
    assert await store.write(ANA, lambda tx: tx.conversations.open(FULL_TALK)) == FULL_TALK
    again = conversation("c-full", title="other")
    assert await store.write(ANA, lambda tx: tx.conversations.open(again)) == FULL_TALK
    assert await store.read(ANA, lambda tx: tx.conversations.get("c-full")) == FULL_TALK
    assert await store.read(ANA, lambda tx: tx.conversations.get("absent")) is None


async def test_conversations_list_most_recently_updated_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number, id in enumerate("abcdef"):
            tx.conversations.open(conversation(id, updated_at=at(number // 2)))

    await store.write(ANA, work)
    pages = [await store.read(ANA, lambda tx, o=o: tx.conversations.list(4, o)) for o in (0, 4, 8)]  # type: ignore[misc]
    assert ["".join(each.id for each in page) for page in pages] == ["fedc", "ba", ""]
    assert [(page.total, page.limit, page.offset) for page in pages] == [(6, 4, 0), (6, 4, 4), (6, 4, 8)]


async def test_scan_walks_conversations_in_id_order(store: Store) -> None:
    def work(tx: Tx) -> None:
        for id in ("b", "B", "茶", "a"):
            tx.conversations.open(conversation(id))

    await store.write(ANA, work)

    def walk(tx: Tx) -> list[str]:
        seen: list[str] = []
        while page := tx.conversations.scan(seen[-1] if seen else None, 3):
            seen += [each.id for each in page]
        return seen

    assert await store.read(ANA, walk) == ["B", "a", "b", "茶"]


async def test_replace_writes_every_field_of_an_existing_conversation(store: Store) -> None:
    await store.write(ANA, lambda tx: tx.conversations.open(conversation("c-full")))
    await store.write(ANA, lambda tx: tx.conversations.replace(FULL_TALK))
    assert await store.read(ANA, lambda tx: tx.conversations.get("c-full")) == FULL_TALK
    with suppress(NotFound):
        await store.write(ANA, lambda tx: tx.conversations.replace(conversation("absent")))
    assert await store.read(ANA, lambda tx: tx.conversations.get("absent")) is None


async def test_every_field_of_a_message_comes_back(store: Store) -> None:
    await converse(store, ANA, FULL_MESSAGE, message("plain", order=6))
    found = await store.read(ANA, lambda tx: tx.conversations.messages(["msg-full", "plain", "absent"]))
    assert found == {"msg-full": FULL_MESSAGE, "plain": message("plain", order=6)}


async def test_any_execution_result_comes_back_exactly(store: Store) -> None:
    results: list[Any] = [None, False, 0, "", "null", [], {}, [{"rows": [None, 1.5, "茶"]}]]
    await converse(store, ANA, *(message(f"m{n}", order=n, execution_result=r) for n, r in enumerate(results)))
    found = await store.read(ANA, lambda tx: tx.conversations.history("c1", 100))
    assert [(each.execution_result, type(each.execution_result)) for each in found] == [(r, type(r)) for r in results]


async def test_results_may_stay_unread(store: Store) -> None:
    await converse(store, ANA, FULL_MESSAGE, message("later", order=9))

    def look(tx: Tx) -> list[Message]:
        return [tx.conversations.history("c1", 9, before, results=False)[0] for before in (None, 9)]

    assert await store.read(ANA, look) == [replace(FULL_MESSAGE, execution_result=None)] * 2
    assert FULL_MESSAGE.execution_result is not None


async def test_append_counts_per_conversation(store: Store) -> None:
    await converse(store, ANA, message("a"), message("b", order=1), message("x", "c2"))
    await converse(store, ANA, message("c", order=2))
    counts = await store.read(ANA, lambda tx: {each.id: each.message_count for each in tx.conversations.list(9, 0)})
    assert counts == {"c1": 3, "c2": 1}
    await store.write(ANA, lambda tx: tx.conversations.append([]))


async def test_a_message_id_in_use_is_a_conflict_and_changes_nothing(store: Store) -> None:
    await converse(store, ANA, message("a"))
    with pytest.raises(Conflict):
        await converse(store, ANA, message("b", order=1), message("a", order=2))
    assert await history(store, 10) == ["a"]
    talk = await store.read(ANA, lambda tx: tx.conversations.get("c1"))
    assert talk is not None
    assert talk.message_count == 1


async def test_history_is_the_last_of_a_window_oldest_first(store: Store) -> None:
    await converse(store, ANA, *(message(f"m{n}", order=n) for n in (3, 0, 4, 1, 2)), message("x", "c2", 9))
    assert await history(store, 10) == ["m0", "m1", "m2", "m3", "m4"]
    assert await history(store, 2) == ["m3", "m4"]
    assert await history(store, 2, 3) == ["m1", "m2"]
    assert await history(store, 10, 0) == []
    assert list(await store.read(ANA, lambda tx: tx.conversations.history("absent", 5))) == []


async def test_deleting_a_conversation_takes_its_messages(store: Store) -> None:
    await converse(store, ANA, message("a"), message("b", order=1), message("x", "c2"))
    assert await store.write(ANA, lambda tx: tx.conversations.delete(["c1", "absent"])) == 1
    assert set(await store.read(ANA, lambda tx: tx.conversations.messages(["a", "b", "x"]))) == {"x"}
    assert [each.id for each in await store.read(ANA, lambda tx: tx.conversations.scan(None, 9))] == ["c2"]
    assert await history(store, 10) == []
    assert await store.write(ANA, lambda tx: tx.conversations.delete([])) == 0


async def test_deleting_messages_leaves_the_others_and_their_order(store: Store) -> None:
    await converse(store, ANA, *(message(f"m{n}", order=n) for n in range(3)))
    assert await store.write(ANA, lambda tx: tx.conversations.delete_messages(["m1", "absent"])) == 1
    assert await history(store, 10) == ["m0", "m2"]
    assert [each.order for each in await store.read(ANA, lambda tx: tx.conversations.history("c1", 9))] == [
        0,
        2,
    ]


async def test_an_order_is_never_given_twice_after_a_deletion(store: Store) -> None:
    await converse(store, ANA, *(message(f"m{n}", order=n) for n in range(3)))
    await store.write(ANA, lambda tx: tx.conversations.delete_messages(["m0"]))
    talk = await store.read(ANA, lambda tx: tx.conversations.get("c1"))
    assert talk is not None
    assert talk.message_count == 3


async def test_hostile_text_is_data_in_every_field(store: Store) -> None:
    talks = [conversation(text, title=text, summary=text, databases=(text,), database_tags=(text,)) for text in HOSTILE]
    sayings = [
        replace(FULL_MESSAGE, id=f"id {text}", session_id=text, order=0, content=text, name=text, correlation_id=text,
                sql_query=text, tables_used=(text,), execution_result={text: [text]})
        for text in HOSTILE
    ]  # fmt: skip

    def work(tx: Tx) -> None:
        for talk in talks:
            tx.conversations.open(talk)
        tx.conversations.append(sayings)

    await store.write(ANA, work)

    def look(tx: Tx) -> None:
        for talk, saying in zip(talks, sayings, strict=True):
            assert tx.conversations.get(talk.id) == replace(talk, message_count=1)
            assert list(tx.conversations.history(talk.id, 5)) == [saying]

    await store.read(ANA, look)
