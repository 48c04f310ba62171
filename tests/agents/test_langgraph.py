"""LangGraph's store, side by side with the kit's own: the same operations, the same answers. Then what only ours does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from recollect import Memory
from recollect.doors.langgraph import RecollectStore
from recollect.errors import Conflict, InvalidInput, NotAllowed
from recollect.testing.clock import ManualClock
from tests.agents.conftest import home_of
from tests.api.homes import KINDS, Home


@pytest.fixture(params=["theirs", *KINDS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "theirs":
        yield InMemoryStore()
    else:
        with home_of(request.param, request, tmp_path).memory() as memory:
            yield RecollectStore(memory)


@pytest.fixture
def ours(home: Home) -> Iterator[Memory]:
    with home.memory() as memory:
        yield memory


def keys(items: list[Any]) -> list[str]:
    return sorted(item.key for item in items)


# Putting, getting, deleting


def test_what_is_put_is_got(store: BaseStore) -> None:
    assert store.get(("users", "ana"), "prefs") is None
    value = {"theme": "dark", "n": 1, "x": 1.5, "on": True, "none": None, "list": [1, {"deep": "你好"}], "": "empty"}
    store.put(("users", "ana"), "prefs", value)
    item = store.get(("users", "ana"), "prefs")
    assert isinstance(item, Item)
    assert (item.namespace, item.key, item.value) == (("users", "ana"), "prefs", value)
    assert item.created_at.tzinfo is not None
    assert item.created_at <= item.updated_at


def test_putting_again_replaces_the_whole_value(store: BaseStore) -> None:
    store.put(("a",), "k", {"x": 1, "y": 2})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"x": 3})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.value == {"x": 3}
    assert second.updated_at > first.updated_at
    assert len(store.search(("a",))) == 1


def test_equal_values_at_two_addresses_are_two_items(store: BaseStore) -> None:
    for namespace, key in ((("a",), "k"), (("a",), "l"), (("a", "b"), "k"), (("b",), "k")):
        store.put(namespace, key, {"text": "The meeting is at three"})
    assert len(store.search(())) == 4
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.get(("a", "b"), "k") is not None
    assert len(store.search(())) == 3


def test_what_was_deleted_may_be_put_again(store: BaseStore) -> None:
    for _ in range(3):
        store.put(("a",), "k", {"text": "The meeting is at three"})
        assert store.get(("a",), "k") is not None
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
    store.delete(("a",), "never there")
    assert store.search(("a",)) == []


ODD = [
    (("a/b", "c"), "k"),
    (("a", "b/c"), "k"),
    (("a",), "b/c/k"),
    (("*",), "*"),
    ((" ",), " k "),
    (("A",), "K"),
    (("a",), "K"),
    (("家", "ß"), "🔑"),
    (("a", "b"), ""),
    (("x" * 300,), "y" * 300),
    (("[", '"'), "\\"),
]


def test_addresses_are_exact_and_reversible(store: BaseStore) -> None:
    for number, (namespace, key) in enumerate(ODD):
        store.put(namespace, key, {"n": number})
    for number, (namespace, key) in enumerate(ODD):
        item = store.get(namespace, key)
        assert item is not None
        assert (item.namespace, item.key, item.value) == (namespace, key, {"n": number})
    assert {(item.namespace, item.key) for item in store.search((), limit=100)} == set(ODD)
    assert store.list_namespaces() == sorted({namespace for namespace, _ in ODD})


@pytest.mark.parametrize("namespace", [(), ("",), ("a", ""), ("a.b",), ("langgraph", "x"), ("a", 7)])
def test_namespaces_that_are_none_are_refused(store: BaseStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"x": 1})
    assert store.search(()) == []


# Searching


@pytest.fixture
def filled(store: BaseStore) -> BaseStore:
    documents = [
        {"title": "Alpha", "score": 4.5, "tags": ["ai"], "by": {"name": "Ana", "team": "x"}},
        {"title": "Beta", "score": 3.0, "tags": ["ai", "ml"], "by": {"name": "Eva", "team": "x"}},
        {"title": "Gamma", "score": 5, "tags": [], "by": {"name": "Ana", "team": "y"}},
    ]
    for document in documents:
        store.put(("docs", document["by"]["team"]), document["title"].lower(), document)  # type: ignore[index, attr-defined]
    store.put(("other",), "delta", {"title": "Delta", "score": 4.5})
    return store


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (None, ["alpha", "beta", "gamma"]),
        ({}, ["alpha", "beta", "gamma"]),
        ({"title": "Alpha"}, ["alpha"]),
        ({"title": "Alpha", "score": 3.0}, []),
        ({"score": {"$gt": 4}}, ["alpha", "gamma"]),
        ({"score": {"$gte": 4.5, "$lt": 5}}, ["alpha"]),
        ({"score": {"$lte": 3}}, ["beta"]),
        ({"title": {"$ne": "Alpha"}}, ["beta", "gamma"]),
        ({"title": {"$eq": "Beta"}}, ["beta"]),
        ({"by": {"name": "Ana"}}, ["alpha", "gamma"]),
        ({"by": {"name": "Ana", "team": "y"}}, ["gamma"]),
        ({"tags": ["ai"]}, ["alpha"]),
        ({"tags": []}, ["gamma"]),
        ({"missing": None}, ["alpha", "beta", "gamma"]),
        ({"missing": 1}, []),
    ],
)
def test_filters(filled: BaseStore, filter: dict[str, Any] | None, expected: list[str]) -> None:
    assert keys(filled.search(("docs",), filter=filter)) == expected


def test_an_unknown_operator_is_an_error(filled: BaseStore) -> None:
    with pytest.raises(ValueError, match="Unsupported operator"):
        filled.search(("docs",), filter={"score": {"$near": 3}})


def test_a_prefix_is_of_parts_and_not_of_letters(filled: BaseStore) -> None:
    filled.put(("docsy",), "no", {"x": 1})
    assert keys(filled.search(("docs",))) == ["alpha", "beta", "gamma"]
    assert keys(filled.search(("docs", "x"))) == ["alpha", "beta"]
    assert keys(filled.search(("doc",))) == []
    assert keys(filled.search(())) == ["alpha", "beta", "delta", "gamma", "no"]


def test_pages_follow_on_each_other(store: BaseStore) -> None:
    for number in range(25):
        store.put(("n",), f"{number:02}", {"n": number})
    pages = [keys(store.search(("n",), limit=10, offset=offset)) for offset in (0, 10, 20, 30)]
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert sorted(key for page in pages for key in page) == [f"{number:02}" for number in range(25)]
    assert len(store.search(("n",))) == 10, "ten unless told otherwise"
    assert len(store.search(("n",), filter={"n": {"$gte": 5}}, limit=100)) == 20


# Namespaces


@pytest.fixture
def spread(store: BaseStore) -> BaseStore:
    for namespace in (
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
        ("users", "123"),
        ("users", "456", "settings"),
        ("admin", "users", "789"),
    ):
        store.put(namespace, "k", {"x": 1})
    return store


LISTINGS: list[dict[str, Any]] = [
    {},
    {"prefix": ("a",)},
    {"prefix": ("a", "b")},
    {"prefix": ("a", "*")},
    {"prefix": ("*", "b")},
    {"suffix": ("f",)},
    {"suffix": ("*", "f")},
    {"suffix": ("d", "*")},
    {"prefix": ("a",), "suffix": ("f",)},
    {"prefix": ("a", "b"), "suffix": ("d", "i")},
    {"prefix": ("users",)},
    {"suffix": ("users", "*")},
    {"prefix": ("a", "b", "c", "d", "e", "f")},
    {"prefix": ("nowhere",)},
    {"max_depth": 1},
    {"max_depth": 3},
    {"prefix": ("a", "b"), "max_depth": 3},
    {"limit": 2},
    {"limit": 3, "offset": 2},
    {"limit": 3, "offset": 8},
    {"offset": 20},
    {"max_depth": 2, "limit": 2, "offset": 1},
]


def test_namespaces_are_listed_as_the_kit_lists_them(spread: BaseStore) -> None:
    theirs = InMemoryStore()
    for item in spread.search((), limit=100):
        theirs.put(item.namespace, item.key, item.value)
    for asked in LISTINGS:
        assert spread.list_namespaces(**asked) == theirs.list_namespaces(**asked), asked


def test_a_namespace_goes_with_its_last_item(ours: Memory) -> None:
    store = RecollectStore(ours)
    store.put(("a", "b"), "k", {"x": 1})
    store.delete(("a", "b"), "k")
    assert store.list_namespaces() == []


# Batches


def test_a_batch_answers_in_order_and_reads_before_it_writes(store: BaseStore) -> None:
    store.put(("a",), "k", {"x": 1})
    conditions = (MatchCondition("prefix", ("a",)),)
    results = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"x": 2}),
            SearchOp(("a",), filter={"x": {"$gte": 1}}, limit=5),
            GetOp(("a",), "missing"),
            PutOp(("a", "b"), "new", {"x": 3}),
            ListNamespacesOp(match_conditions=conditions),
            PutOp(("a",), "gone", {"x": 4}),
            PutOp(("a",), "gone", None),
        ]
    )
    got, put, found, missing, new, listed, *rest = results
    assert isinstance(got, Item)
    assert got.value == {"x": 1}
    assert (put, missing, new, rest) == (None, None, None, [None, None])
    assert isinstance(found, list)
    assert [item.value for item in found] == [{"x": 1}]  # type: ignore[union-attr]
    assert listed == [("a",)]
    assert {item.key: item.value for item in store.search(())} == {"k": {"x": 2}, "new": {"x": 3}}
    assert store.batch([]) == []


def test_an_unknown_operation_is_an_error(store: BaseStore) -> None:
    with pytest.raises(ValueError, match="Unknown operation"):
        store.batch([("what", "is", "this")])  # type: ignore[list-item]


async def test_everything_works_asynchronously(store: BaseStore) -> None:
    await store.aput(("a", "b"), "k", {"x": 1})
    item = await store.aget(("a", "b"), "k")
    assert item is not None
    assert item.value == {"x": 1}
    assert keys(await store.asearch(("a",), filter={"x": 1})) == ["k"]
    assert await store.alist_namespaces(prefix=("a",)) == [("a", "b")]
    results = await store.abatch([GetOp(("a", "b"), "k"), PutOp(("a", "b"), "k", {"x": 2})])
    assert results[1] is None
    await asyncio.gather(*(store.aput(("n",), str(number), {"n": number}) for number in range(20)))
    assert len(await store.asearch(("n",), limit=50)) == 20
    await store.adelete(("a", "b"), "k")
    assert await store.aget(("a", "b"), "k") is None


def test_many_threads_may_write_at_once(store: BaseStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: store.put(("n",), str(number % 10), {"n": number}), range(40)))
    assert keys(store.search(("n",), limit=50)) == sorted(str(number) for number in range(10))


# What only ours does


def test_a_query_ranks(ours: Memory) -> None:
    store = RecollectStore(ours)
    store.put(("m", "ana"), "drink", {"text": "Ana likes green tea in the morning"})
    store.put(("m", "ana"), "sport", {"text": "Ana climbs mountains on Sundays"})
    store.put(("m", "eva"), "drink", {"text": "Eva likes green tea, too"})
    found = store.search(("m", "ana"), query="green tea")
    assert [item.key for item in found] == ["drink", "sport"], "what has nothing to do with it fills up the end"
    assert found[0].score is not None
    assert found[1].score is None
    assert [item.key for item in RecollectStore(ours, only_relevant=True).search(("m", "ana"), query="tea")] == [
        "drink"
    ]
    both = store.search(("m",), query="green tea", limit=2)
    assert {item.namespace for item in both} == {("m", "ana"), ("m", "eva")}
    assert [item.key for item in store.search(("m",), query="green tea", filter={"text": {"$ne": "x"}}, limit=1)] == [
        "drink"
    ]


def test_what_is_searched_can_be_chosen(ours: Memory) -> None:
    store = RecollectStore(ours, fields=["title", "parts[*].text"], only_relevant=True)
    value = {"title": "Gardening", "secret": "canary", "parts": [{"text": "tomatoes"}, {"text": "cucumbers"}]}
    store.put(("d",), "one", value)
    store.put(("d",), "hidden", value, index=False)
    store.put(("d",), "own", value, index=["secret"])
    for query, expected in (("cucumbers", ["one"]), ("gardening", ["one"]), ("canary", ["own"])):
        assert keys(store.search(("d",), query=query)) == expected
    assert keys(store.search(("d",))) == ["hidden", "one", "own"]
    store.put(("d",), "one", value, index=False)
    assert store.search(("d",), query="cucumbers") == []
    store.put(("d",), "hidden", value)
    assert keys(store.search(("d",), query="cucumbers")) == ["hidden"]


def test_what_changed_is_found_by_its_new_words_only(ours: Memory) -> None:
    store = RecollectStore(ours, only_relevant=True)
    store.put(("d",), "k", {"text": "tomatoes in the greenhouse"})
    store.put(("d",), "k", {"text": "cucumbers in the cellar"})
    assert store.search(("d",), query="tomatoes") == []
    assert keys(store.search(("d",), query="cucumbers")) == ["k"]


def test_documents_are_memories_like_any_other(ours: Memory, home: Home) -> None:
    store = RecollectStore(ours)
    store.put(("memories", "ana"), "m1", {"content": "Ana's cat is called Miso"})
    (hit,) = ours.search("what is the cat called?").hits
    assert hit.memory is not None
    assert (hit.content, hit.memory.theme) == ("Ana's cat is called Miso", "memories-ana")
    assert ours.add("Ana's cat is called Miso").outcome == "stored", "it is not merged into a document"
    assert ours.at(user="eva").search("cat").hits == ()
    assert RecollectStore(ours.at(user="eva")).search(()) == []
    assert RecollectStore(ours.at(space="work")).get(("memories", "ana"), "m1") is None
    ours.forget(hit.memory.id)
    assert store.get(("memories", "ana"), "m1") is None
    with pytest.raises(Conflict, match="forgotten"):
        store.put(("memories", "ana"), "m1", {"content": "Ana's cat is called Miso"})
    assert home.count("SELECT count(*) FROM memories WHERE content LIKE ?", ["%Miso%"]) == 1


def test_a_batch_that_can_not_be_kept_leaves_nothing(ours: Memory) -> None:
    store = RecollectStore(ours)
    for impossible in ({"x": object()}, {"x": float("nan")}, {"x": "a\x00b"}):
        with pytest.raises(InvalidInput):
            store.batch([PutOp(("a",), "good", {"x": 1}), PutOp(("a",), "bad", impossible)])
    assert store.search(()) == []


def test_where_nothing_may_be_kept_nothing_is(ours: Memory) -> None:
    store = RecollectStore(ours)
    store.put(("a",), "k", {"text": "tea"})
    engine = ours._portal.call(ours._memory._open()).engine
    ours._portal.call(engine.change_settings(ours.scope, {"memory_enabled": False}))
    with pytest.raises(NotAllowed):
        store.put(("a",), "l", {"text": "coffee"})
    assert store.get(("a",), "k") is None
    assert store.search((), query="tea") == []
    assert store.list_namespaces() == []


@pytest.fixture
def unswept(home: Home) -> Iterator[Memory]:
    """Nobody tidies up here in the background, who could be first to remove what a test counts."""
    with home.memory(worker=False) as memory:
        yield memory


def test_time_to_live(unswept: Memory) -> None:
    engine = unswept._portal.call(unswept._memory._open()).engine
    clock = engine.clock = ManualClock()
    store = RecollectStore(unswept, ttl={"default_ttl": 10, "refresh_on_read": True})
    store.put(("t",), "short", {"text": "soon gone"})
    store.put(("t",), "long", {"text": "stays"}, ttl=None)
    clock.advance(timedelta(minutes=9))
    assert store.get(("t",), "short", refresh_ttl=False) is not None
    clock.advance(timedelta(minutes=2))
    assert store.get(("t",), "short") is None
    assert keys(store.search(("t",))) == ["long"]
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0
    store.put(("t",), "short", {"text": "read now and then"}, ttl=10)
    for _ in range(3):
        clock.advance(timedelta(minutes=9))
        assert keys(store.search(("t",), query="now and then", limit=1)) == ["short"]
    clock.advance(timedelta(minutes=11))
    assert [item.key for item in store.search(("t",), query="now and then")] == ["long"]


def test_items_survive_an_export(ours: Memory) -> None:
    RecollectStore(ours).put(("a", "b"), "k", {"text": "tea", "n": [1, 2]})
    lines = list(ours.export())
    eva = ours.at(user="eva")
    eva.load(lines)
    item = RecollectStore(eva).get(("a", "b"), "k")
    assert item is not None
    assert item.value == {"text": "tea", "n": [1, 2]}


class State(TypedDict):
    question: str
    answer: str


def test_a_graph_uses_it(store: BaseStore) -> None:
    def remember(state: State, *, store: BaseStore) -> dict[str, str]:
        store.put(("asked",), "last", {"text": state["question"]})
        found = store.search(("asked",))
        return {"answer": found[0].value["text"]}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"question": "tea?", "answer": ""})["answer"] == "tea?"
