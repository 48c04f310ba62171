"""Tasks over several sessions: lived through the real engine with words alone and with a scripted model, and able to fail."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eval import citing, lives, tasks
from eval.ground import Outage
from eval.lives import Asked, BadTasks, Question, Session, Task
from eval.task_verdict import failed, figures, is_cited, is_right, leaks, quotes_outdated
from recollect.model import Completion, Utterance
from recollect.model.talk import Cited, Done, Remembered, Reply, Started
from recollect.testing.chat import ScriptedChat
from recollect.testing.embedder import HashEmbedder

FERRY = Task(
    "ferry",
    "en",
    "changed fact",
    (
        Session("2026-01-05", ("The ferry to Skagen leaves at 7:15.", "My bike lamp is broken.")),
        Session("2026-02-05", ("The ferry to Skagen leaves at 8:40 now.",)),
        Session("2026-02-06", ("I hid the ferry tickets in the blue teapot.",), incognito=True),
    ),
    (
        Question("2026-03-01", "When does the ferry to Skagen leave?", ("8:40",), ("2026-02-05",), ("7:15",)),
        Question("2026-03-01", "Where are the ferry tickets hidden?", secret=("teapot",)),
        Question("2026-03-01", "Zebra quiz?", nothing=True),
    ),
)


async def ask(
    *, outage: Outage | None = None, chat: ScriptedChat | None = None, task: Task = FERRY
) -> tuple[list[Asked], Mapping[int, bool]]:
    answers, judged, _ = await tasks.answered([task], "sqlite", outage, HashEmbedder(256), chat)
    return answers, judged


async def test_a_memory_makes_the_difference() -> None:
    answers, judged = await ask()
    measured = figures(answers, judged)
    assert (measured["right"], measured["right_without"], measured["cited"]) == (100.0, 0.0, 100.0)
    assert (measured["leaked"], measured["kept"], measured["outdated"], measured["judged"]) == (0.0, 100.0, 0.0, None)
    assert failed(measured, None) == []


async def test_a_task_nobody_can_do_is_a_failure() -> None:
    impossible = replace(FERRY, questions=(Question("2026-03-01", "What else is broken?", ("carburettor",)),))
    answers, judged = await ask(task=impossible)
    assert {each.figure for each in failed(figures(answers, judged), None)} == {"right", "cited"}


@pytest.mark.parametrize("outage", ["dense", "redis", "recall"])
async def test_in_an_outage_everybody_is_answered_and_told(outage: Outage) -> None:
    answers, judged = await ask(outage=outage)
    measured = figures(answers, judged)
    assert failed(measured, outage) == []
    if outage == "recall":
        assert (measured["cited"], measured["claimed"], measured["told"]) == (0.0, 0.0, 100.0)


class Parrot(ScriptedChat):
    """Reads out the first of the memories it is shown, by its reference; as a judge it says what it was told to."""

    def __init__(self, verdict: Mapping[str, Any], cites: bool = True) -> None:
        super().__init__(otherwise=self._answer)
        self._verdict, self._cites = verdict, cites

    def _answer(self, messages: Sequence[Utterance]) -> str:
        line = re.search(r"- \[(m\d+)\] \S+ \S+ from user: (.+)", messages[-1].content)
        if line is None:
            return "I know nothing of that."
        return f"You told me: {line[2]} [{line[1]}]" if self._cites else line[2]

    async def complete(
        self, messages: Sequence[Utterance], *, schema: Mapping[str, Any] | None = None, max_tokens: int | None = None
    ) -> Completion:
        if schema == citing.SCHEMA:
            return Completion(text=json.dumps(self._verdict))
        return Completion(text=json.dumps({"items": []}))


APPROVES = {"source_named": True, "advisory": True, "faithful": True}


async def test_a_model_is_judged_by_rule_and_by_judge() -> None:
    answers, judged = await ask(chat=Parrot(APPROVES))
    measured = figures(answers, judged)
    assert (measured["cited"], measured["judged"]) == (100.0, 100.0)
    assert failed(measured, None) == []


async def test_a_model_that_doesnt_say_where_it_has_it_from_fails() -> None:
    answers, judged = await ask(chat=Parrot({**APPROVES, "source_named": False}, cites=False))
    measured = figures(answers, judged)
    assert measured["right"] == 100.0
    assert {each.figure for each in failed(measured, None)} == {"cited", "judged"}


async def test_a_judge_that_talks_rubbish_judges_nothing() -> None:
    _, judged = await ask(chat=Parrot({"source_named": "very much"}))
    assert judged == {}


def made(question: Question, text: str, *cited: tuple[str, str, str]) -> Asked:
    """An answer made by hand; each citation: day, session, content."""
    used = tuple(
        Cited(
            reference=f"m{number}",
            kind="message",
            id=f"t{number}",
            content=content,
            at=datetime.fromisoformat(day).replace(tzinfo=UTC),
            relevance=0.9,
            session_id=session,
        )
        for number, (day, session, content) in enumerate(cited, start=1)
    )
    done = Done(cited=tuple(each.reference for each in used))
    reply = Reply(started=Started(session_id="q"), remembered=Remembered(used=used), text=text, done=done)
    return Asked(FERRY, question, True, reply, True)


NEW = ("2026-02-05", "ferry 2026-02-05", "It leaves at 8:40 now")
OLD = ("2026-01-05", "ferry 2026-01-05", "It leaves at 7:15")


def test_rules_tell_right_from_outdated_from_wrongly_cited() -> None:
    when, where, zebra = FERRY.questions
    assert is_right(made(when, "At 8:40.", NEW))
    assert is_right(made(when, "At 8:40, earlier 7:15.", NEW, OLD))
    assert not is_right(made(when, "7:15, or 8:40", OLD, NEW))
    assert not is_right(made(when, "At 7:15.", OLD))
    assert quotes_outdated(made(when, "8:40 or 7:15", NEW, OLD))
    assert is_cited(made(when, "At 8:40.", NEW))
    assert not is_cited(made(when, "At 8:40.", ("2026-02-05", "another session", "8:40")))
    assert not is_cited(made(when, "At 8:40.", ("2026-02-07", "ferry 2026-02-07", "8:40")))
    assert leaks(made(where, "In the teapot."))
    assert leaks(made(where, "I can't say.", ("2026-02-06", "ferry 2026-02-06", "a blue teapot")))
    assert not is_right(made(zebra, "I remember this.", OLD))


def test_the_shipped_tasks_are_many_and_mean_what_they_say() -> None:
    shipped = lives.read().tasks
    assert len(shipped) >= 24
    assert all(len({each.on for each in task.sessions}) > 1 for task in shipped)
    assert {"en", "zh"} == {task.lang for task in shipped}
    kinds = {task.category for task in shipped}
    assert {"preference", "recurring meeting", "multi-step goal", "changed fact", "abstention", "incognito"} <= kinds


def test_a_set_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    given = {"on": "2026-03-01", "ask": "Is it at 8:40?", "needs": ["8:40"], "told": ["2026-01-01"]}
    task = {"id": "one", "lang": "en", "category": "x", "sessions": [], "questions": [given]}
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps({"version": "1", "tasks": [task]}))
    with pytest.raises(BadTasks, match=r"gives '8:40' away.*nobody said '8:40'"):
        lives.read(file)
