"""A chat model with a script: it says what it was told to say, in order, and remembers what it was asked.

It keeps the promises of the port, so that whatever works with it works with a model: it streams in pieces, counts tokens (words),
fails with the port's own errors, and says nothing once it is closed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from recollect.errors import RecollectError, Unavailable
from recollect.model import Completion, Piece, Usage, Utterance

Line: TypeAlias = str | Mapping[str, Any] | RecollectError | Callable[[Sequence[Utterance]], str]
"""What to say: a text, an object to be said as JSON, an error to be raised, or a function of what was asked."""


class ScriptedChat:
    model = "scripted"

    def __init__(self, *script: Line, otherwise: Line | None = None) -> None:
        self._script = list(script)
        self._otherwise = otherwise
        self.asked: list[tuple[Utterance, ...]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self._closed = False

    def add(self, lines: Iterable[Line]) -> None:
        self._script += lines

    async def complete(
        self,
        messages: Sequence[Utterance],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        text = self._next(messages, schema)
        said, finish = _cut(text, max_tokens)
        return Completion(text=said, usage=_counted(messages, said), finish=finish)

    async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
        said, finish = _cut(self._next(messages, None), max_tokens)
        for word in said.split(" "):
            yield Piece(text=word if word == said.split(" ")[0] else f" {word}")
        yield Piece(usage=_counted(messages, said), finish=finish)

    async def close(self) -> None:
        self._closed = True

    def _next(self, messages: Sequence[Utterance], schema: Mapping[str, Any] | None) -> str:
        if self._closed:
            raise Unavailable("the chat model is closed")
        self.asked.append(tuple(messages))
        self.schemas.append(schema)
        line = self._script.pop(0) if self._script else self._otherwise
        if line is None:
            raise Unavailable("the script has ended")
        if isinstance(line, RecollectError):
            raise line
        if isinstance(line, str):
            return line
        return json.dumps(line, ensure_ascii=False) if isinstance(line, Mapping) else line(messages)


def _cut(text: str, max_tokens: int | None) -> tuple[str, str]:
    words = text.split(" ")
    if max_tokens is None or len(words) <= max_tokens:
        return text, "stop"
    return " ".join(words[:max_tokens]), "length"


def _counted(messages: Sequence[Utterance], said: str) -> Usage:
    return Usage(sum(len(each.content.split()) for each in messages), len(said.split()))
