"""`--dataset followups`: whether an answerer is shown what a follow-up question leaves out, and what the rules make of it alone.

Every question is put to the real verb of the data chat, over a fresh store, with an answerer that gives the recorded answers and
keeps what it was shown. One person holds a dozen dialogues of a set, so that there is more than fits a window; in four layouts:

    sessions  each dialogue is a conversation of its own; they take turns
    together  four at a time take turns in one conversation, after all that was said there before
    far       all of them take turns in one conversation: the turn before is a dozen questions away
    anew      as `sessions`, but the question is asked in a new conversation: only a search can bring what it needs

A question counts as served when everything it leaves out, as far as it was said before, is in the text the answerer gets:
in the turns that said it, not by chance. The aim is for conversations people hold: `sessions` and `together`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval import adapting
from eval.dialogues import WITH_SQL, Dialogue, read
from eval.ground import StoreKind, opened
from recollect.engine import Engine
from recollect.model import AskData, DataAnswer, DataQuestion, Scope
from recollect.policy.datachat import CURRENT, flat
from recollect.policy.text import analyse
from recollect.ports import Embedder
from recollect.testing import ScriptedAnswerer

Layout = Literal["sessions", "together", "far", "anew"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
AIMED: tuple[Layout, ...] = ("sessions", "together")
AIM = 98.0
DIALOGUES_A_PERSON = 12
AT_ONCE = 4
QUESTIONS = 300
NOTHING_SAID = "Here it is."


@dataclass
class Tally:
    questions: int = 0
    served: int = 0
    cut: int = 0
    tokens: list[int] = field(default_factory=list)

    def add(self, served: bool, tokens: int, truncated: bool) -> None:
        self.questions += 1
        self.served += served
        self.cut += truncated
        self.tokens.append(tokens)

    def figures(self) -> dict[str, Any]:
        tokens = sorted(self.tokens) or [0]
        return {
            "questions": self.questions,
            "served": round(100 * self.served / max(self.questions, 1), 2),
            "tokens_p50": tokens[len(tokens) // 2],
            "tokens_max": tokens[-1],
            "truncated": round(100 * self.cut / max(self.questions, 1), 2),
        }


async def run(
    path: Path, sets: Sequence[str], store: StoreKind, limit: int | None, embedder: Embedder | None = None
) -> list[dict[str, Any]]:
    rows = []
    for name in sets:
        dialogues = read(path, name, limit or QUESTIONS)
        row: dict[str, Any] = {"set": name, "dialogues": len(dialogues)}
        row["context"] = {layout: (await _measured(dialogues, layout, store, embedder)).figures() for layout in LAYOUTS}
        if name == "sparc_dev":  # the other set with SQL has no values in it, and names no tables that are joined
            row["rules"] = await adapting.measured(read(path, name))
        rows.append(row)
    return rows


def passed(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Where the aim is missed."""
    return [
        f"{row['set']} {layout}: {row['context'][layout]['served']} % of {AIM:g} %"
        for row in rows
        for layout in AIMED
        if row["context"][layout]["served"] < AIM
    ]


def show(rows: Sequence[dict[str, Any]], console: Console) -> None:
    table = Table(title="the needed earlier turn is in the context, %")
    for column in ("set", "questions", *LAYOUTS, "tokens p50", "tokens max"):
        table.add_column(column, justify="left" if column == "set" else "right")
    for row in rows:
        figures = row["context"]
        served = [f"{figures[layout]['served']:.1f}" for layout in LAYOUTS]
        tokens = (figures["together"]["tokens_p50"], max(figures[layout]["tokens_max"] for layout in LAYOUTS))
        table.add_row(row["set"], str(figures["together"]["questions"]), *served, *map(str, tokens))
    console.print(table)
    for row in rows:
        if told := row.get("rules"):
            shares = ", ".join(f"{name} {told[name]} %" for name in ("right", "wrong", "cannot", "exact", "rows"))
            console.print(f"{row['set']}, rules alone: {told['questions']} questions, {shares}")


async def _measured(
    dialogues: Sequence[Dialogue], layout: Layout, store: StoreKind, embedder: Embedder | None
) -> Tally:
    tally = Tally()
    async with opened(store, embedder=embedder) as ground:
        answerer = ground.engine.desk.answerer = ScriptedAnswerer()
        people = [dialogues[at : at + DIALOGUES_A_PERSON] for at in range(0, len(dialogues), DIALOGUES_A_PERSON)]
        for number, its in enumerate(track(people, f"{dialogues[0].source if dialogues else '':16}{layout:10}")):
            await _person(ground.engine, answerer, Scope("eval", f"user-{number}"), its, layout, tally)
    return tally


async def _person(
    engine: Engine,
    answerer: ScriptedAnswerer,
    scope: Scope,
    dialogues: Sequence[Dialogue],
    layout: Layout,
    tally: Tally,
) -> None:
    for round in _rounds(dialogues, layout):
        for dialogue, place in round:
            turn, needs = dialogue.turns[place], dialogue.needs(place)
            session = _session(dialogue, layout, place, measured=bool(needs))
            reply = turn.reply or NOTHING_SAID
            answerer.add(DataAnswer(answer=reply, sql=turn.sql, tables=turn.tables))
            told = await engine.ask_data(scope, AskData(question=turn.text, session_id=session))
            if needs:
                tally.add(_served(dialogue, place, answerer.asked[-1]), told.used.tokens, told.used.truncated)
        # Between questions there is time enough to embed what was said.
        await engine.flush(scope.data)


def _rounds(dialogues: Sequence[Dialogue], layout: Layout) -> Iterator[list[tuple[Dialogue, int]]]:
    """Turns in the order in which they are asked, one of each dialogue that is under way at a time."""
    size = AT_ONCE if layout == "together" else len(dialogues)
    for start in range(0, len(dialogues), size):
        under_way = dialogues[start : start + size]
        for place in range(max(len(each.turns) for each in under_way)):
            yield [(each, place) for each in under_way if place < len(each.turns)]


def _session(dialogue: Dialogue, layout: Layout, place: int, *, measured: bool) -> str:
    if layout in {"together", "far"}:
        return "one"
    return f"{dialogue.id}#{place}" if layout == "anew" and measured else dialogue.id


def _served(dialogue: Dialogue, place: int, shown: DataQuestion) -> bool:
    """Whether everything the question leaves out is shown, in a turn of its own dialogue that said it."""
    text = shown.augmented.partition(CURRENT)[0]
    there = {number for number, turn in enumerate(dialogue.turns[:place]) if flat(turn.text) in text}
    if dialogue.source in WITH_SQL:
        return place - 1 in there
    words = set(analyse(text))
    needs = zip(dialogue.missing(place), dialogue.needs(place), strict=True)
    return all(sources & there and word in words for word, sources in needs)
