"""Examples, declared where the thing is: on the model that travels, or on the operation.

class MemoryIn(BaseModel):
    model_config = shown({"text": "I prefer uv over pip"}, extra="forbid")

@router.get("/x", summary="…", responses=answering([{"id": "1"}]))
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict


def shown(*examples: Any, extra: Literal["allow", "ignore", "forbid"] = "ignore") -> ConfigDict:
    """The configuration of a model with these examples in its schema."""
    return ConfigDict(extra=extra, json_schema_extra={"examples": list(examples)})


def answering(example: Any, status: int = 200, kind: str = "application/json") -> dict[int | str, dict[str, Any]]:
    """What to give as `responses` to an operation whose answer has no model of its own."""
    return {status: {"content": {kind: {"example": example}}}}
