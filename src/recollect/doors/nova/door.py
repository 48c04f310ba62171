"""/v1/tools, /v1/items and /v1/embedding-provider.

Every tool has a path of its own, `POST /v1/tools/memory.search`, whose body is the tool's arguments and whose answer is its
result; the name without dots works too. A tool that fails answers like every other operation: in the one error shape.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Body, Query

from recollect.doors.http.asking import TheAdmin, TheEngine, TheScope
from recollect.doors.nova import translate, wire
from recollect.engine.embedding import providing
from recollect.tools import GUIDANCE, TOOLS, Arguments, Result, Tool, prompt_block

router = APIRouter(prefix="/v1")
tools = APIRouter(tags=["agent tools"])
operators = APIRouter(tags=["embedding provider"])


@tools.get("/tools", summary="The tools, as agents are told about them")
async def list_tools(wanted: Annotated[wire.ToolsIn, Query()]) -> wire.ToolsOut:
    return wire.ToolsOut(tools=translate.tools_out(TOOLS, wanted))


@tools.get("/tools/prompt", summary="What to tell an agent about its memory: never what is in it")
async def prompt(engine: TheEngine, scope: TheScope, wanted: Annotated[wire.PromptIn, Query()]) -> wire.PromptOut:
    told = GUIDANCE if wanted.tool == "query_memory" else await prompt_block(engine, scope)
    return wire.PromptOut(prompt=told)


@tools.get(
    "/items",
    summary="Look through the items, newest first, with the state of each embedding",
    response_model_exclude_defaults=True,
)
async def list_items(engine: TheEngine, scope: TheScope, wanted: Annotated[wire.ItemsIn, Query()]) -> wire.ItemsOut:
    page = await engine.list(scope, translate.listing_of(wanted))
    states = await engine.embedding_status(scope, translate.targets_of(page))
    serving = await engine.generations.serving()
    return await asyncio.to_thread(translate.items_out, page, states, serving)


def _calling(tool: Tool) -> Callable[..., Awaitable[Result]]:
    async def call(engine: TheEngine, scope: TheScope, sent: Arguments) -> Result:
        return await tool.verb(engine, scope, sent)

    call.__annotations__["sent"] = Annotated[tool.input, Body()]
    if not any(field.is_required() for field in tool.input.model_fields.values()):
        call.__defaults__ = (tool.input(),)  # who has nothing to say need not say so
    return call


for _tool in TOOLS:
    for _name in dict.fromkeys((_tool.name, _tool.function_name)):
        tools.add_api_route(
            f"/tools/{_name}",
            _calling(_tool),
            methods=["POST"],
            summary=_tool.title,
            description=_tool.description,
            operation_id=f"tool_{_name}",
            response_model=_tool.output,
            response_model_exclude_defaults=True,
            include_in_schema=_name == _tool.name,
        )


@operators.get("/embedding-provider", summary="Where embeddings come from, and what is being done about it")
async def get_provider(engine: TheEngine, caller: TheAdmin) -> wire.ProviderOut:
    return translate.provider_out(await providing.provision(engine))


@operators.put("/embedding-provider", summary="Try a provider, and use it from now on if it works")
async def put_provider(sent: wire.ProviderIn, engine: TheEngine, caller: TheAdmin) -> wire.ProviderOut:
    config, key = translate.config_of(sent), translate.key_of(sent)
    return translate.provider_out(await providing.save_provider(engine, caller.scope, config, key))


@operators.delete("/embedding-provider", summary="Go back to what the settings say")
async def delete_provider(engine: TheEngine, caller: TheAdmin) -> wire.ProviderOut:
    return translate.provider_out(await providing.remove_provider(engine, caller.scope))


router.include_router(tools)
router.include_router(operators)
