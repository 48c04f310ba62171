"""Quoted words: `"annual budget review"` asks for exactly these words, side by side.

Who quotes remembers the wording. So what holds a quote comes first and counts as found, however little else speaks for
it; what doesn't hold it stays behind as it would without the quotes, because memory of wording errs.

A phrase is looked for among the terms of the one analysis, in order and adjacent, so case, accents and English endings
don't matter and "of" between two words does. Scripts without spaces are indexed as characters and pairs; of a run of
them the characters must be adjacent. A quote that mixes scripts is several runs, each of which must be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from recollect.policy.text import query_terms, runs

Phrase: TypeAlias = tuple[str, ...]
"""Runs of terms, each joined by single spaces as the index has them."""

MOST = 8
"""Phrases read from one question."""
_LONGEST = 64  # terms: who quotes a page means its beginning

_OPEN, _CLOSE = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
# A single quote is an apostrophe before it is a quote: it must hug its words and stand apart from all others.
_QUOTES = re.compile(
    rf'{_OPEN}"(?P<straight>[^"\n]+)"{_CLOSE}'
    r"|“(?P<curly>[^“”\n]+)”"
    r"|「(?P<corner>[^「」\n]+)」"
    r"|『(?P<white>[^『』\n]+)』"
    r"|(?<!\w)'(?P<single>(?=\S)(?:[^'\n]|(?<=\w)'(?=\w))+(?<=\S))'(?!\w)"
    r"|(?<!\w)‘(?P<turned>(?=\S)(?:[^‘’\n]|(?<=\w)’(?=\w))+(?<=\S))’(?!\w)"
)


def quoted(text: str) -> list[str]:
    """What stands between quotation marks, in reading order."""
    return [said for match in _QUOTES.finditer(text) if (said := match[match.lastgroup or 0].strip())]


def phrases(text: str) -> tuple[Phrase, ...]:
    """The quotes of a question as runs of terms. One that is a mere function word ("the") is none."""
    found = dict.fromkeys(phrase for said in quoted(text) if (phrase := _phrase(said)))
    return tuple(found)[:MOST]


def held(terms: str, wanted: Iterable[Phrase]) -> int:
    """How many of the phrases an entry of these terms (joined by spaces) holds."""
    padded = f" {terms} "
    return sum(all(f" {run} " in padded for run in phrase) for phrase in wanted)


def _phrase(said: str) -> Phrase:
    found, left = [], _LONGEST
    for run in runs(said):
        terms = run.split()[:left]
        left -= len(terms)
        if terms:
            found.append(" ".join(terms))
    return () if len(found) == 1 and " " not in found[0] and not query_terms(said, or_all=False) else tuple(found)
