"""Which type of memory a message is about, read off its words: what someone likes, or what they usually do."""

from __future__ import annotations

import re

from recollect.model import MemoryType

_PREFERENCE = re.compile(
    r"\b(?:i|we|do i|my)\b[^.?!]*\b(?:like|love|prefer|enjoy|hate|dislike|favou?rite|rather)\b|\bprefer(?:ence|s|red)?\b"
    r"|喜欢|喜爱|偏好|偏爱|最爱|讨厌|不爱|更想|爱好",
    re.IGNORECASE,
)
_PATTERN = re.compile(
    r"\b(?:usually|always|every (?:day|week|morning|evening|month)|tend to|often|habit|routine|whenever)\b"
    r"|通常|总是|经常|习惯|每天|每周|每次",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(\w{2,})\*")


def wanted_type(text: str) -> MemoryType | None:
    if _PREFERENCE.search(text):
        return MemoryType.PREFERENCE
    return MemoryType.PATTERN if _PATTERN.search(text) else None


def prefixes(text: str) -> tuple[str, ...]:
    """The words written with a star, as prefix terms: `Pyth*` finds Python."""
    return tuple(f"{word.casefold()}*" for word in _PREFIX.findall(text))
