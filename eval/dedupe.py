"""`--dataset dedupe`: texts of the sets, each changed in one thing that matters or in its clothes only, told to the real engine.

What differs in a number, date, name or negation must never be merged; what differs in its clothes should be. Pairs of sentences
that people judged (PAWS-X and its like) are told beside it: there a merge of two that don't mean the same is a false one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.injection import _digest
from eval.mutations import changes, clothes, each_of
from recollect.engine import Engine
from recollect.model import Scope
from recollect.policy.duplicates import same

TEXTS = 4500
REPEATED = 800
LONGEST = 300
FEWEST_CHANGES = 5000
RECALL = 95.0
"""The least share of true repeats that must be recognised, in percent."""
SAME = 4.0
"""From this on, of 5, people called two sentences the same."""


async def run(engine: Engine, path: Path, limit: int | None = None) -> list[dict[str, Any]]:
    texts = list(islice(_texts(path), limit or TEXTS))
    rows = await _told(engine, texts, "changed", changes())
    rows += await _told(engine, texts[:REPEATED], "repeated", clothes())
    return rows + list(_pairs(path))


def passed(rows: Sequence[dict[str, Any]], limit: int | None = None) -> list[str]:
    """What falls short, in words; nothing when all is well."""
    changed = [row for row in rows if row["part"] == "changed"]
    repeated = [row for row in rows if row["part"] == "repeated"]
    short = []
    if wrong := sum(row["merged"] for row in changed):
        short.append(f"{wrong} texts were merged that differ in something that matters")
    if limit is None and (count := sum(row["n"] for row in changed)) < FEWEST_CHANGES:
        short.append(f"only {count} changed texts, {FEWEST_CHANGES} are needed")
    recall = 100 * sum(row["merged"] for row in repeated) / max(1, sum(row["n"] for row in repeated))
    if recall < RECALL:
        short.append(f"only {recall:.1f} % of true repeats were recognised")
    return short


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="duplicates")
    for column in ("part", "kind"):
        table.add_column(column)
    for column in ("texts", "merged", "%"):
        table.add_column(column, justify="right")
    for part in ("changed", "repeated", "pairs that differ", "pairs that agree"):
        mine = [row for row in rows if row["part"] == part]
        for row in mine:
            table.add_row(part, row["kind"], str(row["n"]), str(row["merged"]), f"{100 * row['merged'] / row['n']:.2f}")
        n, merged = sum(row["n"] for row in mine), sum(row["merged"] for row in mine)
        table.add_row(
            part, "all", str(n), str(merged), f"{100 * merged / max(1, n):.2f}", style="bold", end_section=True
        )
    console.print(table)


async def _told(engine: Engine, texts: Sequence[str], part: str, kinds: Any) -> list[dict[str, Any]]:
    """Each text and what was made of it in a space of their own; how many of them were merged."""
    counts: dict[str, list[bool]] = defaultdict(list)
    wrong: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for number, text in enumerate(track(texts, description=part)):
        for kind, other in each_of(kinds, text):
            scope = Scope("eval", f"{part}-{number}", kind)
            await engine.remember(scope, {"content": text})
            receipt = await engine.remember(scope, {"content": other})
            merged = receipt.outcome == "merged"
            counts[kind].append(merged)
            if merged == (part == "changed"):
                wrong[kind].append((text, other))
    return [
        {"part": part, "kind": kind, "n": len(told), "merged": sum(told), "wrong": wrong[kind][:20]}
        for kind, told in counts.items()
    ]


def _pairs(path: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(path.glob("*.cases.jsonl")):
        cases = list(_lines(file))
        if not cases or cases[0].get("kind") != "pairs":
            continue
        for agree in (False, True):
            chosen = [case for case in cases if (case["label"] >= (SAME if case["scale"] == "0-5" else 1)) == agree]
            merged = [case for case in chosen if same(case["text_a"], case["text_b"])]
            yield {
                "part": "pairs that agree" if agree else "pairs that differ",
                "kind": file.name.removesuffix(".cases.jsonl"),
                "n": len(chosen),
                "merged": len(merged),
                "wrong": [] if agree else [(case["text_a"], case["text_b"]) for case in merged[:20]],
            }


def _texts(path: Path) -> Iterator[str]:
    """Texts of every set in turn, none too long to be a memory, in an order that depends on themselves alone."""
    sets = []
    for file in sorted(path.glob("*.corpora.jsonl")):
        told = {m["text"] for line in _lines(file) for m in line.get("memories", ()) if 8 <= len(m["text"]) <= LONGEST}
        sets.append(iter(sorted(told, key=lambda text: (_digest(text), text))))
    seen: set[str] = set()
    while sets:
        for each in list(sets):
            text = next(each, None)
            if text is None:
                sets.remove(each)
            elif text not in seen:
                seen.add(text)
                yield text


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
