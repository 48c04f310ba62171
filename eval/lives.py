"""Tasks over several sessions: what a person tells an assistant in one, and what they ask it weeks later in another.

Every task is lived twice through `engine.converse`, by somebody who has a memory and by somebody who has switched it off, in the
order of the calendar and on a clock of its own: sessions of all people take turns, go quiet and are tidied up, as on a server.
A question is a session of its own. It says

    needs     what the answer must hold, each or one of several ("a|b")
    told      the days on which that was said: a citation must lead to one of them
    outdated  what was true before, and must not be told as if it still were
    nothing   it was never told: nothing may come from memory
    secret    what was said in incognito, or taken back: it may appear nowhere
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.progress import track

from eval.ground import Ground
from recollect.engine.conversations import extract, working
from recollect.engine.embedding import embed
from recollect.errors import RecollectError
from recollect.model import Scope
from recollect.model.talk import Reply
from recollect.testing.clock import ManualClock

SHIPPED = Path(__file__).with_name("task_dataset.json")
START = datetime(2026, 1, 1, 8, tzinfo=UTC)
PACE = timedelta(seconds=40)
QUIET = timedelta(hours=1)


class BadTasks(ValueError):
    """The set contradicts itself; the message lists where."""


@dataclass(frozen=True)
class Session:
    on: str
    said: tuple[str, ...]
    incognito: bool = False


@dataclass(frozen=True)
class Question:
    on: str
    ask: str
    needs: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    nothing: bool = False


@dataclass(frozen=True)
class Task:
    id: str
    lang: str
    category: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class TaskSet:
    version: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Asked:
    """A question, and what became of it. `kept`: whether its message is in the store, as it should be where there is memory."""

    task: Task
    question: Question
    with_memory: bool
    reply: Reply | None
    kept: bool


def read(path: Path = SHIPPED) -> TaskSet:
    document = json.loads(path.read_text(encoding="utf-8"))
    chatter = {lang: tuple(map(_session, days)) for lang, days in document.get("chatter", {}).items()}
    tasks = tuple(_task(each, chatter.get(each["lang"], ())) for each in document["tasks"])
    if found := [problem for task in tasks for problem in problems(task)]:
        raise BadTasks(f"{path.name}: " + "; ".join(found))
    return TaskSet(document["version"], tasks)


def problems(task: Task) -> Iterator[str]:
    """What can't be meant: an answer that stands in its question, or that nobody told on that day."""
    for question in task.questions:
        kinds = [bool(question.needs), question.nothing, bool(question.secret)]
        if kinds.count(True) != 1:
            yield f"{task.id}: {question.ask!r} must need something, nothing, or keep a secret"
        for need in question.needs:
            options = need.casefold().split("|")
            if any(each in question.ask.casefold() for each in options):
                yield f"{task.id}: the question gives {need!r} away"
            told = " ".join(text for each in task.sessions if each.on in question.told for text in each.said)
            if not any(each in told.casefold() for each in options):
                yield f"{task.id}: nobody said {need!r} on {', '.join(question.told)}"


def _task(line: Mapping[str, Any], chatter: Sequence[Session]) -> Task:
    sessions = sorted((*map(_session, line["sessions"]), *chatter), key=lambda each: each.on)
    questions = tuple(Question(**{name: _tupled(value) for name, value in each.items()}) for each in line["questions"])
    return Task(line["id"], line["lang"], line["category"], tuple(sessions), questions)


def _session(line: Mapping[str, Any]) -> Session:
    return Session(line["on"], tuple(line["said"]), bool(line.get("incognito")))


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def session_name(task: Task, on: str) -> str:
    return f"{task.id} {on}"


@dataclass
class Stage:
    """The set, lived through an engine. `clock` is the engine's."""

    ground: Ground
    clock: ManualClock
    tasks: Sequence[Task]

    async def live(self) -> None:
        """Everything that is told before anything is asked."""
        for task in self.tasks:
            await self.ground.engine.change_settings(_owner(task, with_memory=False), {"memory_enabled": False})
        days = sorted({session.on for task in self.tasks for session in task.sessions})
        for day in track(days, description="living"):
            self._turn_to(day)
            for task in self.tasks:
                for session in task.sessions:
                    if session.on == day:
                        await self._session(task, session)
            await self._settle()

    async def ask(self) -> list[Asked]:
        asked: list[Asked] = []
        due = sorted(((each, task) for task in self.tasks for each in task.questions), key=lambda pair: pair[0].on)
        for number, (question, task) in enumerate(track(due, description="asking")):
            self._turn_to(question.on)
            for with_memory in (True, False):
                reply, kept = await self._question(_owner(task, with_memory), f"question {number}", question.ask)
                asked.append(Asked(task, question, with_memory, reply, kept))
            self.clock.advance(PACE)
        return asked

    async def _session(self, task: Task, session: Session) -> None:
        engine, id = self.ground.engine, session_name(task, session.on)
        for scope in (_owner(task, with_memory=True), _owner(task, with_memory=False)):
            if session.incognito:
                await engine.start_incognito(scope, id)
            for text in session.said:
                await (await engine.converse(scope, text, session_id=id)).whole()
                await engine.talks.settle()
                self.clock.advance(PACE)
            if session.incognito:
                await engine.end_incognito(scope, id)

    async def _question(self, scope: Scope, id: str, text: str) -> tuple[Reply | None, bool]:
        engine = self.ground.engine
        try:
            reply = await (await engine.converse(scope, text, session_id=id)).whole()
        except RecollectError:
            return None, False
        await engine.talks.settle()
        stored = await engine.store.read(scope, lambda tx: tx.conversations.history(id, 1))
        return reply, bool(stored)

    async def _settle(self) -> None:
        """What the background does once everybody has gone quiet."""
        engine = self.ground.engine
        await extract.read_waiting(engine)
        self.clock.advance(QUIET)
        for task in self.tasks:
            await working.clean(engine, _owner(task, with_memory=True))
        await embed.drain(engine)

    def _turn_to(self, day: str) -> None:
        morning = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
        if self.clock.now() < morning:
            self.clock.advance(morning - self.clock.now())


def _owner(task: Task, with_memory: bool) -> Scope:
    return Scope("eval", f"{task.id}-{'with' if with_memory else 'without'}")


def few(tasks: TaskSet, limit: int | None) -> TaskSet:
    return tasks if limit is None else replace(tasks, tasks=tasks.tasks[:limit])
