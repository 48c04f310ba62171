"""A model for the pages that show an agent: it asks the memory whatever it is asked, and repeats what it finds there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from examples.scripted_model import Line, ScriptedModel, ToolCall

ASKS = "query_memory"


class Parrot(ScriptedModel):
    def answer(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        self.script = [_next(asked)]
        return super().answer(path, asked)


def _next(asked: dict[str, Any]) -> Line:
    turns: list[dict[str, Any]] = asked.get("input") or asked["messages"]
    last = turns[-1]
    if "output" in last or last.get("role") == "tool":
        found = json.loads(last.get("output") or last["content"])
        return _text(found) or "I know nothing about that."
    offered = json.dumps(asked.get("tools", ()))
    if f'"{ASKS}"' in offered:
        return ToolCall(ASKS, {"query": str(last["content"])})
    return f"You said: {last['content']}"


def _text(found: Any) -> str | None:
    """The first text of a memory in what a tool returned."""
    if isinstance(found, dict) and isinstance(found.get("content"), str):
        return str(found["content"])
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return next((text for text in map(_text, parts) if text), None)


@contextmanager
def modelling() -> Iterator[dict[str, str]]:
    """The environment in which OpenAI's clients ask it."""
    with Parrot().running() as model:
        yield {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "-", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
