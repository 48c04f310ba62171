"""The data chat's part of the show: questions over a small database, where each leans on the one before."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from recollect.bootstrap import engine_over, open_store
from recollect.cli.options import Call
from recollect.cli.output import pairs, print_json, say, show
from recollect.engine import Engine
from recollect.errors import Unsupported
from recollect.model import AskData, DataReply, Scope
from recollect.settings import Settings

try:
    from recollect.providers.answerers import sample_database
except ImportError:  # an extra of its own: without it the other parts of the show go on
    sample_database = None  # type: ignore[assignment]

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


async def ask_the_data(call: Call) -> None:
    """Hold the dialogue, aloud or as JSON."""
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
    if sample_database is None:
        raise Unsupported("answers over data need the package 'sqlglot': install recollect[data]")
    data = sample_database(Settings.load().data_dir)
    return Settings.load(
        store=":memory:", embedder="off", answerer="auto", data_url=data, denodo_url="", data_permissions="off"
    )
