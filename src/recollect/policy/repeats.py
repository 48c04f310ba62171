"""Questions asked again in one conversation: the prompt needs the last asking only, with what was answered to it.

Two questions are the same when they say the same, or ask for the same in nearly the same words, or mean nearly the same; never
when a name, a number or a denial differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.model import Message
from recollect.policy.duplicates import same
from recollect.policy.text import query_terms

NEARLY = 0.8
"""The part of their words that two questions must share."""
MEANT_ALIKE = 0.9
"""The cosine from which on two questions mean the same."""

_ASKS = re.compile(r"[?？]\s*$|^\W*(?:who|what|when|where|which|why|how|is|are|do|does|did|can|could)\b|[吗呢]$", re.I)
_DENIES = re.compile(r"\b(?:not|no|never|without)\b|n['’]t\b|不|没", re.IGNORECASE)
_PARTICULAR = re.compile(r"\d+(?:[.,:]\d+)*|(?<=[a-z,] )[A-Z][\w'’-]+|[一二三四五六七八九十]+")

T = TypeVar("T")
Likeness = Callable[[str, str], float]


def is_question(text: str) -> bool:
    return _ASKS.search(text.strip()) is not None


def is_repeat(a: str, b: str, likeness: Likeness | None = None) -> bool:
    if same(a, b):
        return True
    if _particulars(a) != _particulars(b) or bool(_DENIES.search(a)) != bool(_DENIES.search(b)):
        return False
    one, other = set(query_terms(a)), set(query_terms(b))
    if one and other and len(one & other) / len(one | other) >= NEARLY:
        return True
    return likeness is not None and likeness(a, b) >= MEANT_ALIKE


def without_repeats(
    history: Sequence[Message], text: str, likeness: Likeness | None = None
) -> tuple[list[Message], int]:
    """The history without questions that are asked again later, or now, and their answers; and how many went."""
    gone: set[int] = set()
    later = [text] if is_question(text) else []
    for place in range(len(history) - 1, -1, -1):
        message = history[place]
        if message.role != "user" or not is_question(message.content):
            continue
        if any(is_repeat(message.content, other, likeness) for other in later):
            gone.add(place)
            if place + 1 < len(history) and history[place + 1].role == "assistant":
                gone.add(place + 1)
        else:
            later.append(message.content)
    return [message for place, message in enumerate(history) if place not in gone], len(gone)


def _particulars(text: str) -> set[str]:
    """What makes a question this one: its numbers, and the names in it."""
    return set(_PARTICULAR.findall(text))
