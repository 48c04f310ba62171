"""The chat model."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.settings.parsing import setting, text, whole


@dataclass(frozen=True, kw_only=True)
class Conversing:
    chat_url: str = setting(
        "", text, "A chat model's OpenAI-compatible endpoint. Empty: everything works without a model."
    )
    chat_model: str = setting("", text, "The chat model's name at that endpoint.")
    chat_key: str = setting("", text, "The chat endpoint's API key.", secret=True)
    chat_timeout_s: int = setting(60, whole(1, 3600), "How long one answer of the chat model may take.")
