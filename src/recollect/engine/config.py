"""What the engine may be told: limits and switches, with the contracts' defaults."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from recollect.engine.chatting.chat_rules import ChatRules
from recollect.engine.datachat.rules import DataRules
from recollect.engine.remembering.screening import Rules
from recollect.policy.recipes import Recipe, TriScore


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    write_mode: Literal["read_only", "explicit", "automatic"] = "automatic"
    max_content_bytes: int = 1024 * 1024
    tombstone: timedelta = timedelta(hours=24)
    exact_below: int = 200_000
    index_bytes: int = 1024 * 1024 * 1024
    embed_batch: int = 64
    lease: timedelta = timedelta(minutes=2)
    embed_attempts: int = 8
    """How often a text that fails alone, while the model is well, is tried."""
    pepper: bytes = b""
    token_budget: int | None = None
    min_relevance: float | None = None
    max_results: int | None = None
    tri_score: TriScore | None = None
    """What relevance, recency and importance weigh where they are summed up. None: as the recipe says."""
    screening: Rules = field(default_factory=Rules)
    rate_limit: int = 10
    audit_reads: bool = True
    notes_every: timedelta = timedelta(seconds=5)
    """How long accesses and audit facts of reads may wait to be written."""
    eviction_threshold: int | None = None
    archive_retention: timedelta | None = timedelta(days=180)
    chat_retention: timedelta | None = timedelta(days=7)
    """How long conversations of the data chat are kept."""
    data: DataRules = field(default_factory=DataRules)
    chat: ChatRules = field(default_factory=ChatRules)
    cleanup_every: timedelta | None = timedelta(hours=24)
    scrub_after: timedelta = timedelta(minutes=10)
    """How long what is removed from large tables is gathered before their files are cleaned."""

    def applied(self, recipe: Recipe) -> Recipe:
        """The recipe with what was configured in place of its own defaults. One without a budget stays without."""
        return replace(
            recipe,
            limit=recipe.limit if self.max_results is None else self.max_results,
            min_relevance=recipe.min_relevance if self.min_relevance is None else self.min_relevance,
            token_budget=recipe.token_budget and (self.token_budget or recipe.token_budget),
            rescore=self.tri_score or recipe.rescore if isinstance(recipe.rescore, TriScore) else recipe.rescore,
        )
