"""What travels through the agents' door besides the tools' own arguments and results, which are described with the tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from recollect.doors.http.examples import shown
from recollect.tools.shapes import Item
from recollect.tools.types import ItemType

ProviderType = Literal["llamacpp", "ollama", "openai", "custom_http", "local"]
Whole = Annotated[int, Field(strict=True)]
Switch = Annotated[bool, Field(strict=True)]


class ToolsIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["mcp", "openai"] = Field(
        "mcp",
        description="`mcp`: as an MCP server lists its tools. `openai`: as functions for the `tools` of a chat request.",
    )


class ToolsOut(BaseModel):
    model_config = shown(
        {
            "tools": [
                {
                    "name": "memory.list_themes",
                    "title": "List themes",
                    "description": "The themes under which things are remembered about this user.",
                    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
                }
            ]
        }
    )

    tools: list[dict[str, Any]]


class PromptIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: Literal["memory", "query_memory"] = Field(
        "memory", description="`memory`: for the memory tools, with the names of themes. `query_memory`: for that one."
    )


class PromptOut(BaseModel):
    model_config = shown({"prompt": "Use the tool memory.search whenever …\nThemes in memory: tooling; travel"})

    prompt: str = Field(description="To be put into the system prompt. Never holds what is remembered; may be empty.")


class ItemsIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    theme: str | None = Field(None, min_length=1, max_length=255)
    type: list[ItemType] = Field([], max_length=8)
    status: Literal["active", "superseded", "archived"] = "active"
    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=2**31 - 1)


class ItemsOut(BaseModel):
    model_config = shown({"items": [], "total": 0, "limit": 50, "offset": 0})

    items: list[Item]
    total: int
    limit: int
    offset: int


class ProviderIn(BaseModel):
    """An `api_key` that is left out stays as it is, for the same server; null takes it away."""

    model_config = shown(
        {
            "provider_type": "custom_http",
            "endpoint_url": "http://embeddings.internal:8080/vectors",
            "model": "bge-m3",
            "api_key": "the server's key",
        },
        extra="forbid",
    )

    enabled: Switch = Field(True, description="False: no embeddings at all, words only.")
    provider_type: ProviderType
    endpoint_url: str | None = Field(None, min_length=1, max_length=2048)
    model: str | None = Field(None, min_length=1, max_length=255)
    api_key: SecretStr | None = Field(None, max_length=4096, description="Stored encrypted, never shown again.")
    dimensions: Whole | None = Field(None, ge=1, le=16_000)


class GenerationOut(BaseModel):
    provider_type: str
    model: str
    dimensions: int


class ProviderOut(BaseModel):
    model_config = shown(
        {
            "stored": True,
            "enabled": True,
            "provider_type": "custom_http",
            "endpoint_url": "http://embeddings.internal:8080/vectors",
            "model": "bge-m3",
            "dimensions": None,
            "api_key_set": True,
            "origin": "configured",
            "pinned": None,
            "serving": {"provider_type": "local", "model": "use-m3", "dimensions": 512},
            "building": [{"provider_type": "custom_http", "model": "bge-m3", "dimensions": 1024}],
            "trouble": None,
        }
    )

    stored: bool = Field(description="Whether a configuration is stored; else the settings decide.")
    enabled: bool
    provider_type: ProviderType | None
    endpoint_url: str | None
    model: str | None
    dimensions: int | None
    api_key_set: bool
    origin: Literal["system", "configured", "settings", "local", "off"] = Field(
        description="Who decided: the operator's llama.cpp server, this configuration, the settings, nobody, or no one may."
    )
    pinned: str | None = Field(description="The provider the settings fix; then nothing can be configured here.")
    serving: GenerationOut | None = Field(description="What answers questions now.")
    building: list[GenerationOut] = Field(description="What is being filled and takes over when it is complete.")
    trouble: str | None = Field(description="Why the configuration can't be used just now.")
