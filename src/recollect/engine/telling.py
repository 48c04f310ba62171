"""What the engine tells whoever counts: numbers and names of outcomes, never a word of content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.model import Recall


def nobody(_: str, __: Mapping[str, Any]) -> None:
    """Nobody counts."""


def of_recall(recalled: Recall) -> dict[str, Any]:
    trace = recalled.trace
    return {
        "ms": trace.timings_ms.get("total", 0.0),
        "hits": len(recalled),
        "stages": trace.timings_ms,
        "degraded": trace.degraded,
    }
