"""Between the wire and the engine: pure functions, nothing decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.doors.nova.wire import GenerationOut, ItemsIn, ItemsOut, ProviderIn, ProviderOut, ToolsIn
from recollect.engine.embedding.providing import Key, Provision
from recollect.model import (
    EmbeddingStatus,
    Generation,
    Listing,
    Memory,
    Page,
    ProviderConfig,
    Status,
    Target,
)
from recollect.policy.guard import slug
from recollect.tools import Tool
from recollect.tools.memory import item
from recollect.tools.types import ITEM, meant_by


def tools_out(tools: Sequence[Tool], wanted: ToolsIn) -> list[dict[str, Any]]:
    return [tool.for_openai() if wanted.format == "openai" else tool.for_mcp() for tool in tools]


def listing_of(wanted: ItemsIn) -> Listing:
    return Listing(
        themes=(slug(wanted.theme),) if wanted.theme else (),
        types=meant_by(wanted.type, ITEM),
        statuses=(Status(wanted.status),),
        limit=wanted.limit,
        offset=wanted.offset,
    )


def targets_of(page: Page[Memory]) -> list[Target]:
    return [Target("memory", memory.id) for memory in page]


def items_out(page: Page[Memory], states: Mapping[Target, EmbeddingStatus], serving: Generation | None) -> ItemsOut:
    items = [item(memory, states[Target("memory", memory.id)], serving) for memory in page]
    return ItemsOut(items=items, total=page.total, limit=page.limit, offset=page.offset)


def config_of(sent: ProviderIn) -> ProviderConfig:
    return ProviderConfig(
        enabled=sent.enabled,
        provider_type=sent.provider_type,
        endpoint_url=sent.endpoint_url,
        model=sent.model,
        dimensions=sent.dimensions,
    )


def key_of(sent: ProviderIn) -> Key:
    if "api_key" not in sent.model_fields_set:
        return False
    return sent.api_key.get_secret_value() if sent.api_key is not None else None


def provider_out(provision: Provision) -> ProviderOut:
    stored = provision.stored
    return ProviderOut(
        stored=stored is not None,
        enabled=stored.enabled if stored else provision.origin != "off",
        provider_type=stored.provider_type if stored else None,
        endpoint_url=stored.endpoint_url if stored else None,
        model=stored.model if stored else None,
        dimensions=stored.dimensions if stored else None,
        api_key_set=provision.key_is_set,
        origin=provision.origin,
        pinned=provision.pinned,
        serving=_generation(provision.serving) if provision.serving else None,
        building=[_generation(each) for each in provision.building],
        trouble=provision.trouble,
    )


def _generation(generation: Generation) -> GenerationOut:
    return GenerationOut(provider_type=generation.provider, model=generation.model, dimensions=generation.dimensions)
