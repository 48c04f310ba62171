"""`recollect demo`: what Recollect can do, shown on data it makes for itself. Nothing of yours is read or written."""

from __future__ import annotations

from dataclasses import dataclass

import typer
from rich.text import Text

from recollect.bootstrap import engine_over, open_store
from recollect.cli.options import Call, command
from recollect.cli.output import grid, pairs, print_json, say, show
from recollect.engine import Engine
from recollect.errors import Unsupported
from recollect.model import AskData, DataReply, Scope
from recollect.settings import Settings

try:
    from recollect.providers.answerers import sample_database
except ImportError as missing:
    raise Unsupported(f"answers over data need the package {missing.name!r}: install recollect[data]") from None

app = typer.Typer(add_completion=False)

DEMOS = {"datachat": "Questions over a small database, where each leans on the one before."}

DIALOGUE = (
    "Show me total sales by region for 2024",
    "What about 2023?",
    "And for the South?",
    "by product instead",
    "only the top 3",
    "for all regions",
    "And what will the weather be like?",
)
"""The last one has no answer in the data; saying so is part of the show."""


@app.callback(invoke_without_command=True)
def demo(context: typer.Context) -> None:
    """See what Recollect can do, on data of its own."""
    if context.invoked_subcommand is None:
        show(grid([(f"recollect demo {name}", what) for name, what in DEMOS.items()]))


@dataclass(frozen=True)
class Turn:
    question: str
    reply: DataReply

    def plain(self) -> dict[str, object]:
        answer = self.reply.answer
        return {
            "question": self.question,
            "answered": answer.answered,
            "answer": answer.answer,
            "sql": answer.sql,
            "explanation": answer.explanation,
            "tables": list(answer.tables),
            "earlier_questions_used": self.reply.used.history,
            "related": list(answer.related),
        }


@command(app)
async def datachat(call: Call) -> None:
    """Ask a small database questions that lean on each other.

    Answers come from the configured chat model, or from rules where there is none.
    """
    settings = _settings()
    engine = engine_over(await open_store(settings), None, settings)
    if not call.json:
        say(f"the data: {settings.data_url}")
    try:
        turns = await _talk(engine, aloud=not call.json)
    finally:
        await engine.close()
    if call.json:
        print_json([each.plain() for each in turns])


async def _talk(engine: Engine, *, aloud: bool) -> list[Turn]:
    turns: list[Turn] = []
    session: str | None = None
    for question in DIALOGUE:
        reply = await engine.ask_data(Scope("demo", "demo"), AskData(question=question, session_id=session))
        session = reply.talk.conversation.id if reply.talk is not None else session
        turns.append(Turn(question, reply))
        if aloud:
            _show(turns[-1])
    return turns


def _show(turn: Turn) -> None:
    answer = turn.reply.answer
    show(Text(f"\n› {turn.question}", "bold"), answer.answer)
    show(pairs({"sql": answer.sql, "how": answer.explanation, "tables": ", ".join(answer.tables)}))


def _settings() -> Settings:
    """A memory that ends with the command, and a database made for it."""
    data = sample_database(Settings.load().data_dir)
    return Settings.load(
        store=":memory:", embedder="off", answerer="auto", data_url=data, denodo_url="", data_permissions="off"
    )
