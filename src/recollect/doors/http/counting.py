"""The engine with its verbs counted: what the doors get, so that no door has to think of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from recollect.doors.http.measuring import Metrics
from recollect.engine import Engine
from recollect.model import Query, Recall, Receipt, Scope


class Counted(Engine):
    """Like every view of an engine it shares what the engine holds; it only counts on the way."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        vars(self).update(vars(engine))
        self._metrics = metrics

    async def remember(self, scope: Scope, fields: Mapping[str, Any], *, as_admin: bool = False) -> Receipt:
        receipt = await super().remember(scope, fields, as_admin=as_admin)
        self._metrics.wrote(receipt.outcome, receipt.reason)
        return receipt

    async def recall(self, scope: Scope, query: Query) -> Recall:
        started = perf_counter()
        recalled = await super().recall(scope, query)
        self._metrics.recalled(perf_counter() - started, len(recalled), limited=recalled.trace.rate_limited)
        return recalled
