"""What the engine may be told: limits and switches, with the contracts' defaults."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    write_mode: Literal["read_only", "explicit", "automatic"] = "automatic"
    max_content_bytes: int = 256 * 1024
    tombstone: timedelta = timedelta(hours=24)
    exact_below: int = 50_000
    index_bytes: int = 512 * 1024 * 1024
    embed_batch: int = 64
    lease: timedelta = timedelta(minutes=2)
    pepper: bytes = b""
