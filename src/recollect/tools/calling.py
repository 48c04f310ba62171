"""Calling a tool for an agent: whatever happens, it gets an answer it can read and go on from.

`run` is for callers that know our errors; `call` is the last resort above it. A tool that fails has not done anything halfway:
the verbs see to that. What an agent reads of an error never holds stored text or the arguments it sent.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from recollect.engine import Engine
from recollect.errors import Broken, InvalidInput, NotFound, RecollectError
from recollect.model import Scope
from recollect.tools.memory import TOOLS as MEMORY_TOOLS
from recollect.tools.query_memory import QUERY_MEMORY
from recollect.tools.spec import Arguments, Result, Tool, told_plainly

logger = logging.getLogger("recollect.tools")

TOOLS: tuple[Tool, ...] = (*MEMORY_TOOLS, QUERY_MEMORY)
_BY_NAME = {name: tool for tool in TOOLS for name in (tool.name, tool.function_name)}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent gets back: JSON, and whether it is an error."""

    content: dict[str, Any]
    error: RecollectError | None = None

    @property
    def text(self) -> str:
        return json.dumps(self.content, ensure_ascii=False)


def tool_named(name: str) -> Tool:
    try:
        return _BY_NAME[name]
    except KeyError:
        raise NotFound(f"there is no such tool; there are {', '.join(tool.name for tool in TOOLS)}") from None


def arguments_of(tool: Tool, given: Mapping[str, Any] | str | None) -> Arguments:
    """The arguments as the tool takes them; agents send them as an object or as its JSON text."""
    try:
        return tool.input.model_validate_json(given or "{}") if isinstance(given, str) else _checked(tool, given)
    except ValidationError as problem:
        wrong = [{"at": ".".join(map(str, each["loc"])), "problem": each["msg"]} for each in problem.errors()]
        said = "; ".join(f"{each['at']}: {each['problem']}" if each["at"] else each["problem"] for each in wrong)
        raise InvalidInput(f"the arguments of {tool.name} are not right: {said}", problems=wrong) from None


def _checked(tool: Tool, given: Mapping[str, Any] | None) -> Arguments:
    return tool.input.model_validate(dict(given or {}))


async def run(engine: Engine, scope: Scope, name: str, given: Mapping[str, Any] | str | None = None) -> Result:
    tool = tool_named(name)
    return await tool.verb(engine, scope, arguments_of(tool, given))


async def call(engine: Engine, scope: Scope, name: str, given: Mapping[str, Any] | str | None = None) -> Answer:
    """`run`, with every error told in the tool's own words."""
    try:
        return Answer((await run(engine, scope, name, given)).told())
    except RecollectError as problem:
        error = problem
    except Exception as unexpected:  # An agent's turn must not end because a tool did.
        correlation_id = engine.occasion.correlation_id
        logger.error("tool failed: %s", type(unexpected).__name__, extra={"correlation_id": correlation_id})
        error = Broken("something went wrong on our side; nothing was changed by this call as far as we know")
    tool = _BY_NAME.get(name)
    return Answer((tool.trouble if tool else told_plainly)(error), error)
