"""How a page is put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

WRITTEN = "This page is written by `make reference`."


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Nothing where there are no rows."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *lines])


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def code(text: object) -> str:
    return f"`{text}`"


def joined(*parts: str) -> str:
    """Parts of a page, those that say nothing left out."""
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def type_of(schema: dict[str, Any], named: dict[str, Any] | None = None) -> str:
    """The type of a JSON schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        found = (named or {}).get(name, {})
        return type_of(found, named) if "enum" in found else "object"
    if "enum" in schema:
        return ", ".join(code(value) for value in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    if "anyOf" in schema:
        kinds = [type_of(each, named) for each in schema["anyOf"]]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}), named)}"
    return str(schema.get("format") or schema.get("type") or "anything")


def bounds_of(schema: dict[str, Any]) -> str:
    """Default and limits, in words, where there are any."""
    low, high = schema.get("minimum"), schema.get("maximum")
    default = schema.get("default")
    said = [
        f"Default: {code(_plain(default))}." if default not in (None, "", []) else "",
        f"From {low:g} to {high:g}." if low is not None and high is not None else "",
    ]
    return " ".join(each for each in said if each)


def _plain(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def fields(schema: dict[str, Any], named: dict[str, Any] | None = None) -> str:
    """The properties of an object as a table."""
    required = schema.get("required", ())
    rows = [
        (
            code(name) + (" (required)" if name in required else ""),
            type_of(about, named),
            f"{about.get('description', '')} {bounds_of(about)}",
        )
        for name, about in schema.get("properties", {}).items()
    ]
    return table(("field", "type", "what it says"), rows)
