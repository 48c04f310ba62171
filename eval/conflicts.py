"""`--dataset conflicts`: facts that change, told to the real engine among other memories, then asked for.

Generated updates decide (see `updates` for what they can show): the newest value must come first, the old one must not be shown
as current, whichever of them arrives first; and what is true side by side must stay. Beside them, as found and without a say in
the verdict: the knowledge updates and contradictions of public sets, whole turns of conversation in which the news is half a
sentence. Without a model to read them, ranking alone decides there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.dedupe import _lines
from eval.updates import Update, several, updates
from recollect.engine import Engine, embed
from recollect.model import Query, Scope, Status

NEWEST_FIRST = 95.0
NOT_CURRENT = 98.0
THEN = datetime(2025, 3, 1, 9, tzinfo=UTC)
BESIDE = (
    "The bakery on the corner closes early on Sundays", "Photosynthesis turns light into sugar", "Remember to water the ferns",
    "The Danube flows through ten countries", "Our printer needs toner again",
    "楼下的咖啡店周末不开门", "昨晚的电影很精彩", "记得给植物浇水",
)  # fmt: skip


async def run(engine: Engine, path: Path | None, limit: int | None = None) -> list[dict[str, Any]]:
    rows = await _updates(engine, list(updates())[:limit])
    rows.append(await _side_by_side(engine, list(several())[:limit]))
    if path is not None:
        for name, cases in (("longmemeval_pooled", _longmemeval(path)), ("beam_100k", _beam(path))):
            rows += await _found(engine, name, list(cases)[:limit])
    return rows


def passed(rows: Sequence[dict[str, Any]]) -> list[str]:
    mine = [row for row in rows if row["part"] == "updates"]
    n = sum(row["n"] for row in mine) or 1
    short = []
    for measure, least in (("newest_first", NEWEST_FIRST), ("not_current", NOT_CURRENT)):
        share = 100 * sum(row[measure] for row in mine) / n
        if share < least:
            short.append(f"{measure.replace('_', ' ')}: {share:.1f} %, {least} % are needed")
    if lost := sum(row["n"] - row["not_current"] for row in rows if row["part"] == "side by side"):
        short.append(f"{lost} memories were replaced that were still true")
    return short


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="conflicts", caption="side by side: both of them still current")
    for column in ("part", "kind"):
        table.add_column(column)
    for column in ("cases", "newest first %", "old not current %", "asked %"):
        table.add_column(column, justify="right")
    for part in dict.fromkeys(row["part"] for row in rows):
        mine = [row for row in rows if row["part"] == part]
        total = {key: sum(row[key] for row in mine) for key in ("n", "newest_first", "not_current", "asked")}
        for row in mine if len(mine) > 1 else ():
            table.add_row(part, row["kind"], *_shares(row))
        table.add_row(part, "all", *_shares(total), style="bold", end_section=True)
    console.print(table)


def _shares(row: dict[str, Any]) -> list[str]:
    return [
        str(row["n"]),
        *(f"{100 * row[key] / max(1, row['n']):.1f}" for key in ("newest_first", "not_current", "asked")),
    ]


async def _updates(engine: Engine, cases: Sequence[Update]) -> list[dict[str, Any]]:
    """Each case in order and, dated, in the wrong order."""
    counts: dict[str, dict[str, Any]] = {}
    for number, case in enumerate(track(cases, description="updates")):
        for late in (False, True):
            scope = Scope("eval", f"update-{number}", "late" if late else "default")
            for text in BESIDE:
                await engine.remember(scope, {"content": text})
            pair = [
                {"content": case.old, "created_at": THEN, "id": "old"},
                {"content": case.new, "created_at": THEN + timedelta(days=30), "id": "new"},
            ]
            receipts = [await engine.remember(scope, fields) for fields in (reversed(pair) if late else pair)]
            row = counts.setdefault(case.family, _row("updates", case.family))
            await _judge(engine, scope, case.question, {"new"}, {"old"}, row)
            row["asked"] += any(receipt.conflicts for receipt in receipts)
            if row["missed"] and row["missed"][-1] == case.question:
                row["missed"][-1] = f"{case.old} -> {case.new}"
    return list(counts.values())


async def _side_by_side(engine: Engine, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    row = _row("side by side", "both true")
    for number, (first, second) in enumerate(track(pairs, description="side by side")):
        scope = Scope("eval", f"both-{number}")
        await engine.remember(scope, {"content": first, "id": "first"})
        receipt = await engine.remember(scope, {"content": second, "id": "second"})
        kept = (await engine.get(scope, "first")).status is Status.ACTIVE
        row["n"] += 1
        row["newest_first"] += 1
        row["not_current"] += kept
        row["asked"] += bool(receipt.conflicts)
        if not kept:
            row["missed"].append(f"{first} -> {second}")
    return row


async def _judge(
    engine: Engine, scope: Scope, question: str, new: set[str], old: set[str], row: dict[str, Any]
) -> None:
    await embed.drain(engine)
    recalled = await engine.recall(scope, Query(text=question, limit=20, min_relevance=0.0))
    ids = [hit.memory.id for hit in recalled if hit.memory is not None]
    place = {id: number for number, id in enumerate(ids)}
    first = min((place[id] for id in new if id in place), default=len(ids))
    before = min((place[id] for id in old if id in place), default=len(ids) + 1)
    row["n"] += 1
    row["newest_first"] += first < before
    row["not_current"] += not any(id in place for id in old)
    if first > before or any(id in place for id in old):
        row["missed"].append(question)
    await engine.erase_user(scope.tenant, scope.user)


async def _found(
    engine: Engine, name: str, cases: Sequence[tuple[str, str, list[dict[str, Any]], set[str], set[str]]]
) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for number, (kind, question, turns, new, old) in enumerate(track(cases, description=name)):
        row = rows.setdefault(kind, _row(name, kind))
        scope = Scope("eval", f"{name}-{number}")
        asked = False
        for turn in turns:
            receipt = await engine.remember(scope, turn)
            asked |= turn["id"] in new and not old.isdisjoint(receipt.conflicts)
        row["asked"] += asked
        await _judge(engine, scope, question, new, old, row)
    return list(rows.values())


def _longmemeval(path: Path) -> Iterator[tuple[str, str, list[dict[str, Any]], set[str], set[str]]]:
    """What the user says in the sessions that hold the evidence."""
    sessions = {line["session_id"]: line["turns"] for line in _lines(path / "longmemeval_pooled.sessions.jsonl")}
    dates = {
        (line["corpus_id"], ref["session_id"]): datetime.fromisoformat(ref["created_at"])
        for line in _lines(path / "longmemeval_pooled.corpora.jsonl")
        for ref in line["session_refs"]
    }
    for case in _lines(path / "longmemeval_pooled.cases.jsonl"):
        latest = case["extra"].get("latest_evidence_session")
        new = {id for id in case["relevant_ids"] if latest and id.startswith(f"{latest}#")}
        old = set(case["relevant_ids"]) - new
        if case["category"] != "knowledge-update" or not new or not old:
            continue
        turns = [
            {"id": turn["id"], "content": turn["text"], "created_at": dates[case["corpus_id"], session]}
            for session in case["relevant_sessions"]
            for turn in sessions[session]
            if turn["role"] == "user"
        ]
        yield case["category"], case["query"], sorted(turns, key=lambda turn: turn["created_at"]), new, old


def _beam(path: Path) -> Iterator[tuple[str, str, list[dict[str, Any]], set[str], set[str]]]:
    """What the user says in the whole chat."""
    chats = {line["corpus_id"]: line["memories"] for line in _lines(path / "beam_100k.corpora.jsonl")}
    for case in _lines(path / "beam_100k.cases.jsonl"):
        extra = case["extra"]
        pair = (
            extra.get("original_info") or extra.get("first_statement"),
            extra.get("updated_info") or extra.get("second_statement"),
        )
        if case["category"] not in ("knowledge_update", "contradiction_resolution") or not all(pair):
            continue
        old, new = set(pair[0]) - set(pair[1]), set(pair[1]) - set(pair[0])
        if not old or not new:
            continue
        wanted = old | new
        turns = [
            {"id": each["id"], "content": each["text"], "created_at": datetime.fromisoformat(each["created_at"])}
            for each in chats[case["corpus_id"]]
            if each["role"] == "user" and (each["id"] in wanted or len(each["text"]) < 400)
        ]
        yield case["category"], case["query"], turns, new, old


def _row(part: str, kind: str) -> dict[str, Any]:
    return {"part": part, "kind": kind, "n": 0, "newest_first": 0, "not_current": 0, "asked": 0, "missed": []}
