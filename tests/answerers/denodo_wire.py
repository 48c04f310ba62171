"""A real HTTP server on the loopback that speaks `answerQuestion`, and misbehaves when told to."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.services.wire import Exchange, Seen, Wire

USUAL: dict[str, Any] = {
    "answer": "The total sales by region for 2024 are:\n- North: 2,500,000",
    "sql_query": 'SELECT r.region_name, SUM(s.amount) FROM "bank"."sales" s JOIN bank.regions r ON s.region_id = r.region_id',
    "query_explanation": "Adds up the amounts.",
    "tokens": {"input_tokens": 812, "output_tokens": 64, "total_tokens": 876},
    "execution_result": {"Row 1": [{"columnName": "region_name", "value": "North"}]},
    "related_tables": [],
    "related_questions": ["What about 2023?"],
    "tables_used": ["bank.sales", "bank.regions"],
    "raw_graph": "",
    "sql_execution_time": 0.25,
    "vector_store_search_time": 0.5,
    "llm_time": 1.5,
    "total_execution_time": 2.25,
    "llm_provider": "OpenAI",
    "llm_model": "gpt-4o",
}


@dataclass(frozen=True)
class Act:
    status: int = 200
    body: bytes | Mapping[str, Any] = field(default_factory=lambda: USUAL)
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    """Never answers."""
    hangs_up: bool = False


class DenodoServer(Wire):
    """`acts` are played first in, first out; with none left it gives its usual answer. `asked` are the requests that came."""

    def __init__(self) -> None:
        super().__init__()
        self.acts: deque[Act] = deque()
        self.asked: list[Seen] = []

    def meet(self, exchange: Exchange) -> None:
        self.asked.append(exchange.seen())
        act = self.acts.popleft() if self.acts else Act()
        if act.silent:
            self.stopping.wait(60)
        if act.silent or act.hangs_up:
            exchange.hangs_up()
        else:
            exchange.says(act.status, act.body, act.headers)
