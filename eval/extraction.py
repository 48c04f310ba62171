"""How much the rules read off conversations, and what: figures for each set, and a sample to be judged by eye.

    python -m eval.extraction DIR [--sets a,b] [--turns N] [--sample N] [--seed S] [--json OUT]

Each turn of a user is read as if it had just been said. Turns of assistants are read the same way, as if a user had pasted them:
whatever is found there is junk, for nobody said it of themselves. What precision is, a table can't tell: `--sample` prints items
drawn with the seed for a person to judge. Turns are taken in the order of the files, so every run gives the same figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from eval.cases import Item, kind_of, names, read_set
from recollect.policy.extraction import STATED, Read, read

ASSISTANTS = frozenset({"assistant"})
RECORDS = frozenset({"calendar", "call", "contact", "fitness_health", "note", "photo", "push", "sms", "memory"})
"""Roles of things that nobody says to an assistant."""


def turns(folder: Path, name: str, most: int) -> list[Item]:
    """Distinct turns of a set, in order."""
    seen: dict[tuple[str, str], Item] = {}
    for corpus in read_set(folder, name):
        for item in corpus.items:
            seen.setdefault((item.session_id, item.id), item)
            if len(seen) >= most:
                return list(seen.values())
    return list(seen.values())


def measured(name: str, who: str, said: Sequence[Item]) -> tuple[dict[str, Any], list[tuple[Item, Read]]]:
    start = time.process_time()
    found = [(each, read(each.text)) for each in said]
    spent = time.process_time() - start
    items = [item for _, got in found for item in got.items]
    row = {
        "set": name,
        "who": who,
        "turns": len(said),
        "with_items": sum(bool(got.items) for _, got in found),
        "items": len(items),
        "inferred": sum(item.confidence < STATED for item in items),
        "ms": round(1000 * spent / max(1, len(said)), 3),
    }
    return row, found


def run(folder: Path, chosen: Sequence[str], most: int) -> tuple[list[dict[str, Any]], dict[str, list[Read]]]:
    rows: list[dict[str, Any]] = []
    reads: dict[str, list[Read]] = {}
    for name in chosen:
        talk = [each for each in turns(folder, name, most) if each.role not in RECORDS]
        users = [each for each in talk if each.role not in ASSISTANTS]
        row, found = measured(name, "users", users)
        rows.append(row)
        reads[name] = [got for _, got in found]
        others = [each for each in talk if each.role in ASSISTANTS]
        if others:
            rows.append(measured(name, "assistants", others)[0])
    return rows, reads


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="extraction by rules")
    for column in ("set", "turns of"):
        table.add_column(column)
    for column in ("turns", "with items", "%", "items", "inferred", "ms a turn"):
        table.add_column(column, justify="right")
    for row in rows:
        share = 100 * row["with_items"] / max(1, row["turns"])
        counts = (row["turns"], row["with_items"], f"{share:.1f}", row["items"], row["inferred"], row["ms"])
        table.add_row(row["set"], row["who"], *map(str, counts))
    console.print(table)


def sample(reads: dict[str, list[Read]], many: int, seed: int) -> Iterator[str]:
    random = Random(seed)
    for name, found in reads.items():
        items = [item for got in found for item in got.items]
        for item in random.sample(items, min(many, len(items))):
            yield f"{name}\t{item.category}\t{item.confidence}\t{item.key}\t{item.content}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.extraction", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", help="which of them, separated by commas; all with conversations when left out")
    parser.add_argument("--turns", type=int, default=20_000, help="at most this many of each set")
    parser.add_argument("--sample", type=int, default=0, help="items of each set to print")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    asked = parser.parse_args()
    there = [name for name in names(asked.folder) if kind_of(asked.folder, name) == "retrieval"]
    rows, reads = run(asked.folder, asked.sets.split(",") if asked.sets else there, asked.turns)
    show(rows, Console())
    for line in sample(reads, asked.sample, asked.seed):
        print(line)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
