"""Each benchmark runs, small, and tells what it promises. How long anything took is nobody's business here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import backfill, growth, parts, recall, write
from bench.filling import Size, person
from bench.ground import DIMENSIONS, engine_over, fresh_store, put_memories
from bench.recall import Asking
from bench.texts import notes
from recollect.model import Listing

ROOT = Path(__file__).parents[2]


async def test_recall_measures_both_ways_and_its_floor() -> None:
    asking = Asking(count=4, seconds=5.0, recipes=["native", "recall"], paths=["memory", "index"])
    rows, filling = await recall.run("sqlite", [40, 60], asking)
    asked = [row for row in rows if "recipe" in row]
    assert [(row["size"], row["recipe"], row["path"]) for row in asked] == [
        (size, recipe, path) for size in (40, 60) for path in ("memory", "index") for recipe in ("native", "recall")
    ]
    for row in asked:
        assert row["n"] == row["store_n"] == 4
        assert 0 < row["store_p50_ms"] <= row["store_p95_ms"]
        assert row["ratio_p50"] > 0
        assert row["hits"] > 0, "a search that finds nothing measures nothing"
    assert [row["path"] for row in asked if row["default"]] == ["memory"] * 4
    assert [row["path"] for row in rows if "recipe" not in row] == ["floor", "with model"] * 2
    assert {"fill_s", "fill_per_s", "disk_bytes", "mb_per_10000"} <= filling[0].keys()
    assert len(recall.threshold(rows)) == 4


def test_the_quicker_way_is_told_by_how_many_times() -> None:
    def row(size: int, path: str, p50: float) -> dict[str, object]:
        return {"size": size, "recipe": "native", "path": path, "store_p50_ms": p50}

    rows = [row(10, "memory", 1.0), row(10, "index", 3.0), row(99, "memory", 9.0), row(99, "index", 6.0)]
    rows.append({"size": 10, "path": "floor", "p50_ms": 0.5})
    verdicts = [(each["size"], each["quicker"], each["times"]) for each in recall.threshold(rows)]
    assert verdicts == [(10, "memory", 3.0), (99, "index", 1.5)]


def test_growth_goes_up_in_tens_and_ends_with_everyone() -> None:
    assert growth.steps_to(3) == [3]
    assert growth.steps_to(10) == [10]
    assert growth.steps_to(250) == [10, 100, 250]
    assert growth.steps_to(1000) == [10, 100, 1000]


async def test_a_database_in_parts_is_asked_in_turn_with_a_whole_one() -> None:
    whole, divided, times = await parts.run(Size(total=40, users=4), count=3, parts=2)
    assert (whole["what"], divided["what"], times["what"]) == ("whole", "in 2 parts", "×")
    assert whole["recall_n"] == divided["recall_n"] == whole["write_n"] == divided["write_n"] == 3
    assert divided["divide_s"] > 0
    assert times["recall_p50_ms"] > 0


async def test_growth_adds_people_and_not_memories_of_each() -> None:
    first, last = (await growth.run("sqlite", Size(total=60, users=12), count=5)).rows
    assert (first["users"], first["memories"], first["each"]) == (10, 50, 5)
    assert (last["users"], last["memories"], last["each"]) == (12, 60, 5)
    figures = {"recall_p50_ms", "recall_p95_ms", "first_p50_ms", "write_p50_ms", "write_p95_ms"}
    beside = {f"alone_{name}" for name in figures} | {"slower", "slower_p95", "write_slower"}
    for key in figures | beside | {"disk_bytes", "resident_mb", "fill_per_s"}:
        assert last[key] > 0, key


async def test_growth_goes_on_where_it_stopped_and_begins_the_half_filled_anew(tmp_path: Path) -> None:
    begun = await growth.run("sqlite", Size(total=50, users=10), count=3, folder=tmp_path)
    async with fresh_store("sqlite", tmp_path) as (store, _):
        async for _ in put_memories(engine_over(store), person(11), notes(2, seed=11)):
            pass
    grown = await growth.run("sqlite", Size(total=60, users=12), count=3, folder=tmp_path)
    assert grown.rows[0] == begun.rows[0]
    assert [(row["users"], row["filled"]) for row in grown.rows] == [(10, 50), (12, 10)]
    async with fresh_store("sqlite", tmp_path) as (store, _):
        found = await store.read(person(11), lambda tx: tx.memories.list(Listing()))
    assert {each.content for each in found.items} >= set(notes(5, seed=11))
    with pytest.raises(SystemExit, match="take another folder"):
        await growth.run("sqlite", Size(total=120, users=12), count=3, folder=tmp_path)


async def test_growth_ends_when_its_time_is_up() -> None:
    assert (await growth.run("sqlite", Size(total=60, users=12, seconds=-1.0), count=3)).rows == []


async def test_growth_fills_a_postgres_side_by_side_and_has_its_plans_examined() -> None:
    grown = await growth.run("postgres", Size(total=2_000, users=2, lanes=2, written=1), count=4)
    (row,) = grown.rows
    assert (row["memories"], row["filled"]) == (2_000, 2_000)
    assert row["hits"] > 0, "a search that finds nothing measures nothing"
    assert grown.plan is not None
    assert grown.plan["faults"] == []
    assert grown.plan["statements"] > 100
    assert grown.room is not None
    assert grown.room["counts"]["memories"] == grown.room["counts"]["embeddings"] == 2_004
    assert grown.room["together"] > 2 * DIMENSIONS
    assert "an index behind each" in grown.said


async def test_backfill_embeds_everything_beside_the_bare_model() -> None:
    queue, bare = await backfill.run("sqlite", count=10, batch=4)
    assert queue["texts"] == bare["texts"] == 10
    assert queue["model"] == bare["model"]
    assert queue["per_s"] > 0
    assert bare["ratio"] == 1.0


async def test_two_workers_share_one_queue() -> None:
    queue, bare = await backfill.run("sqlite", count=12, batch=3, workers=2)
    assert (queue["workers"], queue["texts"], bare["texts"]) == (2, 12, 12)


async def test_write_has_a_floor_for_each_size() -> None:
    rows = await write.run("sqlite", count=5, existing=[0, 20])
    assert [row["n"] for row in rows] == [5] * 4
    assert [("ratio_p50" in row) for row in rows] == [True, False, True, False]


def test_figures_are_kept_and_drawn(tmp_path: Path) -> None:
    kept, drawn = tmp_path / "out.json", tmp_path / "out.svg"
    done = _bench("growth", "--total", "20", "--users", "4", "--count", "3", "--json", kept, "--plot", drawn)
    assert done.returncode == 0, done.stderr
    figures = json.loads(kept.read_text())
    assert figures["bench"] == "growth"
    assert figures["rows"][0]["memories"] == 20
    assert figures["took_s"] > 0
    assert {"python", "machine", "system", "cores"} == figures["machine"].keys()
    assert drawn.read_text().startswith("<svg")
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_an_unknown_peer_is_refused_by_name() -> None:
    done = _bench("recall", "--peers", "chroma,elephant")
    assert done.returncode == 2
    assert "no peer is called 'elephant'" in done.stderr


def _bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    command = [sys.executable, "-m", "bench", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=280)
