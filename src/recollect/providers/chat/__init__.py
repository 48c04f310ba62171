"""Chat models: any server that speaks OpenAI's `chat/completions`, which today is nearly every one."""

from __future__ import annotations

from recollect.ports import Chat
from recollect.providers.chat.compatible import CompatibleChat

__all__ = ["CompatibleChat", "open_chat"]


def open_chat(url: str, model: str, key: str = "", timeout_s: float = 60.0) -> Chat | None:
    """The configured chat model, or None where none is. Nothing is asked of its server yet."""
    return CompatibleChat(url, model, key or None, timeout_s=timeout_s) if url else None
