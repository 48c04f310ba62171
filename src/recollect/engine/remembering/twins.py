"""Which memories a text repeats, when there are several, and what becomes of them then.

Told in another order, a text is the same; told without its full stops, too; but those two tellings don't show that they are of
one kind until the text itself stands between them. So a telling is held against all tellings of a memory, not only the first, and
one that repeats two memories makes them one: it never matters in which order they came. Take the telling out that tied them, and
they are two again (`merging.unmerge`).
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.engine.exporting.lines import telling_of
from recollect.engine.remembering.merging import SETTLED, tell_again
from recollect.model import Draft, Memory, Target
from recollect.policy.duplicates import NEAR, links, says_same
from recollect.ports import Tx

CANDIDATES = 16
"""Near-duplicates that are looked at closely; each that is one looks the same, so more would tell nothing."""


def twins(tx: Tx, draft: Draft, simhash: int, digest: str) -> list[Memory]:
    """Active memories that a draft says again, the first to be told first: by the digest of its form, by its SimHash and a close
    look. The addresses they name are one and the same, or only some of them name any."""
    exact = tx.memories.twin(digest)
    found = {each.id: each for each in (exact, *tx.memories.near(simhash, NEAR, CANDIDATES)) if each is not None}
    alike = [each for each in found.values() if _says_nothing_else(each, draft)]
    told = _tellings(tx, [each for each in alike if each.repeat_count])
    named = {links(draft.content)} - {frozenset()}
    chosen: list[Memory] = []
    for each in sorted(alike, key=lambda memory: (memory.created_at, memory.id)):
        texts = [each.content, *told.get(each.id, ())]
        theirs = {links(text) for text in texts} - {frozenset()}
        if len(named | theirs) <= 1 and any(says_same(text, draft.content) for text in texts):
            chosen.append(each)
            named |= theirs
    return chosen


def unite(tx: Tx, memory: Memory, other: Memory, digest: str) -> Memory:
    """All tellings of `other` become tellings of `memory`. What its owner has decided of it stays apart."""
    told = tx.links.repeats([other.id])
    if other.supersedes or any(SETTLED in each.fields for each in told) or tx.links.flagged([other.id]):
        return memory
    for each, at in [(telling_of(repeat), repeat.at) for repeat in told] or [(other, other.created_at)]:
        memory, _ = tell_again(tx, memory, each, at, digest)
    tx.links.drop(other.id, [each.id for each in told])
    tx.links.state(other.id, ())
    target = Target("memory", other.id)
    tx.index.drop([target])
    tx.embeddings.drop([target])
    tx.memories.delete([other.id])
    return memory


def _tellings(tx: Tx, memories: Sequence[Memory]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for each in tx.links.repeats([memory.id for memory in memories]) if memories else ():
        texts.setdefault(each.memory_id, []).append(each.content)
    return texts


def _says_nothing_else(twin: Memory, draft: Draft) -> bool:
    """Whether merging drops nothing: the same words, and no other key, value or type than is already known."""
    return (
        (draft.key is None or draft.key == twin.key)
        and (draft.value is None or draft.value == twin.value)
        and draft.type == twin.type
        and draft.theme in (None, twin.theme)
    )
