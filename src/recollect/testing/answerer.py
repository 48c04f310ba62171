"""An answerer with a script: it says what it was told to say, in order, and remembers what it was asked.

It keeps the promises of the port: it answers within what the asker may use, fails with the port's own errors, and says nothing
once it is closed. Where the script has ended it answers from what it was shown of memory alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from recollect.errors import NotAllowed, RecollectError, Unavailable
from recollect.model import DataAnswer, DataQuestion

Reply: TypeAlias = DataAnswer | RecollectError | Callable[[DataQuestion], DataAnswer]
"""What to say: an answer, an error to be raised, or a function of what was asked."""


class ScriptedAnswerer:
    name = "scripted"

    def __init__(self, *script: Reply) -> None:
        self._script = list(script)
        self.asked: list[DataQuestion] = []
        self._closed = False

    def add(self, *replies: Reply) -> None:
        self._script += replies

    async def answer(self, question: DataQuestion) -> DataAnswer:
        if self._closed:
            raise Unavailable("the answerer is closed")
        self.asked.append(question)
        reply = self._script.pop(0) if self._script else from_memory
        if isinstance(reply, RecollectError):
            raise reply
        answer = reply if isinstance(reply, DataAnswer) else reply(question)
        if not question.access.allows(answer.tables, answer.databases):
            raise NotAllowed("this needs a table that you may not use")
        return answer

    async def close(self) -> None:
        self._closed = True


def from_memory(question: DataQuestion) -> DataAnswer:
    """What was asked before, and nothing of what is asked now."""
    known = [each.question for each in (*question.history, *question.similar)]
    return DataAnswer(answer="Asked before: " + "; ".join(known) if known else "Nothing was asked before.")
