"""Digests of text within a scope. One recognises an exact repeat, the other the return of something forgotten.

The scope is part of the key, so equal texts of two people have unrelated digests; a pepper, where configured, makes
guessing short texts from a stolen digest hopeless.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from recollect.model import Scope
from recollect.policy.duplicates import form_of, has_plain_case
from recollect.policy.text import normalise


def _keyed(scope: Scope, purpose: str, text: str, pepper: bytes) -> str:
    return blake2b(text.encode(), key=_key(scope, pepper), digest_size=32, person=purpose.encode()).hexdigest()


@lru_cache(maxsize=1024)
def _key(scope: Scope, pepper: bytes) -> bytes:
    owner = "\x00".join((scope.tenant, scope.user, scope.space)).encode()
    return blake2b(owner, key=pepper[:64], digest_size=32).digest()


def twin_digest(scope: Scope, text: str, pepper: bytes = b"") -> str:
    """Equal for texts that say the same and differ in their clothes only: what `policy.duplicates` calls their form."""
    return _keyed(scope, "twin", form_of(text), pepper)


def grave_digest(scope: Scope, text: str, pepper: bytes = b"") -> str:
    """Equal for texts that say the same in other clothes, whatever links are in them: a forgotten one can't slip back."""
    plain = normalise(text) or text
    # Most texts differ from that by their capitals alone, and their form is known: whoever asks for this has asked for a twin.
    alike = plain == text.lower() and has_plain_case(text)
    return _keyed(scope, "grave", form_of(text if alike else plain), pepper)


def slot_digest(scope: Scope, slot: str, pepper: bytes = b"") -> str:
    """What a memory is about, as an index may know it."""
    return _keyed(scope, "slot", slot, pepper)


def session_digest(scope: Scope, session_id: str, pepper: bytes = b"") -> str:
    """A session by a name that says nothing about it: the same in every space, because a talk may touch several."""
    return _keyed(scope.within("*"), "session", session_id, pepper)


def query_digest(scope: Scope, text: str, pepper: bytes = b"") -> str:
    """What was asked, for the audit trail: two equal questions are seen to be equal, and no more."""
    return _keyed(scope, "query", " ".join(text.split()).casefold(), pepper)[:16]


def content_hash(text: str) -> str:
    """What an embedding was made of."""
    return blake2b(text.encode(), digest_size=16).hexdigest()
