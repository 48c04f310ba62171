"""/docs : the API to read, made from the same description that machines get at /openapi.json.

Made here and not by a script in the browser: it needs nothing from another host, and nothing but a browser. It holds no memory
and asks for no login, as the description it is made of.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response

from recollect.doors.ui.door import POLICY

router = APIRouter(include_in_schema=False)
Described = Mapping[str, Any]


@router.get("/docs")
async def reference(request: Request) -> Response:
    """Put together beside the loop: describing every operation takes a moment, once."""
    page = await asyncio.to_thread(lambda: written(request.app.openapi(), str(request.base_url)))
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


def written(described: Described, address: str) -> str:
    """The whole page. `address` is where the examples are sent to."""
    told = described["info"]
    body = "".join(_group(described, tag, address) for tag in described["tags"])
    title = escape(f"{told['title']} {told['version']}: the API")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page.css">
</head>
<body>
<header class="bar-top"><h1><a href="./">{escape(told["title"])}</a></h1></header>
<main class="reference">
<h2>{title}</h2>
<p class="quiet">{escape(told["description"])} For machines: <a href="openapi.json">openapi.json</a>.</p>
{body}
</main>
</body>
</html>
"""


def _group(described: Described, tag: Described, address: str) -> str:
    operations = "".join(_operation(described, *each, address) for each in _of(described, tag["name"]))
    return f"<h3>{escape(tag['name'])}</h3><p class='quiet'>{escape(tag['description'])}</p>{operations}"


def _of(described: Described, tag: str) -> Iterator[tuple[str, str, Described]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if tag in operation.get("tags", ()):
                yield method.upper(), path, operation


def _operation(described: Described, method: str, path: str, operation: Described, address: str) -> str:
    body = _resolved(described, _sent(operation))
    fields = [*_parameters(described, operation), *_fields(body)]
    listed = "".join(f"<dt><code>{escape(name)}</code></dt><dd>{escape(what)}</dd>" for name, what in fields)
    about = escape(operation.get("description", ""))
    return (
        f"<details><summary><code>{method} {escape(path)}</code> {escape(operation.get('summary', ''))}</summary>"
        f"{f'<p>{about}</p>' if about else ''}<pre>{escape(_call(method, path, body, address))}</pre>"
        f"{f'<dl>{listed}</dl>' if listed else ''}</details>"
    )


def _sent(operation: Described) -> Described:
    found: Described = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return found


def _resolved(described: Described, part: Described) -> Described:
    """What a reference refers to; whatever is none, as it is."""
    if "$ref" not in part:
        return part
    found: Any = described
    for step in part["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return _resolved(described, found)


def _parameters(described: Described, operation: Described) -> Iterator[tuple[str, str]]:
    """Those of the operation alone: the headers that all of them take are said once, in the description."""
    for each in operation.get("parameters", ()):
        if "$ref" not in each:
            about = each.get("description") or _resolved(described, each.get("schema", {})).get("description", "")
            yield each["name"], f"{about} (in the {each['in']})"


def _fields(body: Described) -> Iterator[tuple[str, str]]:
    required = body.get("required", ())
    for name, field in body.get("properties", {}).items():
        yield name, f"{field.get('description', '')}{' Needed.' if name in required else ''}"


def _call(method: str, path: str, body: Described, address: str) -> str:
    """The operation as one would try it in a shell."""
    lines = [f"curl -s {'' if method == 'GET' else f'-X {method} '}'{address.rstrip('/')}{path}'"]
    if body:
        examples = body.get("examples") or [{}]
        sent = json.dumps(examples[0], ensure_ascii=False).replace("'", "'\\''")
        lines += ["-H 'content-type: application/json'", f"-d '{sent}'"]
    return " \\\n  ".join(lines)
