"""Stored text on its way to an agent: data, and recognisable as such.

A snippet is on one line and can't pass for anything but text. A whole text comes as it was stored, so that it can be corrected,
unless it reads like an attempt to give orders: then it comes as a quotation under a warning. Of a long text only what is shown
is looked at, so that what somebody stored never decides how long a search takes.
"""

from __future__ import annotations

from recollect.policy.injection import is_suspicious
from recollect.policy.render import inert, marked
from recollect.policy.text import query_terms

SNIPPET_CHARS = 300
_BEFORE = 60
"""How much is shown before the place that matches."""
_SEEN = 4 * SNIPPET_CHARS
"""How much is looked at: making a text inert may shorten it, and an order may begin before what is shown of it."""


def snippet(text: str, query: str = "", most: int = SNIPPET_CHARS) -> str:
    """At most about `most` characters of a text, from where it speaks of the question."""
    start = _start(text, query) if len(text) > most else 0
    seen = text[max(start - _SEEN, 0) : start + _SEEN]
    flat = inert(text[start : start + _SEEN])
    more = start + _SEEN < len(text)
    if len(flat) > most - 2 * bool(start):
        cut = flat[: most - 2]
        end = cut.rfind(" ")
        flat, more = (cut[:end] if end > most // 2 else cut), True
    shown = f"{'…' * bool(start)}{flat.strip()}{'…' * more}"
    return marked(shown) if is_suspicious(seen) else shown


def whole(text: str) -> str:
    return marked(inert(text)) if is_suspicious(text) else text


def _start(text: str, query: str) -> int:
    """A little before the longest word of the question that stands in the text; the beginning if none does."""
    lowered = text.lower()
    terms = sorted(query_terms(query), key=len, reverse=True) if query else []
    at = next((place for term in terms if (place := lowered.find(term)) >= 0), 0)
    if at <= _BEFORE:
        return 0
    space = text.find(" ", at - _BEFORE, at)
    return space + 1 if space >= 0 else at - _BEFORE // 2
