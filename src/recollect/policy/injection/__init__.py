"""Does a text try to give orders to whoever reads it? A second line of defence, without a model.

The first line is `render`: whatever is stored is shown as data. This one warns: each sign (`injection_signs`) is a phrase with a
weight, signs of different families that stand near each other add up, and no sign is a mere trigger word. A text that only
speaks about instructions, passwords or jailbreaks has no one asked to do anything, and stays below the line.

What it cannot see: a plain request ("Explain relativity.") is an attack only by where it stands, and looks like any other text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from recollect.policy.injection.chinese import CHINESE
from recollect.policy.injection.english import ENGLISH
from recollect.policy.injection.signs import Sign
from recollect.policy.injection.unmask import is_smuggling, payloads, plain

THRESHOLD = 0.5
NEAR = 320
"""Signs further apart than about this many characters are taken for coincidence."""
HIDDEN_WEIGHT = 0.35
ENCODED_WEIGHT = 0.4
WORTH_DECODING = 0.25

_BOTH = ENGLISH + CHINESE
_PIECES = frozenset[str]().union(*(sign.needs for sign in _BOTH))
_ASCII_PIECES = frozenset(piece for piece in _PIECES if piece.isascii())


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sign found: where, of which family, how heavy. It carries no text, so it may be logged."""

    start: int
    family: str
    weight: float
    supports: bool = False


def is_suspicious(text: str, threshold: float = THRESHOLD) -> bool:
    return suspicion(text) >= threshold


def suspicion(text: str) -> float:
    """0 to 1: how much a text reads like an attempt to give orders to the model that reads it."""
    return round(_combined(evidence(text)), 4)


def evidence(text: str) -> tuple[Evidence, ...]:
    """The signs that stand together where suspicion is highest."""
    found = _signs(plain(text))
    if is_smuggling(text):
        found.append(Evidence(0, "hidden", HIDDEN_WEIGHT))
    best = _strongest(found)
    for payload in payloads(text):
        inside = _strongest(_signs(plain(payload)))
        if _combined(inside) >= WORTH_DECODING:
            inside = (*inside, Evidence(0, "encoded", ENCODED_WEIGHT))
            best = max(best, inside, key=_combined)
    return best


def _signs(text: str) -> list[Evidence]:
    signs, pieces = (ENGLISH, _ASCII_PIECES) if text.isascii() else (_BOTH, _PIECES)
    present = {piece for piece in pieces if piece in text}
    found = [
        each
        for sign in signs
        if not (sign.supports or (sign.needs and sign.needs.isdisjoint(present)))
        for each in _matches(sign, text)
    ]
    # Support is worth looking for only where there is something to support; most texts end here.
    return found + [each for sign in signs if sign.supports for each in _matches(sign, text)] if found else []


def _matches(sign: Sign, text: str) -> Iterator[Evidence]:
    return (Evidence(match.start(), sign.family, sign.weight, sign.supports) for match in sign.pattern.finditer(text))


def _strongest(found: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The signs near each other that weigh most together, each family by its heaviest."""
    blocks: dict[int, dict[str, Evidence]] = {}
    for each in found:
        block = each.start // NEAR
        for near in (block, block + 1):  # every block is looked at together with the one before it
            families = blocks.setdefault(near, {})
            if each.family not in families or each.weight > families[each.family].weight:
                families[each.family] = each
    return max((tuple(families.values()) for families in blocks.values()), key=_combined, default=())


def _combined(found: Iterable[Evidence]) -> float:
    known = tuple(found)
    if all(each.supports for each in known):
        return 0.0
    return 1.0 - prod(1.0 - each.weight for each in known)
