"""What every place that keeps vectors promises: nobody finds another's, filters hold, what is gone is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import numpy as np
import pytest

from recollect.errors import InvalidInput, NotAllowed, Unavailable
from recollect.model import Scope
from recollect.ports import Point, Vector, VectorIndex
from recollect.providers.indexes.chroma import ChromaIndex
from tests.contract.indexes import COLLECTION, INDEXES, abroad
from tests.contract.opensearch_wire import OpenSearch
from tests.contract.samples import ANA, HOSTILE, NEIGHBOURS
from tests.contract.stores import Ground
from tests.services.chroma import running_chroma

X, Y, Z = (np.eye(3, dtype=np.float32)[axis] for axis in range(3))
DIAGONAL = np.array([0.6, 0.8, 0.0], np.float32)


@pytest.fixture(scope="session")
def chroma_server() -> Iterator[str]:
    with running_chroma() as url:
        yield url


@pytest.fixture(params=[*INDEXES, "chroma-server"])
async def index(request: pytest.FixtureRequest, ground: Ground) -> AsyncIterator[VectorIndex]:
    if request.param == "chroma-server":
        # Collections of its own for each test: the server is everybody's.
        asked = abroad("chroma", request.getfixturevalue("chroma_server"), f"test-{uuid4().hex}")
        yield asked
        await asked.close()
        return
    async with INDEXES[request.param](ground) as opened:
        yield opened


def point(id: str, vector: Vector = X, **labels: str | tuple[str, ...]) -> Point:
    return Point(id, vector, labels)


async def ids(index: VectorIndex, scope: Scope = ANA, vector: Vector = X, k: int = 10, **where: str) -> list[str]:
    return [id for id, _ in await index.search(scope, "g1", vector, k, where or None)]


async def test_the_nearest_come_first_with_their_cosines(index: VectorIndex) -> None:
    await index.add(ANA, "g1", [point("y", Y), point("near", DIAGONAL), point("x", X)])
    found = await index.search(ANA, "g1", X, 10)
    assert [id for id, _ in found] == ["x", "near", "y"]
    assert [cosine for _, cosine in found] == pytest.approx([1.0, 0.6, 0.0], abs=1e-3)
    assert await ids(index, k=2) == ["x", "near"]


async def test_nothing_is_found_where_nothing_is(index: VectorIndex) -> None:
    assert await ids(index) == []
    await index.drop(ANA, ["never-there"])
    await index.drop(ANA, [])
    await index.clear(ANA)
    await index.add(ANA, "g1", [])
    assert await ids(index) == []


async def test_a_scope_never_sees_another_even_with_equal_ids(index: VectorIndex) -> None:
    await index.add(ANA, "g1", [point("same", Y), point("hers", X)])
    for number, other in enumerate(NEIGHBOURS):
        await index.add(other, "g1", [point("same", X), point(f"only-{number}", X)])
    assert await ids(index) == ["hers", "same"]
    assert dict(await index.search(ANA, "g1", Y, 10))["same"] == pytest.approx(1.0, abs=1e-3)
    for number, other in enumerate(NEIGHBOURS):
        assert sorted(await ids(index, other)) == [f"only-{number}", "same"]
    await index.drop(ANA, ["same"])
    await index.clear(NEIGHBOURS[0])
    assert await ids(index) == ["hers"]
    assert await ids(index, NEIGHBOURS[0]) == []
    assert "same" in await ids(index, NEIGHBOURS[1])
    assert "same" in await ids(index, NEIGHBOURS[2])


async def test_a_few_are_found_among_the_many_of_another(index: VectorIndex) -> None:
    crowd = np.random.default_rng(7).normal(size=(400, 3)).astype(np.float32)
    await index.add(NEIGHBOURS[0], "g1", [point(f"c{number}", vector) for number, vector in enumerate(crowd)])
    await index.add(ANA, "g1", [point("far", -X, session="s"), point("farther", -X, session="t")])
    assert sorted(await ids(index)) == ["far", "farther"]
    assert await ids(index, k=1, session="s") == ["far"]


async def test_every_label_asked_for_must_be_there(index: VectorIndex) -> None:
    await index.add(
        ANA,
        "g1",
        [
            point("both", X, session="s1", tables=("sales", "Kunden")),
            point("one", X, session="s1", tables=("sales",)),
            point("none", X),
        ],
    )
    assert sorted(await ids(index)) == ["both", "none", "one"]
    assert sorted(await ids(index, session="s1")) == ["both", "one"]
    assert await ids(index, session="s1", tables="Kunden") == ["both"]
    assert await ids(index, session="s2") == []


async def test_what_is_added_again_is_replaced_with_its_labels(index: VectorIndex) -> None:
    await index.add(ANA, "g1", [point("a", X, session="old", extra="gone")])
    await index.add(ANA, "g1", [point("a", Y, session="new")])
    assert dict(await index.search(ANA, "g1", Y, 10)) == {"a": pytest.approx(1.0, abs=1e-3)}
    assert await ids(index, session="new") == ["a"]
    assert await ids(index, session="old") == []
    assert await ids(index, extra="gone") == []
    await index.drop(ANA, ["a"])
    await index.add(ANA, "g1", [point("a", X)])
    assert await ids(index) == ["a"]


async def test_names_of_any_kind_stay_what_they_are(index: VectorIndex) -> None:
    names = [*HOSTILE, "会话/一", "x" * 255, "İstanbul", "a/b", "a", "b"]
    whose = [Scope("租户", "ана"), Scope('t"enant', "u:ser", "space/1"), Scope("t", "u", "s/1"), Scope("t", "u/s", "1")]
    for scope in whose:
        await index.add(scope, "g1", [point(name, X, session=name) for name in names])
    for scope in whose:
        assert sorted(await ids(index, scope, k=100)) == sorted(names)
    for name in HOSTILE:
        assert await ids(index, whose[0], session=name) == [name]
    await index.drop(whose[0], names[1:])
    assert await ids(index, whose[0], k=100) == names[:1]
    assert len(await ids(index, whose[1], k=100)) == len(names)


async def test_generations_of_other_sizes_lie_apart(index: VectorIndex) -> None:
    wide = np.eye(5, dtype=np.float32)
    await index.add(ANA, "g1", [point("a", X), point("b", Y)])
    await index.add(ANA, "g2", [point("a", wide[4])])
    assert dict(await index.search(ANA, "g2", wide[4], 10)) == {"a": pytest.approx(1.0, abs=1e-3)}
    assert await ids(index) == ["a", "b"]
    await index.drop(ANA, ["a"])
    assert await index.search(ANA, "g2", wide[4], 10) == []
    assert await ids(index) == ["b"]


async def test_a_retired_generation_is_gone_for_everybody(index: VectorIndex) -> None:
    await index.add(ANA, "g1", [point("a")])
    await index.add(ANA, "g2", [point("a", np.eye(5, dtype=np.float32)[0])])
    await index.retire("g2")
    assert await index.search(ANA, "g2", np.eye(5, dtype=np.float32)[0], 10) == []
    assert await ids(index) == ["a"]
    await index.retire("g2")


async def test_a_folder_of_chroma_is_found_again(ground: Ground) -> None:
    first = ChromaIndex(COLLECTION, folder=ground.folder / "chroma")
    await first.add(ANA, "g1", [point("a")])
    await first.close()
    with pytest.raises(Unavailable):
        await first.search(ANA, "g1", X, 1)
    again = ChromaIndex(COLLECTION, folder=ground.folder / "chroma")
    assert await ids(again) == ["a"]
    await again.close()


async def test_collections_of_one_chroma_keep_apart(ground: Ground) -> None:
    one, other = (ChromaIndex(name, folder=ground.folder / "chroma") for name in (COLLECTION, f"{COLLECTION}2"))
    await one.add(ANA, "g1", [point("a")])
    await other.add(ANA, "g1", [point("b")])
    await one.clear(ANA)
    assert (await ids(one), await ids(other)) == ([], ["b"])
    await one.close()
    await other.close()


@pytest.mark.parametrize("kind", ["chroma", "opensearch"])
async def test_who_is_not_there_is_unavailable(kind: str) -> None:
    index = abroad(kind, "http://127.0.0.1:1")
    for asked in (
        index.search(ANA, "g1", X, 1),
        index.add(ANA, "g1", [point("a")]),
        index.drop(ANA, ["a"]),
        index.clear(ANA),
        index.retire("g1"),
    ):
        with pytest.raises(Unavailable):
            await asked
    await index.close()


@pytest.mark.parametrize("kind", ["chroma", "opensearch"])
@pytest.mark.parametrize(("collection", "url"), [("Big Letters", "http://h"), ("fine", "ftp://h"), ("fine", "h:9200")])
def test_a_name_or_an_address_that_can_not_be_is_refused(kind: str, collection: str, url: str) -> None:
    with pytest.raises(InvalidInput):
        abroad(kind, url, collection)


async def test_opensearch_that_refuses_is_told_apart_from_one_that_fails() -> None:
    with OpenSearch().running() as server:
        index = abroad("opensearch", server.url)
        await index.add(ANA, "g1", [point("a")])
        server.fail_with = 403
        with pytest.raises(NotAllowed):
            await index.search(ANA, "g1", X, 1)
        server.fail_with = 500
        with pytest.raises(Unavailable):
            await index.drop(ANA, ["a"])
        server.fail_with = None
        with pytest.raises(Unavailable):
            await index.add(ANA, "g1", [Point("wrong-size", np.ones(4, np.float32), {})])
        assert await ids(index) == ["a"]
        await index.close()


async def test_opensearch_prepares_a_generation_once_whoever_else_did() -> None:
    with OpenSearch().running() as server:
        first, second = (abroad("opensearch", server.url) for _ in range(2))
        for number, index in enumerate((first, first, second)):
            await index.add(ANA, "g1", [point(str(number))])
        assert sorted(await ids(first)) == ["0", "1", "2"]
        assert [method for method, _, _ in server.seen].count("PUT") == 4
        await first.close()
        await second.close()
