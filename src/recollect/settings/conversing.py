"""The chat and its model."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.settings.addresses import web
from recollect.settings.parsing import setting, text, whole


@dataclass(frozen=True, kw_only=True)
class Conversing:
    chat_url: str = setting(
        "", web, "A chat model's OpenAI-compatible endpoint. Empty: everything works without a model."
    )
    chat_model: str = setting("", text, "The chat model's name at that endpoint.")
    chat_key: str = setting("", text, "The chat endpoint's API key.", secret=True)
    chat_timeout_s: int = setting(60, whole(1, 3600), "How long one answer of the chat model may take.")
    chat_history_messages: int = setting(10, whole(0, 200), "The last messages of a chat that its model is shown.")
    chat_context_tokens: int = setting(
        4000,
        whole(100, 1_000_000),
        "The most tokens of memory and of earlier messages that are put before a message of a chat. Memory has its own limit "
        "(`token_budget`, 1000); the earlier messages have the rest.",
    )
    chat_days: int = setting(
        0,
        whole(0, 36_500),
        "How long conversations are kept after their last message, where a space doesn't say so itself. 0: for ever.",
    )
