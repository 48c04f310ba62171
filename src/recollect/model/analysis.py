"""What a turn of a conversation was found to say: things worth remembering, the topic, the mood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recollect.model.memory import Source
from recollect.model.receipt import Receipt, TurnsReceipt

Category = Literal["preference", "fact", "pattern"]
Emotion = Literal["joy", "sadness", "anger", "fear", "surprise", "gratitude", "neutral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to remember. `user_stated` has a confidence of at least 0.9, `inferred` less."""

    category: Category
    key: str
    value: Any
    content: str
    confidence: float
    source: Source = Source.USER_STATED
    explicit: bool = False
    """Its speaker asked for it to be remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Of one turn. `rejected` says why something, or all of it, was left out; content is never quoted there."""

    items: tuple[Item, ...] = ()
    topic: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    emotion: Emotion = "neutral"
    rejected: tuple[str, ...] = ()
    by: Literal["rules", "model"] = "rules"

    @property
    def should_store(self) -> bool:
        """Whether there is anything in it to be remembered."""
        return bool(self.items)

    @property
    def memory_update(self) -> dict[str, Any]:
        """The shape the long-term contract gives it."""
        names = ("category", "key", "value", "content", "confidence", "source")
        items = [{name: getattr(item, name) for name in names} for item in self.items]
        return {"should_store": self.should_store, "items": items}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What became of one message: its analysis, and a receipt for each item that was offered to the memory."""

    message_id: str | None
    analysis: Analysis
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """Turns taken in. `turns` is None where none may be kept; `waiting` counts messages a model has yet to read."""

    turns: TurnsReceipt | None
    extractions: tuple[Extraction, ...] = ()
    waiting: int = 0
    reason: str | None = None
    """Why nothing is remembered here: `memory_off`, `incognito`, or the write mode."""
