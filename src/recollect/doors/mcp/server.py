"""What an MCP client sees of a memory, whichever way it is connected.

A tool that fails says so in its result, where the model reads it; what was never there (a tool, a resource, a prompt) is an error
of the protocol. Stored text is data in all of it: results and resources are JSON, and what reads like an order is marked as such.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recollect._version import __version__
from recollect.doors.mcp import resources
from recollect.errors import NotFound, RecollectError
from recollect.tools import GUIDANCE, TOOLS, Answer, Tool, call, prompt_block, tool_named
from recollect.tools.holding import Held

Context = ServerRequestContext[Any, Any]
Who = Callable[[Context], Awaitable[Held]]
"""Whose memory a message is about. It may look at how the message came, and never at what is in it."""
Page = types.PaginatedRequestParams | None

PROMPT = types.Prompt(
    name="use-memory",
    title="Use the memory",
    description="When to ask the memory, how to treat its answers, and which themes it has. Holds no memory itself.",
)
logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its reports quote what was sent; ours carry ids and counts


@dataclass(frozen=True, slots=True)
class Door:
    """The handlers. `plain`: tools go by names without dots, for clients that can't take them; both are always understood."""

    who: Who
    plain: bool = False
    reads_only: bool = False

    @property
    def tools(self) -> dict[str, Tool]:
        offered = [tool for tool in TOOLS if tool.reads_only or not self.reads_only]
        return {(tool.function_name if self.plain else tool.name): tool for tool in offered}

    async def list_tools(self, _: Context, __: Page) -> types.ListToolsResult:
        described = [{**tool.for_mcp(), "name": name} for name, tool in self.tools.items()]
        return types.ListToolsResult(tools=[types.Tool.model_validate(each) for each in described])

    async def call_tool(self, context: Context, sent: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._offered(sent.name)
        try:
            whose = await self.who(context)
        except RecollectError as problem:
            return _result(Answer(tool.trouble(problem), problem))
        return _result(await call(whose.engine, whose.scope, tool.name, sent.arguments))

    async def list_resources(self, context: Context, _: Page) -> types.ListResourcesResult:
        with _told():
            return types.ListResourcesResult(resources=await resources.listed(await self.who(context)))

    async def list_templates(self, _: Context, __: Page) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(self, context: Context, sent: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        with _told():
            text = await resources.read(await self.who(context), sent.uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=sent.uri, mime_type=resources.JSON, text=text)]
        )

    async def list_prompts(self, _: Context, __: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, context: Context, sent: types.GetPromptRequestParams) -> types.GetPromptResult:
        if sent.name != PROMPT.name:
            raise MCPError(types.INVALID_PARAMS, f"there is no such prompt; there is {PROMPT.name}")
        with _told():
            whose = await self.who(context)
            themes = await prompt_block(whose.engine, whose.scope)
        text = "\n\n".join(part for part in (GUIDANCE, themes) if part)
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=PROMPT.description, messages=[said])

    def _offered(self, name: str) -> Tool:
        try:
            tool = tool_named(name)
        except NotFound:
            tool = None
        if tool is None or tool not in self.tools.values():
            raise MCPError(types.INVALID_PARAMS, f"there is no such tool; there are {', '.join(self.tools)}")
        return tool


def server(who: Who, *, plain: bool = False, reads_only: bool = False) -> Server[Any]:
    door = Door(who, plain, reads_only)
    return Server(
        "recollect",
        version=__version__,
        title="Recollect",
        instructions=GUIDANCE,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )


class _told:
    """Errors of ours, as the protocol tells them."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, RecollectError):
            code = types.INVALID_PARAMS if error.status < 500 else types.INTERNAL_ERROR
            raise MCPError(code, error.message, {"code": error.code}) from None


def _result(answer: Answer) -> types.CallToolResult:
    """As text for clients that read text, and as it is for those that know the schema, which errors don't follow."""
    failed = answer.error is not None or answer.content.get("error") is True
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=None if answer.error is not None else answer.content,
        is_error=failed,
    )
