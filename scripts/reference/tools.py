"""The tools of agents, over MCP, HTTP and the kits of others, and what else MCP offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scripts.reference.writing import WRITTEN, code, fields, joined, table

from recollect.doors.mcp.resources import TEMPLATES
from recollect.doors.mcp.server import PROMPT
from recollect.tools import TOOLS, Tool, schema

HEAD = f"""# Agent tools and MCP

The same tools everywhere: over MCP (`recollect mcp`, `/mcp`), over HTTP (`POST /v1/tools/NAME`), in the OpenAI Agents SDK and for
any model that calls functions. Where dots are not allowed, `memory.search` is `memory_search`. Whose memory it is never is an
argument.

{WRITTEN}
"""


def page() -> str:
    offered = table(
        ("", "what it is"),
        [
            *((code(each.uri_template), f"{each.title}: {each.description}") for each in TEMPLATES),
            (code("recollect://themes"), "All themes."),
            (f"{code(PROMPT.name)} (prompt)", str(PROMPT.description)),
        ],
    )
    return joined(HEAD, *map(_section, TOOLS), "## Resources and prompts of MCP", offered)


def undocumented() -> Iterator[str]:
    yield from (tool.name for tool in TOOLS if not tool.description)
    for tool in TOOLS:
        properties: dict[str, Any] = schema(tool.input)["properties"]
        yield from (f"{tool.name} {name}" for name, about in properties.items() if not about.get("description"))
    yield from (str(each.name) for each in (*TEMPLATES, PROMPT) if not each.description)


def _section(tool: Tool) -> str:
    changes = "Changes nothing." if tool.reads_only else "For good." if tool.destructive else "Changes the memory."
    takes, gives = fields(schema(tool.input)), fields(schema(tool.output))
    given = joined("It gives:", gives) if gives else ""
    return joined(f"## {tool.name}", f"{tool.description} **{changes}**", takes or "It takes nothing.", given)
