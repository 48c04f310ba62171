"""What a point, a label and a generation are called where everybody's vectors lie side by side.

A point's name holds its whole scope, so that two people's equal ids are two points. Names are digests where the other side
limits their length or their letters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from recollect.errors import InvalidInput
from recollect.model import Scope

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{1,60}[a-z0-9]")


def checked_collection(name: str) -> str:
    """The name of a collection both kinds of server take."""
    if not _PLAIN.fullmatch(name):
        raise InvalidInput(
            "a vector collection's name is 3 to 62 small letters, digits, - and _, letters or digits first and last"
        )
    return name


def generation_name(collection: str, generation: str) -> str:
    """Vectors of different models are of different sizes and don't compare: each generation lies apart."""
    return f"{collection}-{_digest(generation)[:16]}"


def point_name(scope: Scope, id: str) -> str:
    # Lengths before the parts: no choice of names makes two scopes read the same.
    return _digest("".join(f"{len(part)}:{part}" for part in (scope.tenant, scope.user, scope.space, id)))


def labels_of(labels: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    """Each label as one word, one for each value of those that have several."""
    for name, values in labels.items():
        for value in (values,) if isinstance(values, str) else values:
            yield f"{name}={value}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
