"""The wire format of `chat/completions`: requests as they are sent, answers as they are read.

Servers differ in what they leave out and in what they add, so reading is lenient about what isn't needed and strict about what
is: text must be text, counts must be counts. Whatever else comes is rubbish, and rubbish is `Unavailable`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import Unavailable
from recollect.model import Completion, Piece, Usage, Utterance

MOST_LINE = 1024 * 1024
DONE = "[DONE]"
LEVELS = ("json_schema", "json_object", "prompt")
"""How an answer of a given shape is asked for: by schema, as any JSON with the schema told in words, by words alone."""


def body(
    model: str,
    messages: Sequence[Utterance],
    *,
    stream: bool = False,
    schema: Mapping[str, Any] | None = None,
    level: str = LEVELS[0],
    max_tokens: int | None = None,
) -> dict[str, Any]:
    said = [{"role": each.role, "content": each.content} for each in messages]
    request: dict[str, Any] = {"model": model, "messages": said}
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    if stream:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    if schema is None:
        return request
    request["temperature"] = 0
    if level == "json_schema":
        named = {"name": "answer", "strict": True, "schema": dict(schema)}
        return request | {"response_format": {"type": "json_schema", "json_schema": named}}
    shape = json.dumps(schema, ensure_ascii=False)
    told = f"Answer with one JSON object and nothing else. It must match this JSON Schema:\n{shape}"
    request["messages"] = [*said[:-1], {"role": "system", "content": told}, *said[-1:]]
    return request | ({"response_format": {"type": "json_object"}} if level == "json_object" else {})


def completion(answer: bytes, where: str) -> Completion:
    choice, whole = _choice(answer, where)
    message = choice.get("message")
    text = message.get("content") if isinstance(message, Mapping) else None
    if text is None and isinstance(message, Mapping):  # a model that only thought, or was stopped before its first word
        text = ""
    if not isinstance(text, str):
        raise rubbish(where)
    finish = choice.get("finish_reason")
    return Completion(text=text, usage=_usage(whole), finish=finish if isinstance(finish, str) else "stop")


def piece(data: str, where: str) -> Piece:
    """One event of a stream."""
    choice, whole = _choice(data, where, streamed=True)
    delta = choice.get("delta")
    text = delta.get("content") if isinstance(delta, Mapping) else None
    if text is not None and not isinstance(text, str):
        raise rubbish(where)
    finish = choice.get("finish_reason")
    return Piece(text=text or "", usage=_usage(whole), finish=finish if isinstance(finish, str) else None)


class Events:
    """Server-sent events out of bytes that are cut anywhere: the `data` of each, as soon as its line is whole."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[str]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > MOST_LINE:
            raise rubbish(self._where)
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip().decode("utf-8", "replace")


def rubbish(where: str) -> Unavailable:
    return Unavailable(f"{where} answered with something that is no chat completion")


def _choice(answer: bytes | str, where: str, *, streamed: bool = False) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    try:
        whole = json.loads(answer)
    except (ValueError, RecursionError):
        raise rubbish(where) from None
    if not isinstance(whole, Mapping):
        raise rubbish(where)
    if whole.get("error"):
        raise Unavailable(f"{where} reported an error while answering")
    choices = whole.get("choices")
    if isinstance(choices, list) and not choices and streamed:  # the last event of a stream: nothing but the usage
        return {}, whole
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise rubbish(where)
    return choices[0], whole


def _usage(whole: Mapping[str, Any]) -> Usage | None:
    counts = whole.get("usage")
    if not isinstance(counts, Mapping):
        return None
    prompt, said = counts.get("prompt_tokens"), counts.get("completion_tokens", 0)
    if not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in (prompt, said)):
        return None
    return Usage(int(prompt), int(said))  # type: ignore[arg-type]
