"""What names mean that are the same at every door: said once, and told of every parameter and field that says nothing itself.

Only of what callers send: what the server answers is shown by examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MEANINGS = {
    "confirm": "The name of what is to go, said once more: nothing goes without it.",
    "confidence": "How sure it is that this holds.",
    "created_at": "When it was said; left out: now.",
    "expires_at": "When it ends to hold, and is removed; null: never.",
    "id": "Which one, by its id.",
    "ids": "Which ones, by their ids.",
    "importance": "How much it matters; left out, it is judged by what it says.",
    "incognito_default": "Whether sessions begin incognito, so that nothing durable is read or written.",
    "key": "A name: what is stored under it replaces what was.",
    "kinds": "What may be found: `memory`, what is remembered; `message`, what was said, word for word.",
    "limit": "The most to be returned.",
    "manually_saved": "Whether somebody saved it on purpose, which keeps it from being trimmed.",
    "memory_enabled": "False: nothing is remembered or recalled; looking, exporting and forgetting go on.",
    "messages": "The turns, in the order in which they were said.",
    "min_relevance": "What is less relevant is left out; 0 leaves nothing out.",
    "name": "Which space.",
    "offset": "How many to pass over first.",
    "pinned": "Whether it is kept from being trimmed and from ageing.",
    "query": "What to look for, in words.",
    "recipe": "How to rank: `native`, or the way of one of the contracts.",
    "repeat_id": "Which telling, by its id among the repeats.",
    "retention_days": "How long conversations are kept; null: without end.",
    "role": "Who said it.",
    "session_id": "Which conversation; you choose its id.",
    "shared_tags": "Memories with these tags may be recalled in your other spaces.",
    "since": "Not before this time.",
    "soft_cap": "How many memories that came in by themselves are kept in recall; 0: all.",
    "source": "How it came to be known.",
    "source_conversation_id": "The conversation it comes from.",
    "source_ids": "The memories it was made of.",
    "source_message_id": "The message it comes from.",
    "status": "Which ones: those that hold, those that were replaced, or those put away.",
    "tag": "Only with this tag.",
    "tags": "Words it is filed under, or, in a search, of which it must have one.",
    "text": "What to remember, in words.",
    "theme": "The theme it belongs to.",
    "themes": "Only of these themes.",
    "token_budget": "The most tokens that the hits have together.",
    "type": "What sort of thing it is.",
    "types": "Only of these sorts.",
    "until": "Before this time.",
    "value": "Anything in JSON to be kept beside the text.",
    # Where embeddings come from.
    "dimensions": "How long the vectors are; left out, the server is asked.",
    "endpoint_url": "Where the provider answers.",
    "model": "Which of the provider's models.",
    "provider_type": "What the provider speaks.",
    # Questions over data: what an answerer may be told. The rest is Denodo's, and passed on as it is.
    "custom_instructions": "More to be told to the model that answers.",
    "disclaimer": "For Denodo: whether the answer comes with a disclaimer.",
    "embeddings_model": "For Denodo: its model for embeddings.",
    "embeddings_provider": "For Denodo: who makes its embeddings.",
    "expand_set_views": "For Denodo: whether more views than those named may be looked at.",
    "llm_max_tokens": "For Denodo: the most tokens its model may say.",
    "llm_model": "For Denodo: its model.",
    "llm_provider": "For Denodo: who runs its model.",
    "llm_response_rows_limit": "For Denodo: how many rows its model is shown.",
    "llm_temperature": "For Denodo: how freely its model speaks.",
    "markdown_response": "For Denodo: whether the answer is written in Markdown.",
    "mode": "For Denodo: a question about data, or about what data there is.",
    "plot": "Whether a chart is wanted beside the answer.",
    "plot_details": "What the chart should show.",
    "use_views": "For Denodo: the views to be asked, with commas between.",
    "vector_search_k": "For Denodo: how many tables are looked up for a question.",
    "vector_search_sample_data_k": "For Denodo: how many sample rows of each are.",
    "vector_store_provider": "For Denodo: where its vectors are.",
    "verbose": "For Denodo: whether the answer is told in sentences.",
    "vql_execute_rows_limit": "For Denodo: the most rows that a query returns.",
}


def spell_out(schema: dict[str, Any]) -> None:
    """Completes a description of the server, in place."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if "$ref" not in parameter and "description" not in parameter["schema"]:
                    _mean(parameter["name"], parameter)
    for name in _sent(schema):
        for field, about in schema["components"]["schemas"][name].get("properties", {}).items():
            _mean(field, about)


def _mean(name: str, about: dict[str, Any]) -> None:
    if name in MEANINGS:
        about.setdefault("description", MEANINGS[name])


def _sent(schema: dict[str, Any]) -> set[str]:
    """The names of all shapes that are part of a body somebody sends."""
    operations = [each for path in schema["paths"].values() for each in path.values()]
    waiting = [name for each in operations for name in _referred(each.get("requestBody", {}))]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_referred(schema["components"]["schemas"][name]))
    return found


def _referred(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rsplit("/", 1)[-1]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _referred(each)
