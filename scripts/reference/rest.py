"""Every operation of the server, from the description that it gives of itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from scripts.reference.writing import WRITTEN, bounds_of, code, fields, joined, table, type_of

from recollect.cli.serving import build
from recollect.settings import Settings

HEAD = f"""# REST

Every operation of every door. The server tells the same, with the shapes of all answers, at `/openapi.json`. Beside its own
parameters each takes the headers below, and each may answer with any of the errors below.

{WRITTEN}
"""


@cache
def described() -> dict[str, Any]:
    return build(Settings.load({}), "127.0.0.1").openapi()


def page() -> str:
    whole = described()
    parts = whole["components"]
    headers = table(
        ("header", "what it says"), ((code(each["name"]), each["description"]) for each in parts["parameters"].values())
    )
    errors = table(
        ("status", "what it says"),
        ((code(name.removeprefix("Error")), each["description"]) for name, each in parts["responses"].items()),
    )
    doors = (_door(tag, whole) for tag in whole["tags"])
    return joined(HEAD, "## Headers", headers, "## Errors", errors, *doors)


def undocumented() -> Iterator[str]:
    return missing(described())


def missing(whole: dict[str, Any]) -> Iterator[str]:
    for name, operation in operations(whole):
        if not operation.get("summary"):
            yield name
        yield from (f"{name} {each['name']}" for each in _own(operation) if not _about(each).get("description"))
        body = _body(operation, whole)
        yield from (
            f"{name} {field}" for field, about in body.get("properties", {}).items() if not about.get("description")
        )


def operations(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, each in whole["paths"].items():
        yield from ((f"{method.upper()} {path}", operation) for method, operation in each.items())


def _door(tag: dict[str, str], whole: dict[str, Any]) -> str:
    own = [_operation(name, each, whole) for name, each in operations(whole) if tag["name"] in each["tags"]]
    return joined(f"## {tag['name'].capitalize()}", tag["description"], *own)


def _operation(name: str, operation: dict[str, Any], whole: dict[str, Any]) -> str:
    parameters = [
        (
            code(each["name"]) + (" (required)" if each.get("required") else ""),
            type_of(each["schema"]),
            f"{_about(each).get('description', '')} {bounds_of(each['schema'])}",
        )
        for each in _own(operation)
    ]
    body = _body(operation, whole)
    summary, more = operation["summary"], operation.get("description", "")
    return joined(
        f"### {name}",
        f"{summary}. {more}".strip(),
        table(("parameter", "type", "what it says"), parameters),
        joined("The body:", fields(body, whole["components"]["schemas"])) if body.get("properties") else "",
    )


def _own(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Its parameters, but for the headers that all have in common."""
    return [each for each in operation.get("parameters", ()) if "$ref" not in each]


def _about(parameter: dict[str, Any]) -> dict[str, Any]:
    return parameter if "description" in parameter else parameter.get("schema", {})


def _body(operation: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema: dict[str, Any] = content.get("schema", {})
    return whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema
