"""The echo guard: what was shown to a model as memory must not come back as something new.

A model repeats what it was shown, and people agree with it. Taken for news, each turn would store once more what is known. So of
every text that reached a prompt as memory the session keeps a footprint: keyed hashes of its words, of whether it denies, and of
what it is filed under. They tell whether another text says anything beyond it, and can't be read back.

A text is an echo of another when all its words are among the other's, with the same denial, or when it files the same value under
the same key. A changed number, name or "not" is news. Words that differ only in how strongly a thing is liked are not.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from recollect.policy.stopwords import CHINESE_CHARACTERS
from recollect.policy.text import query_terms

MOST = 240
"""Footprints a session keeps, the latest."""
MOST_TERMS = 80
SIZE = 4

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_DENIAL = re.compile(r"\b(?:not|no|never|none|cannot|without|neither|nor)\b|n['’]t\b|不|没|别|无", re.IGNORECASE)
_SAME = {
    term: same
    for same, words in {
        "like": "love like enjoy ador prefer favourit favorit fond fan passion keen",
        "dislike": "hate dislik detest avoid loath despis",
        "live": "live resid base home move reloc settl",
        "work": "work job employ",
        "call": "name call",
    }.items()
    for term in words.split()
}
_SAID_OF = frozenset(
    "user person speaker still also actual realli yeah alway right exact correct mention inde rememb told again said "
    "know alreadi true "
    "definit total absolut sure cours guess thank pleas".split()
)


def footprints(text: str, session: bytes) -> Iterator[str]:
    """Of each sentence, and of the whole where it is no longer than a few."""
    pieces = [piece for piece in _SENTENCE.split(text) if piece.strip()]
    for piece in dict.fromkeys((*pieces, text) if len(pieces) > 1 and len(text) <= 600 else pieces):
        marks = _marks(piece, session)
        if marks:
            yield b64encode(b"".join(sorted(marks))).decode()


def filed(key: str, value: Any, session: bytes) -> str:
    """The footprint of what is filed under a key."""
    return "=" + _mark(f"{key}\x00{_canonical(value)}", session, 8).hex()


def is_echo(text: str, shown: Iterable[str], session: bytes, key: str | None = None, value: Any = None) -> bool:
    marks = _marks(text, session)
    fact = None if key is None or value is None else filed(key, value, session)
    denies = _mark("\x00denies", session)
    for footprint in shown:
        if footprint.startswith("="):
            if footprint == fact:
                return True
            continue
        other = _unpacked(footprint)
        if marks and marks <= other and (denies in marks) == (denies in other):
            return True
    return False


def _marks(text: str, session: bytes) -> frozenset[bytes]:
    said = (term for term in query_terms(text, or_all=False) if term not in _SAID_OF and not _joins(term))
    terms = dict.fromkeys(_SAME.get(term, term) for term in said)
    marks = {_mark(term, session) for term in list(terms)[:MOST_TERMS]}
    if marks and _DENIAL.search(text):
        marks.add(_mark("\x00denies", session))
    return frozenset(marks)


def _joins(term: str) -> bool:
    """A pair of characters of which one only joins words: it depends on how a thing is put, not on what is said."""
    return term >= "\u3400" and len(term) == 2 and not CHINESE_CHARACTERS.isdisjoint(term)


def _mark(term: str, session: bytes, size: int = SIZE) -> bytes:
    return blake2b(term.encode(), key=session[:64], digest_size=size).digest()


def _unpacked(footprint: str) -> frozenset[bytes]:
    try:
        packed = b64decode(footprint, validate=True)
    except ValueError:
        return frozenset()
    return frozenset(packed[at : at + SIZE] for at in range(0, len(packed), SIZE))


def _canonical(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("opinion"), str):
        value = {**value, "opinion": _SAME.get(value["opinion"], value["opinion"])}
    return " ".join(json.dumps(value, sort_keys=True, ensure_ascii=False).casefold().split())
