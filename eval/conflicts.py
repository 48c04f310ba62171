"""`--dataset conflicts`: facts that change, told to the real engine among other memories, then asked for.

The newest value must come first, and the old one must not be shown as current: it is gone from what is recalled, or marked as
what was said before. What is true side by side must stay. Four kinds of evidence; the generated ones have a say in the verdict:

    updates, side by side     generated, by the hand that wrote the rules (`updates`): that what is meant to be covered is
    told, restated, states    sentences written before any rule was tried on them: one half was looked at since, the other never
    public sets               whole turns of conversation in which the news is half a sentence, kept and recalled as messages
    other questions           of those sets: how many turns that answer them are called outdated and are not
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval import found
from eval.found import Case
from eval.sentences import How, Pair, anew, beside
from eval.updates import Update, several, updates
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.model import Filter, Query, Scope, Status

SHOWN = 10
"""Hits that somebody gets to see."""
NEWEST_FIRST = 95.0
NOT_CURRENT = 98.0
SETS: tuple[How, ...] = ("told", "restated", "states")
THEN = datetime(2025, 3, 1, 9, tzinfo=UTC)
BESIDE = (
    "The bakery on the corner closes early on Sundays", "Photosynthesis turns light into sugar", "Remember to water the ferns",
    "The Danube flows through ten countries", "Our printer needs toner again",
    "楼下的咖啡店周末不开门", "昨晚的电影很精彩", "记得给植物浇水",
)  # fmt: skip


async def run(engine: Engine, path: Path | None, limit: int | None = None) -> list[dict[str, Any]]:
    rows = await _updates(engine, list(updates())[:limit])
    rows.append(await _side_by_side(engine, list(several())[:limit]))
    for how, (held, half) in product(SETS, ((False, "looked at"), (True, "held out"))):
        rows.append(await _anew(engine, f"{how}, {half}", list(anew(held, how))[:limit]))
        rows.append(await _beside(engine, f"{how}, {half}", list(beside(held, how))[:limit]))
    if path is not None:
        for name, cases in (("longmemeval_pooled", found.longmemeval(path)), ("beam_100k", found.beam(path))):
            rows += await told_in_turns(engine, name, list(cases)[:limit])
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
    table = Table(
        title="conflicts",
        caption="both true: both of them still current · other questions: turns that answer, not marked",
    )
    for column in ("part", "kind"):
        table.add_column(column)
    for column in ("cases", "newest first %", "old not current %", "asked %"):
        table.add_column(column, justify="right")
    for part in dict.fromkeys(row["part"] for row in rows):
        mine = [row for row in rows if row["part"] == part]
        for row in mine:
            table.add_row(part, row["kind"], *_shares(row), end_section=row is mine[-1] and part != "updates")
        if part == "updates":
            total = {key: sum(row[key] for row in mine) for key in ("n", "newest_first", "not_current", "asked")}
            table.add_row(part, "all", *_shares(total), style="bold", end_section=True)
    console.print(table)


def _shares(row: dict[str, Any]) -> list[str]:
    shares = (row[key] for key in ("newest_first", "not_current", "asked"))
    return [str(row["n"]), *("" if share is None else f"{100 * share / max(1, row['n']):.1f}" for share in shares)]


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
            await engine.erase_user(scope.tenant, scope.user)
            row["asked"] += any(receipt.conflicts for receipt in receipts)
            if row["missed"] and row["missed"][-1] == case.question:
                row["missed"][-1] = f"{case.old} -> {case.new}"
    return list(counts.values())


async def _side_by_side(engine: Engine, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return await _both_true(engine, _row("side by side", "both true"), [Pair(*pair) for pair in pairs])


async def _both_true(engine: Engine, row: dict[str, Any], pairs: Sequence[Pair]) -> dict[str, Any]:
    row["newest_first"] = None
    for number, pair in enumerate(track(pairs, description=row["part"])):
        scope = Scope("eval", f"both-{number}")
        await engine.remember(scope, {"content": pair.old, "id": "first"})
        receipt = await engine.remember(scope, {"content": pair.new, "id": "second"})
        kept = (await engine.get(scope, "first")).status is Status.ACTIVE
        row["n"] += 1
        row["not_current"] += kept
        row["asked"] += bool(receipt.conflicts)
        if not kept:
            row["missed"].append(f"{pair.old} -> {pair.new}")
        await engine.erase_user(scope.tenant, scope.user)
    return row


async def _beside(engine: Engine, part: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    return await _both_true(engine, _row(part, "both true"), pairs)


async def _anew(engine: Engine, part: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    row = _row(part, "told anew")
    for number, pair in enumerate(track(pairs, description=part)):
        scope = Scope("eval", f"anew-{number}")
        for text in BESIDE:
            await engine.remember(scope, {"content": text})
        await engine.remember(scope, {"content": pair.old, "created_at": THEN, "id": "old"})
        later = {"content": pair.new, "created_at": THEN + timedelta(days=30), "id": "new"}
        row["asked"] += bool((await engine.remember(scope, later)).conflicts)
        await _judge(engine, scope, pair.question, {"new"}, {"old"}, row)
        await engine.erase_user(scope.tenant, scope.user)
    return row


async def _judge(
    engine: Engine, scope: Scope, question: str, new: Collection[str], old: Collection[str], row: dict[str, Any]
) -> None:
    await embed.drain(engine)
    places, marked = await _answers(engine, scope, question, Filter(kinds=("memory",)))
    first = min((places[id] for id in new if id in places), default=len(places))
    before = min((places[id] for id in old if id in places), default=len(places) + 1)
    shown = [id for id in old if places.get(id, SHOWN) < SHOWN and id not in marked]
    row["n"] += 1
    row["newest_first"] += first < before
    row["not_current"] += not shown
    if first > before or shown:
        row["missed"].append(question)


async def _answers(engine: Engine, scope: Scope, question: str, filter: Filter) -> tuple[dict[str, int], set[str]]:
    """Where each hit stands, and which are marked as outdated."""
    recalled = await engine.recall(scope, Query(text=question, limit=20, min_relevance=0.0, filter=filter))
    places = {hit.target.id: place for place, hit in enumerate(recalled)}
    return places, {hit.target.id for hit in recalled if hit.outdated_by is not None}


async def told_in_turns(engine: Engine, name: str, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Turns kept and recalled as messages. A question about the past wants the old value, unmarked."""
    rows: dict[str, dict[str, Any]] = {}
    stored: Scope | None = None
    for case in track(cases, description=name):
        scope = Scope("eval", f"{name}-{case.person}"[:200])
        if stored != scope:
            if stored is not None:
                await engine.erase_user(stored.tenant, stored.user)
            for session, turns in case.sessions.items():
                await engine.add_turns(scope, session, turns)
            await embed.drain(engine)
            stored = scope
        await _ask(engine, scope, name, case, rows)
    if stored is not None:
        await engine.erase_user(stored.tenant, stored.user)
    return sorted(rows.values(), key=lambda row: (row["asked"] is None, row["kind"]))


async def _ask(engine: Engine, scope: Scope, name: str, case: Case, rows: dict[str, dict[str, Any]]) -> None:
    places, marked = await _answers(engine, scope, case.question, Filter(kinds=("message",)))
    if not case.new or case.of_the_past:
        kind = "the past: the old one unmarked" if case.new else f"{case.kind}: not marked"
        row = rows.setdefault(kind, _row(name, kind) | {"asked": None, "newest_first": None})
        for id in case.old or case.relevant:
            if places.get(id, SHOWN) < SHOWN:
                row["n"] += 1
                row["not_current"] += id not in marked
        return
    row = rows.setdefault(case.kind, _row(name, case.kind))
    first = min((places[id] for id in case.new if id in places), default=len(places))
    before = min((places[id] for id in case.old if id in places), default=len(places) + 1)
    current = [id for id in case.old if places.get(id, SHOWN) < SHOWN and id not in marked]
    row["n"] += 1
    row["newest_first"] += first < before
    row["not_current"] += not current
    if first > before or current:
        row["missed"].append(case.question)


def _row(part: str, kind: str) -> dict[str, Any]:
    return {"part": part, "kind": kind, "n": 0, "newest_first": 0, "not_current": 0, "asked": 0, "missed": []}
