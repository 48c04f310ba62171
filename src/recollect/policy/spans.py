"""Places in a text that are not to be kept, and the text without them.

A finding says what kind of thing stands where; it carries no text, so it may be logged. Where findings overlap they are taken out
together, under the name of the kind that matters most: nothing of any of them may stay behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

MOST_PASSES = 8


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    start: int
    end: int


def joined(found: Iterable[Finding], order: Sequence[str]) -> tuple[Finding, ...]:
    """The findings in the order of the text, overlapping ones as one, named by whichever kind comes first in `order`."""
    together: list[Finding] = []
    for each in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        if together and each.start < together[-1].end:
            last = together[-1]
            kind = min(last.kind, each.kind, key=order.index)
            together[-1] = replace(last, kind=kind, end=max(last.end, each.end))
        else:
            together.append(each)
    return tuple(together)


def masked(
    text: str, find: Callable[[str], Sequence[Finding]], markers: Mapping[str, str]
) -> tuple[str, tuple[str, ...]]:
    """`text` with a marker in place of every finding, and the kinds that were found, sorted.

    What is left is looked at again, because a thing may come to light only when its neighbour is gone.
    """
    kinds: set[str] = set()
    for _ in range(MOST_PASSES):
        found = find(text)
        if not found:
            break
        kinds.update(each.kind for each in found)
        parts, at = [], 0
        for each in found:
            parts += [text[at : each.start], markers[each.kind]]
            at = each.end
        text = "".join([*parts, text[at:]])
    return text, tuple(sorted(kinds))
