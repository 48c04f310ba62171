"""Stored text on its way to an agent: data, and recognisable as such.

A snippet is on one line and can't pass for anything but text. A whole text comes as it was stored, so that it can be corrected,
unless it reads like an attempt to give orders: then it comes as a quotation under a warning.
"""

from __future__ import annotations

from recollect.policy.injection import is_suspicious
from recollect.policy.render import inert, marked
from recollect.policy.text import analyse, query_terms

SNIPPET_CHARS = 300
_BEFORE = 60
"""How much is shown before the place that matches."""


def snippet(text: str, query: str = "", most: int = SNIPPET_CHARS) -> str:
    """At most about `most` characters of a text, from where it first speaks of the question."""
    flat = inert(text)
    if len(flat) > most:
        start = _start(flat, query)
        shown = flat[start : start + most - 2]
        end = shown.rfind(" ") if start + most - 2 < len(flat) else -1
        shown = shown[:end] if end > most // 2 else shown
        flat = f"{'…' * bool(start)}{shown.strip()}{'…' * (start + len(shown) < len(flat))}"
    return marked(flat) if is_suspicious(text) else flat


def whole(text: str) -> str:
    return marked(inert(text)) if is_suspicious(text) else text


def _start(flat: str, query: str) -> int:
    """Where the first sentence or line begins that holds a word of the question; the very beginning if none does."""
    wanted = set(query_terms(query)) if query else set()
    if not wanted:
        return 0
    at = 0
    for piece in flat.split(" "):
        if wanted.intersection(analyse(piece)):
            break
        at += len(piece) + 1
    else:
        return 0
    if at <= _BEFORE:
        return 0
    return flat.rfind(" ", 0, at - _BEFORE) + 1
