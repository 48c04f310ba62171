"""The contract's own dialogue through `recollect serve`, over the sample database, without a model: settings, tokens and all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.api.homes import Home
from tests.doors.http.issuing import SECRET, signed
from tests.doors.http.process import PATIENCE_SECONDS, serving

BOTH = ["sales", "regions"]


def asking(url: str, tables: list[str], **changed: Any) -> httpx.Client:
    token = signed(tables=tables, **changed)
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_SECONDS)


def test_the_dialogue_of_the_contract(home: Home, tmp_path: Path) -> None:
    given = {
        "store": home.url,
        "data_url": "sample",
        "user_id_source": "jwt_claim",
        "jwt_secret": SECRET,
        "data_permissions": "claims",
        "tables_claim": "tables",
    }
    with serving(tmp_path, **given) as server, asking(server.url, BOTH) as ana:
        first = ana.post("memoryChat", json={"question": "Show me total sales by region for 2024"}).json()
        assert first["tables_used"] == BOTH
        assert "2,500,000" in first["answer"]
        about = first["conversation_metadata"]
        assert (about["session_name"], about["message_count"]) == ("Show me total sales by region for 2024", 1)
        follow_up = {"question": "What about 2023?", "session_id": about["conversation_id"]}
        second = ana.post("memoryChat", json=follow_up).json()
        assert second["answered"], second
        assert second["sql_query"] == first["sql_query"].replace("2024", "2023")
        assert "2,200,000" in second["answer"]
        assert second["conversation_metadata"]["message_count"] == 2
        assert second["memory_context_used"]["history_messages_count"] == 1
        with asking(server.url, ["products"]) as later:
            assert later.get("memoryChat/conversations").json()["total"] == 0
            alone = later.post("memoryChat", json=follow_up).json()
            assert alone["memory_context_used"]["history_messages_count"] == 0
            assert not alone["answered"]
        with asking(server.url, BOTH, sub="bob") as bob:
            assert bob.get(f"memoryChat/conversations/{about['conversation_id']}").status_code == 404
