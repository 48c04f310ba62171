"""What the chat may be told: how much of a conversation a model is shown, when it is summed up, how long it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.policy import grounding, summary


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRules:
    history: int = grounding.HISTORY_MESSAGES
    """The last messages that are shown as they were said."""
    context_tokens: int = grounding.BUDGET + grounding.HISTORY_TOKENS
    """Memories and history together; the history has what the budget for memories leaves."""
    summaries: bool = True
    summarise_after: int = summary.AFTER
    days: int | None = None
    """How long a conversation is kept after its last message, in spaces that don't say so themselves. None: for ever."""

    def history_tokens(self, memories: int) -> int:
        """Tokens of history, where memories may have so many."""
        return max(0, self.context_tokens - memories)
