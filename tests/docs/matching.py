"""Whether what came out is what the page shows."""

from __future__ import annotations

import re
from typing import Any

ANYTHING = "…"


def says(said: str, shown: str) -> bool:
    """Word for word, but for space at the ends of lines, and for `…`, which stands for anything."""
    parts = [re.escape(part) for part in _tidy(shown).split(ANYTHING)]
    return re.fullmatch(".*?".join(parts), _tidy(said), re.DOTALL) is not None


def mentions(said: str, shown: str) -> bool:
    """Whether the line is somewhere in it, however its words are spaced."""
    parts = [re.escape(part) for part in " ".join(shown.split()).split(ANYTHING)]
    return re.search(".*?".join(parts), " ".join(said.split())) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def holds(answer: Any, shown: Any, known: dict[str, str]) -> bool:
    """Whether everything that is shown is in the answer. A name with a dollar stands for what it was the first time."""
    match shown:
        case dict():
            return isinstance(answer, dict) and all(
                name in answer and holds(answer[name], value, known) for name, value in shown.items()
            )
        case [dict(), *_]:
            return len(answer) == len(shown) and all(holds(*pair, known) for pair in zip(answer, shown, strict=True))
        case str() if shown.startswith("$"):
            return bool(known.setdefault(shown, answer) == answer)
        case str():
            return isinstance(answer, str) and says(answer, shown)
    return bool(answer == shown)
