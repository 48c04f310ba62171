"""Where a memory comes from and what became of it: everything needed to answer "why do you know that?"."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.model.conversation import Conversation, Message
from recollect.model.embedding import EmbeddingStatus
from recollect.model.link import Use
from recollect.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Why a memory is known: where it comes from, what it replaced, and where it was used."""

    memory: Memory
    message: Message | None
    """The message it was taken from, if it was taken from one that is still there."""
    conversation: Conversation | None
    history: tuple[Memory, ...]
    """What it replaced, newest first."""
    derived: tuple[Memory, ...]
    """What names it as a source, or replaced it."""
    uses: tuple[tuple[Use, Message], ...]
    """Replies that were made with it, newest first."""
    embedding: EmbeddingStatus
