"""Agent tools, written once: their specifications, how to call one, and what to tell an agent about them.

Doors hand these on (HTTP, MCP, the agents' own kits); none of them knows more about a tool than stands here.
"""

from recollect.tools.calling import TOOLS, Answer, call, run, tool_named
from recollect.tools.prompt import GUIDANCE, prompt_block
from recollect.tools.spec import Arguments, Result, Tool, schema

__all__ = [
    "GUIDANCE",
    "TOOLS",
    "Answer",
    "Arguments",
    "Result",
    "Tool",
    "call",
    "prompt_block",
    "run",
    "schema",
    "tool_named",
]
