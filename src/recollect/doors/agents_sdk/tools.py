"""Our tools as the SDK's function tools, and the words for an agent's instructions.

The schemas go out as they are written, not in the SDK's strict form: that would make every optional argument a required one, and
the schema of `query_memory` is a contract. Arguments are checked by the tool itself, and what is wrong with them is told to the
model, which can then do better.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, FunctionTool, RunContextWrapper
from agents.tool_context import ToolContext

from recollect.errors import RecollectError
from recollect.tools import GUIDANCE, TOOLS, Answer, Tool, call, prompt_block, tool_named
from recollect.tools.holding import Held, Holder, held
from recollect.tools.spec import undotted

Memory = Holder | Held
Chosen = Callable[[RunContextWrapper[Any]], Memory | Awaitable[Memory]]
"""Whose memory it is, by the context of a run: `lambda run: memory.at(user=run.context.user_id)`."""
Whose = Memory | Chosen


def memory_tools(memory: Whose, *, reads_only: bool = False, session_id: str | None = None) -> list[FunctionTool]:
    """All tools, or only those that change nothing. In an incognito session they neither find nor keep anything."""
    return [_function(tool, memory, session_id) for tool in TOOLS if tool.reads_only or not reads_only]


def query_memory_tool(memory: Whose, *, session_id: str | None = None) -> FunctionTool:
    """The one tool for agents that only look things up."""
    return _function(tool_named("query_memory"), memory, session_id)


def guided(
    memory: Whose, instructions: str = "", *, session_id: str | None = None
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
    """Instructions for an agent that has these tools: yours, when to ask, and which themes there are. Never a memory."""

    async def told(run: RunContextWrapper[Any], _: Agent[Any]) -> str:
        themes = ""
        try:
            whose = await _held(memory, run, session_id)
            themes = undotted(await prompt_block(whose.engine, whose.scope))
        except RecollectError:
            pass  # The tools will say what is the matter; the conversation goes on.
        return "\n\n".join(part for part in (instructions, GUIDANCE, themes) if part)

    return told


def _function(tool: Tool, memory: Whose, session_id: str | None) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            whose = await _held(memory, context, session_id)
        except RecollectError as problem:
            return Answer(tool.trouble(problem), problem).text
        return (await call(whose.engine, whose.scope, tool.name, arguments)).text

    described = tool.for_openai()["function"]
    return FunctionTool(
        name=described["name"],
        description=described["description"],
        params_json_schema=described["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


async def _held(memory: Whose, run: RunContextWrapper[Any], session_id: str | None) -> Held:
    chosen = memory if isinstance(memory, Held) or not callable(memory) else memory(run)
    return await held(await chosen if inspect.isawaitable(chosen) else chosen, session_id)
