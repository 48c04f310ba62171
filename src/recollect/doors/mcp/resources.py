"""Themes and memories as resources: `recollect://themes`, `recollect://themes/{slug}`, `recollect://memories/{id}`.

A client may show them to a person or hand them to a model, so they say what the tools say: snippets on one line, whole texts
marked where they read like orders, and nothing at all where memory is off or the session is incognito.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types

from recollect.engine.boundary import silence
from recollect.errors import NotFound
from recollect.model import Listing, Theme
from recollect.policy.injection import is_suspicious
from recollect.policy.render import label
from recollect.tools import run
from recollect.tools.holding import Held
from recollect.tools.telling import snippet
from recollect.tools.types import ITEM

JSON = "application/json"
ROOT = "recollect://"
THEMES = f"{ROOT}themes"
MOST = 100

TEMPLATES = (
    types.ResourceTemplate(
        name="theme",
        title="A theme",
        uri_template=f"{THEMES}/{{slug}}",
        description=f"The newest items of one theme, {MOST} at most, as snippets.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="memory",
        title="One item",
        uri_template=f"{ROOT}memories/{{id}}",
        description="One remembered item in full.",
        mime_type=JSON,
    ),
)


async def listed(whose: Held) -> list[types.Resource]:
    """All themes together and each one alone. A name that reads like an order is not put before a model unasked."""
    themes = [each for each in await _themes(whose) if not is_suspicious(each.display_name)]
    every = types.Resource(
        name="themes", title="Themes", uri=THEMES, description="What is remembered, by theme.", mime_type=JSON
    )
    return [every, *(_resource(each) for each in themes[:MOST])]


async def read(whose: Held, uri: str) -> str:
    """The resource as JSON; NotFound where there is none of that name, here or at all."""
    kind, _, name = uri.removeprefix(ROOT).partition("/") if uri.startswith(ROOT) else ("", "", "")
    match kind, unquote(name):
        case "themes", "":
            return _json({"themes": [_told(each) for each in await _themes(whose)]})
        case "themes", slug:
            return _json(await _items(whose, slug))
        case "memories", id if id and not await _is_silent(whose):
            return _json((await run(whose.engine, whose.scope, "memory.get", {"item_id": id})).told())
    raise NotFound("there is no such resource")


async def _is_silent(whose: Held) -> bool:
    return await whose.engine.store.read(whose.scope, lambda tx: silence(tx, whose.engine)) is not None


async def _themes(whose: Held) -> list[Theme]:
    if await _is_silent(whose):
        return []
    return [each for each in await whose.engine.themes(whose.scope) if each.count]


async def _items(whose: Held, slug: str) -> dict[str, Any]:
    theme = next((each for each in await _themes(whose) if each.slug == slug), None)
    if theme is None:
        raise NotFound("there is no such theme")
    page = await whose.engine.list(whose.scope, Listing(themes=(slug,), limit=MOST))
    items = [
        {
            "id": each.id,
            "type": ITEM[each.type],
            "content_snippet": snippet(each.content),
            "created_at": each.created_at.isoformat(),
        }
        for each in page
    ]
    return {**_told(theme), "items": items}


def _resource(theme: Theme) -> types.Resource:
    return types.Resource(
        name=theme.slug,
        title=label(theme.display_name),
        uri=f"{THEMES}/{quote(theme.slug, safe='')}",
        description=f"What is remembered under this theme ({theme.count}).",
        mime_type=JSON,
    )


def _told(theme: Theme) -> dict[str, Any]:
    return {"slug": theme.slug, "display_name": label(theme.display_name), "count": theme.count}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
