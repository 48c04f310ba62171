"""`recollect db size`: bytes a memory, by part, from what is stored."""

from __future__ import annotations

from recollect.stores.postgres.sizes import GIB, PLANNED, Part, Room, Sizes
from tests.cli.conftest import CommandLine, cli
from tests.services.postgres import Database
from tests.stores.postgres.filling import fill

__all__ = ["cli"]


def test_a_filled_database_is_measured(database: Database, cli: CommandLine) -> None:
    fill(database)
    found = cli.json("db", "size", "--store", database.app_url)
    assert found["counts"]["memories"] == 5_000
    assert found["counts"]["spaces"] == 101
    assert 100 < found["per_memory"]["memories: rows"] < 2_000
    assert found["per_memory"]["entries: words"] > 0
    assert [each["memories"] for each in found["planned"]] == [*PLANNED]
    assert "100,000,000 memories: " in cli("db", "size", "--store", database.app_url).stdout


def test_an_empty_database_takes_nothing(database: Database, cli: CommandLine) -> None:
    assert sum(cli.json("db", "size", "--store", database.app_url)["per_memory"].values()) == 0
    said = cli("db", "size", "--store", database.app_url).stdout
    assert "no memory is known of" in said
    assert "GiB" not in said, "nothing is planned from nothing"


def test_the_graph_counts_for_those_that_are_in_it() -> None:
    rows = Part("embeddings", None, "rows", rows=100, bytes=200_000)
    keys = Part("embeddings", "pk_embeddings", "keys", rows=50, bytes=5_000)
    graph = Part("embeddings", "embeddings_hnsw_1", "graph", rows=10, bytes=30_000)
    found = Sizes([rows, keys, graph])
    assert found.per_memory == {"embeddings: rows": 2_000, "embeddings: keys": 50, "embeddings: graph": 3_000}
    assert found.said == "from 0 memories: 2,050 bytes each, 3,000 more in the graph"
    many = PLANNED[-1]
    assert found.planned[-1] == Room(many, 2_050 * many / GIB, 5_050 * many / GIB, 2_050 * many / GIB)


def test_what_a_memory_has_several_of_counts_for_the_memory() -> None:
    memories = Part("memories", None, "rows", rows=100, bytes=40_000)
    slots = Part("slots", None, "rows", rows=400, bytes=60_000)
    assert Sizes([memories, slots]).per_memory == {"memories: rows": 400, "slots: rows": 600}
