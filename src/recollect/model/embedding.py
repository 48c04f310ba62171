"""Embeddings come in generations: a vector belongs to (target, provider, model, dimensions), and only one generation serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

Kind = Literal["memory", "message"]
KINDS: tuple[Kind, ...] = ("memory", "message")


class EmbeddingState(StrEnum):
    """How far a text is on its way to a vector."""

    PENDING = "pending"
    READY = "ready"
    ERROR = "error"
    OFF = "off"
    """No provider is configured; text is found by its words alone."""


class GenerationState(StrEnum):
    """Whether the vectors of a model are being made, serve, or have had their day."""

    BUILDING = "building"
    SERVING = "serving"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """What a vector or an index entry stands for."""

    kind: Kind
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """All vectors of one model: they are made together and take over from another's in one step."""

    id: str
    provider: str
    model: str
    dimensions: int
    state: GenerationState
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStatus:
    """How far the embedding of one target has come, for its owner to see."""

    target: Target
    generation: str
    state: EmbeddingState
    attempts: int = 0
    error: str | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingJob:
    """A claimed piece of embedding work. The vector is kept only if `content_hash` still matches when it arrives."""

    space: str
    target: Target
    generation: str
    content: str
    content_hash: str
    attempts: int
    queued_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What is still to embed, for doctors, dashboards and `flush`."""

    pending: int = 0
    error: int = 0
    retrying: int = 0
    """Those in error that will be tried again; the rest were refused for good."""
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """Where embeddings come from when a person configures it. The key is stored encrypted and never shown again."""

    enabled: bool = True
    provider_type: Literal["local", "llamacpp", "ollama", "openai", "custom_http"] = "local"
    endpoint_url: str | None = None
    model: str | None = None
    api_key: str | None = None
    dimensions: int | None = None
