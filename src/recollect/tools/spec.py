"""What a tool is: a name, what it is for, what it takes and gives, and the verb behind it.

Written once, told in two dialects: MCP takes names with dots, OpenAI's function calling does not, so `memory.search` is
`memory_search` there and both names are understood. Who is asking is never among the arguments: the scope comes with the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from recollect.engine import Engine
from recollect.errors import RecollectError
from recollect.model import Scope

_DOTTED = re.compile(r"\bmemory\.([a-z_]+)")


class Arguments(BaseModel):
    """What a tool takes: nothing beyond its fields, nothing of another type, and never who is asking."""

    model_config = ConfigDict(extra="forbid", strict=True)


def example(**fields: Any) -> ConfigDict:
    """Arguments come with an example, for whoever reads the description of the server."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class Result(BaseModel):
    """What a tool gives. A field that has a default is only told when it says something else."""

    model_config = ConfigDict(extra="forbid")

    def told(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)


def told_plainly(error: RecollectError) -> dict[str, Any]:
    """An error as an agent reads it: what kind, and what was wrong. Never what is stored."""
    details = {"details": dict(error.details)} if error.details else {}
    return {"error": {"code": error.code, "message": error.message, **details}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    title: str
    description: str
    input: type[Arguments]
    output: type[Result]
    verb: Callable[[Engine, Scope, Any], Awaitable[Result]]
    """Takes an instance of `input`, gives one of `output`, raises errors of ours."""
    reads_only: bool = False
    destructive: bool = False
    trouble: Callable[[RecollectError], dict[str, Any]] = told_plainly
    """What an agent reads when the call failed."""

    @property
    def function_name(self) -> str:
        """The name where dots are not allowed."""
        return self.name.replace(".", "_")

    def for_mcp(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema(self.input),
            "outputSchema": schema(self.output),
            "annotations": {
                "readOnlyHint": self.reads_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.reads_only or self.destructive,
                "openWorldHint": False,
            },
        }

    def for_openai(self) -> dict[str, Any]:
        """As a function for a chat request. What it says of the others names them as they are called there."""
        described = {"name": self.function_name, "description": self.description, "parameters": schema(self.input)}
        return {"type": "function", "function": json.loads(undotted(json.dumps(described)))}


def undotted(text: str) -> str:
    """A text about the tools for where their names may not hold dots."""
    return _DOTTED.sub(r"memory_\1", text)


def schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model as agents take it: without references, titles, examples and names of ours."""
    full = model.model_json_schema(mode="serialization" if issubclass(model, Result) else "validation")
    definitions = full.pop("$defs", {})
    told: dict[str, Any] = _plain(full, definitions)
    told.pop("description", None)
    told.setdefault("properties", {})
    return told


def _plain(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = definitions[part["$ref"].rsplit("/", 1)[-1]]
        kept = {key: value for key, value in named.items() if key != "description"}
        return _plain(kept | {key: value for key, value in part.items() if key != "$ref"}, definitions)
    told = {key: _plain(value, definitions) for key, value in part.items() if key not in {"title", "examples"}}
    if told.get("default", ...) is None:  # left out means the same, and not every reader knows null as a text or a list
        del told["default"]
    if isinstance(part.get("properties"), dict):  # where a name that is ours may also be a field's
        told["properties"] = {name: _plain(value, definitions) for name, value in part["properties"].items()}
    return told
