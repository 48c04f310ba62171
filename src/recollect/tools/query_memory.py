"""`query_memory`: one question, the memories that bear on it, within the token budget; empty and flagged when it can't.

Name, description, parameters and the shape of the answer are a contract with agents that were written against it. The budget
holds for the whole answer as the model reads it, not for the memories' texts alone. When retrieval fails the answer is an
empty list with `error` set, so that an agent goes on without memory and never with an invented one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field, WithJsonSchema

from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.model import Filter, Hit, Memory, Query, Scope, Source
from recollect.policy.budget import count_tokens, cut_to_tokens
from recollect.policy.injection import is_suspicious
from recollect.policy.recipes import RECALL as RECIPE
from recollect.policy.render import inert, marked
from recollect.tools.spec import Arguments, Result, Tool, example
from recollect.tools.types import RECALL, RecallType, meant_by

PATIENCE_SECONDS = 10.0
WAKING_SECONDS = 60.0
"""For the first question of a process, which has to wait until the local model is read from the disk. That is no failure."""
BUDGET = 1000
LEAST_TOKENS = 8
"""What is shorter than this after cutting is not worth reading."""

_SAID_BY = {
    Source.USER_STATED: "stated by the user",
    Source.INFERRED: "inferred from a conversation",
    Source.SYSTEM: "noted by the system",
    Source.MANUAL: "saved by the user",
    Source.IMPORT: "imported",
}
_TYPES = {
    "type": "array",
    "items": {"type": "string", "enum": list(get_args(RecallType))},
    "description": "Filter to specific memory types",
}


def _without_default(schema: dict[str, Any]) -> None:
    """Null is understood, and not announced: the contract knows a list or nothing."""
    schema.pop("default", None)


class QueryMemoryIn(Arguments):
    model_config = example(query="preferred package manager", types=["preference"])

    query: str = Field(
        min_length=1,
        description=(
            "Search query to find relevant memories. "
            "Should capture the semantic intent of what context would be helpful."
        ),
    )
    types: Annotated[list[RecallType] | None, WithJsonSchema(_TYPES)] = Field(None, json_schema_extra=_without_default)


class RecalledMemory(BaseModel):
    content: str = Field(description="The memory content")
    type: RecallType = Field(description="Memory type")
    relevance: float = Field(ge=0, le=1, description="0.0-1.0 relevance score")
    context: str = Field(description="Brief source context")


class Metadata(BaseModel):
    count: int = Field(description="Number of memories returned")
    truncated: bool = Field(description="Whether more results were available")
    rate_limited: bool = Field(False, description="Too many questions: these are results of before, if any")


class QueryMemoryOut(Result):
    model_config = example(
        memories=[
            {
                "content": "Prefers uv over pip",
                "type": "preference",
                "relevance": 0.87,
                "context": "stated by the user, 2026-03-02T09:30:00Z, memory 01JC5M3V6Q0000000000000000",
            }
        ],
        metadata={"count": 1, "truncated": False},
    )

    memories: list[RecalledMemory]
    metadata: Metadata
    error: bool = Field(False, description="Retrieval failed: nothing is known of what memory holds")
    message: str = Field("", description="What went wrong")


async def query_memory(engine: Engine, scope: Scope, sent: QueryMemoryIn) -> QueryMemoryOut:
    budget = min(BUDGET, engine.config.applied(RECIPE).token_budget or BUDGET)
    query = Query(
        text=sent.query,
        recipe="recall",
        token_budget=budget,
        filter=Filter(kinds=("memory",), types=meant_by(sent.types, RECALL)),
    )
    try:
        async with asyncio.timeout(WAKING_SECONDS):
            await embed.warm(engine)
        async with asyncio.timeout(PATIENCE_SECONDS):
            recall = await engine.recall_softly(scope, query)
    except InvalidInput:
        raise
    except (RecollectError, TimeoutError) as problem:
        late = Unavailable("memory did not answer in time")
        return failed(problem if isinstance(problem, RecollectError) else late)
    memories, cut = _within([_told(hit, hit.memory) for hit in recall if hit.memory is not None], budget)
    metadata = Metadata(
        count=len(memories), truncated=cut or recall.trace.truncated, rate_limited=recall.trace.rate_limited
    )
    return QueryMemoryOut(memories=memories, metadata=metadata)


def failed(error: RecollectError) -> QueryMemoryOut:
    nothing = Metadata(count=0, truncated=False)
    return QueryMemoryOut(memories=[], metadata=nothing, error=True, message=f"{error.code}: {error.message}")


def _told(hit: Hit, memory: Memory) -> RecalledMemory:
    text = inert(memory.content)
    source = f"message {memory.source_message_id}" if memory.source_message_id else f"memory {memory.id}"
    return RecalledMemory(
        content=marked(text) if is_suspicious(memory.content) else text,
        type=RECALL[memory.type],
        relevance=round(min(max(hit.relevance, 0.0), 1.0), 4),
        context=f"{_SAID_BY[memory.source]}, {memory.created_at:%Y-%m-%dT%H:%M:%SZ}, {inert(source)}",
    )


def _within(memories: Sequence[RecalledMemory], budget: int) -> tuple[list[RecalledMemory], bool]:
    """As many as the budget holds when written out, the last one cut if need be; and whether any word is missing."""
    kept: list[RecalledMemory] = []
    for memory in memories:
        if _cost([*kept, memory]) <= budget:
            kept.append(memory)
            continue
        room = budget - _cost([*kept, memory.model_copy(update={"content": "…"})])
        while room >= LEAST_TOKENS:
            # Quotes and tokens that merge differently may cost more than was counted: then a little less is shown.
            shorter = memory.model_copy(update={"content": f"{cut_to_tokens(memory.content, room).rstrip()}…"})
            if _cost([*kept, shorter]) <= budget:
                return [*kept, shorter], True
            room -= LEAST_TOKENS
        return kept, True
    return kept, False


def _cost(memories: Sequence[RecalledMemory]) -> int:
    answer = QueryMemoryOut(memories=list(memories), metadata=Metadata(count=len(memories), truncated=True))
    return count_tokens(json.dumps(answer.told(), ensure_ascii=False))


def _trouble(error: RecollectError) -> dict[str, Any]:
    return failed(error).told()


QUERY_MEMORY = Tool(
    name="query_memory",
    title="Query memory",
    description=(
        "Retrieve relevant memories from the user's past conversations and stored context. Use this when the user's "
        "question may relate to something discussed previously or when personalization would improve the response."
    ),
    input=QueryMemoryIn,
    output=QueryMemoryOut,
    verb=query_memory,
    reads_only=True,
    trouble=_trouble,
)
