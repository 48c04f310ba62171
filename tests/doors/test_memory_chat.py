"""The contract of /memoryChat, scenario by scenario, on both stores: over HTTP, with an answerer that has a script."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx

from recollect.errors import InvalidInput, NotAllowed, Unavailable
from recollect.model import DataAnswer
from recollect.policy.budget import count_tokens
from recollect.policy.datachat import CURRENT, INSTRUCTIONS, RECENT, RELATED
from recollect.testing import ScriptedAnswerer
from tests.doors.serving import Served

SALES = "SELECT r.region_name, SUM(s.amount) AS total FROM sales s JOIN regions r USING (region_id) WHERE year = {} GROUP BY 1"
ROWS = {"columns": ["region_name", "total"], "rows": [["North", 2.5], ["South", 1.8]], "row_count": 2, "truncated": False}
FIRST = "Show me total sales by region for 2024"


def sales(year: int, **fields: Any) -> DataAnswer:
    given: dict[str, Any] = {
        "answer": f"The total sales by region for {year}: North 2.5M, South 1.8M",
        "sql": SALES.format(year),
        "explanation": "Adds up the amounts of a year by region.",
        "tables": ("sales", "regions"),
        "result": ROWS,
        "related": ("Which region grew most?",),
        "tokens": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        "sql_s": 0.01,
    }
    return DataAnswer(**{**given, **fields})


def answering(served: Served, *script: Any) -> ScriptedAnswerer:
    answerer = ScriptedAnswerer(*script)
    served.engine.desk.answerer = answerer
    return answerer


async def ask(client: httpx.AsyncClient, question: str, status: int = 200, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/memoryChat", json={"question": question, **fields})
    assert answer.status_code == status, answer.text
    reply: dict[str, Any] = answer.json()
    return reply


async def test_a_follow_up_is_understood(served: Served) -> None:
    answerer = answering(served, sales(2024), sales(2023))
    first = await ask(served.ana, FIRST, vdp_database_names="banking_db", llm_provider="OpenAI", llm_model="gpt-4o")
    about = first["conversation_metadata"]
    assert UUID(about["conversation_id"])
    assert (about["session_name"], about["message_count"], about["is_summarized"]) == (FIRST, 1, False)
    assert first["memory_context_used"] == {
        "history_messages_count": 0,
        "similar_queries_count": 0,
        "context_tokens": 0,
        "context_truncated": False,
        "degraded": [],
    }
    assert answerer.asked[0].augmented == FIRST
    assert answerer.asked[0].options["llm_model"] == "gpt-4o"
    second = await ask(served.ana, "What about 2023?", session_id=about["conversation_id"])
    assert second["conversation_metadata"]["message_count"] == 2
    assert second["memory_context_used"]["history_messages_count"] == 1
    assert second["sql_query"] == SALES.format(2023)
    assert second["tables_used"] == ["sales", "regions"]
    assert second["execution_result"] == ROWS
    assert second["memory_retrieval_time"] > 0
    context = answerer.asked[1].augmented
    assert count_tokens(context) == second["memory_context_used"]["context_tokens"]
    lines = context.splitlines()
    assert lines[:4] == [
        RECENT,
        f"User asked: {FIRST}",
        "Assistant answered using tables: [sales, regions]",
        f"SQL: {SALES.format(2024)}",
    ]
    assert context.endswith(f"{CURRENT}\nWhat about 2023?\n\n{INSTRUCTIONS}")
    (earlier,) = answerer.asked[1].history
    assert (earlier.question, earlier.sql, earlier.result) == (FIRST, SALES.format(2024), ROWS)
