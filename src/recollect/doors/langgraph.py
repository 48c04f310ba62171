"""The door for LangGraph: its `BaseStore` over a memory. Namespaces, keys and values come back exactly as they were put.

    store = RecollectStore(Memory(user="ana"))
    graph = builder.compile(store=store)

What is put is found by search here and by recall through every other door, under a theme named after its namespace. A search with
a query ranks by words and meaning; like the kit's own store it then fills up with what is left, unless `only_relevant` says not
to. A batch reads first and then writes, all of it or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from recollect.engine import documents
from recollect.engine.documents import Address, Document, Kept
from recollect.tools.holding import Held, Waiting, held


class RecollectStore(BaseStore):
    """`fields`: which parts of a value are searched, as paths (`"text"`, `"facts[*].text"`); by default all its words."""

    supports_ttl = True

    def __init__(
        self,
        memory: Waiting,
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        only_relevant: bool = False,
    ) -> None:
        self._memory, self._portal = memory._memory, memory._portal
        self._fields = fields
        self._only_relevant = only_relevant
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out LangGraph's operations in their order, all of them or none."""
        return self._portal.call(self._answers(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, awaited."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Remove what has expired, which nobody sees any more anyway; how many that were."""

        async def swept() -> int:
            at = await held(self._memory)
            return await documents.sweep(at.engine, at.scope)

        return self._portal.call(swept())

    async def _answers(self, ops: Sequence[Op]) -> list[Result]:
        at = await held(self._memory)
        changes: dict[Address, Document | None] = {}
        results: list[Result] = []
        for op in ops:
            if isinstance(op, PutOp):
                changes[Address(op.namespace, op.key)] = self._document(op)
                results.append(None)
            else:
                results.append(await self._answer(at, op))
        if changes:
            await documents.change(at.engine, at.scope, changes)
        return results

    async def _answer(self, at: Held, op: Op) -> Result:
        if isinstance(op, GetOp):
            address = Address(op.namespace, op.key)
            found = (await documents.get(at.engine, at.scope, [address])).get(address)
            if found is not None and op.refresh_ttl:
                await documents.refresh(at.engine, at.scope, [address])
            return None if found is None else Item(**_told(found))
        if isinstance(op, SearchOp):
            hits = await self._search(at, op)
            if hits and op.refresh_ttl:
                await documents.refresh(at.engine, at.scope, [kept.address for kept, _ in hits])
            return [SearchItem(**_told(kept), score=score) for kept, score in hits]
        if isinstance(op, ListNamespacesOp):
            return _namespaces(await documents.below(at.engine, at.scope, ()), op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    async def _search(self, at: Held, op: SearchOp) -> list[tuple[Kept, float | None]]:
        end = op.offset + op.limit
        most = documents.MOST_HITS if op.filter else end
        path = op.namespace_prefix
        found = await documents.ranked(at.engine, at.scope, path, op.query, most) if op.query else []
        chosen: list[tuple[Kept, float | None]] = [each for each in found if _passes(each[0].value, op.filter)]
        if len(chosen) < end and not (op.query and self._only_relevant):
            seen = {kept.address for kept, _ in chosen}
            rest = await documents.below(at.engine, at.scope, path)
            chosen += [(k, None) for k in rest if k.address not in seen and _passes(k.value, op.filter)]
        return chosen[op.offset : end]

    def _document(self, op: PutOp) -> Document | None:
        if op.value is None:
            return None
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        return Document(value=op.value, text=self._text(op), ttl=ttl)

    def _text(self, op: PutOp) -> str | None:
        """What a value is found by; None for one that is not to be found."""
        fields = self._fields if op.index is None else op.index
        if fields is False:
            return None
        if fields is None:
            return "\n".join(_words(op.value))
        texts = [text for field in fields for text in get_text_at_path(op.value, tokenize_path(field))]
        return "\n".join(texts) if texts else None


def _told(kept: Kept) -> dict[str, Any]:
    return {
        "namespace": kept.address.path,
        "key": kept.address.key,
        "value": kept.value,
        "created_at": kept.created_at,
        "updated_at": kept.updated_at,
    }


def _words(value: Any) -> list[str]:
    """The texts and numbers in a value, for reading."""
    if isinstance(value, Mapping):
        return [word for each in value.values() for word in _words(each)]
    if isinstance(value, list | tuple):
        return [word for each in value for word in _words(each)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _namespaces(kept: Sequence[Kept], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    paths = {each.address.path for each in kept}
    fitting = {path for path in paths if all(_fits(each, path) for each in op.match_conditions or ())}
    shown = sorted({path if op.max_depth is None else path[: op.max_depth] for path in fitting})
    return shown[op.offset : op.offset + op.limit]


def _fits(condition: MatchCondition, path: tuple[str, ...]) -> bool:
    wanted = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(path) < len(wanted):
        return False
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return all(want in ("*", have) for want, have in zip(wanted, part, strict=True))


COMPARED = {
    "$gt": lambda have, want: float(have) > float(want),
    "$gte": lambda have, want: float(have) >= float(want),
    "$lt": lambda have, want: float(have) < float(want),
    "$lte": lambda have, want: float(have) <= float(want),
}


def _passes(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    return all(_matches(value.get(name), wanted) for name, wanted in (filter or {}).items())


def _matches(have: Any, want: Any) -> bool:
    if isinstance(want, Mapping):
        if any(str(name).startswith("$") for name in want):
            return all(_holds(have, name, each) for name, each in want.items())
        return isinstance(have, Mapping) and all(_matches(have.get(name), each) for name, each in want.items())
    if isinstance(want, list | tuple):
        same_size = isinstance(have, list | tuple) and len(have) == len(want)
        return same_size and all(_matches(h, w) for h, w in zip(have, want, strict=True))
    return bool(have == want)


def _holds(have: Any, operator: str, want: Any) -> bool:
    """What can't be compared, because it is missing or no number, is neither more nor less."""
    if operator in ("$eq", "$ne"):
        return bool(have == want) is (operator == "$eq")
    if operator not in COMPARED:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return COMPARED[operator](have, want)
    except (TypeError, ValueError):
        return False
