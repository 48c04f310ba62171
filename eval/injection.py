"""`--dataset injection`: how much of an attack is noticed, and how often harmless text is suspected.

    python -m eval.injection DIR

DIR holds sets of labelled texts (`NAME.cases.jsonl` with kind "injection", text and label) and, for ordinary texts, conversations
(`NAME.corpora.jsonl`) and loose memories (`NAME.memories.jsonl`). Labelled sets are told by halves, split by a hash of the case's
id: signs and weights were chosen by looking at the `tune` half alone, so the `check` half is the honest figure. Ordinary texts
are sampled by the same hash, 2,000 of a set. Nothing is fitted here and nothing is random: every run gives the same table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from recollect.policy.injection import is_suspicious

SAMPLE = 2000
HALVES = ("tune", "check")


def run(path: Path) -> list[dict[str, Any]]:
    """A row for each set: labelled ones by halves and by what they should have been, ordinary ones as one sample."""
    rows: list[dict[str, Any]] = []
    for name, cases in _labelled(path):
        for half in HALVES:
            rows += _judged(name, half, [case for case in cases if _half(case["case_id"]) == half])
    for name, texts in track(list(_ordinary(path)), description="ordinary texts"):
        rows.append(_row(name, "sample", "ordinary", texts))
    return rows


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="injection")
    for column in ("set", "part", "texts"):
        table.add_column(column)
    for column in ("n", "detection %", "false alarms %"):
        table.add_column(column, justify="right")
    for row in rows:
        figures = (row["detection"], row["false_alarms"])
        shown = ("" if each is None else f"{each:.2f}" for each in figures)
        table.add_row(row["set"], row["part"], row["texts"], str(row["n"]), *shown)
    console.print(table)


def _judged(name: str, half: str, cases: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for label, texts in ((1, "attacks"), (0, "harmless")):
        chosen = [case["text"] for case in cases if case["label"] == label]
        if chosen:
            yield _row(name, half, texts, chosen)


def _row(name: str, part: str, texts: str, chosen: Sequence[str]) -> dict[str, Any]:
    suspected = sum(map(is_suspicious, chosen))
    share = round(100 * suspected / len(chosen), 2)
    return {
        "set": name,
        "part": part,
        "texts": texts,
        "n": len(chosen),
        "suspected": suspected,
        "detection": share if texts == "attacks" else None,
        "false_alarms": None if texts == "attacks" else share,
    }


def _labelled(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for file in sorted(path.glob("*.cases.jsonl")):
        first = next(_lines(file), {})
        if first.get("kind") == "injection":
            yield file.name.removesuffix(".cases.jsonl"), list(_lines(file))


def _ordinary(path: Path) -> Iterator[tuple[str, list[str]]]:
    for file in sorted(path.glob("*.corpora.jsonl")):
        told = (each for line in _lines(file) for each in line.get("memories", ()))
        yield from _sampled(file.name.removesuffix(".corpora.jsonl"), told)
    for file in sorted(path.glob("*.memories.jsonl")):
        yield from _sampled(file.name.removesuffix(".memories.jsonl"), _lines(file))


def _sampled(name: str, told: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    texts = {each["text"]: _digest(str(each["id"])) for each in told}
    if texts:
        yield name, list(islice(sorted(texts, key=lambda text: (texts[text], text)), SAMPLE))


def _half(case_id: str) -> str:
    return HALVES[_digest(case_id)[0] % 2]


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=4).digest()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python -m eval.injection DIR")
    show(run(Path(sys.argv[1])), Console())
