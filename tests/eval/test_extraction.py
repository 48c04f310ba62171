"""`python -m eval.extraction` on a tiny set of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_extraction(tmp_path: Path) -> None:
    said = [
        ("user", "I live in Lyon."),
        ("user", "What is the time?"),
        ("assistant", "It is nine. Paris is lovely."),
        ("photo", "I love sushi."),
    ]
    turns = [
        {"id": f"m{n}", "text": text, "created_at": None, "session_id": "s", "role": role}
        for n, (role, text) in enumerate(said)
    ]
    case: dict[str, object] = {
        "kind": "retrieval",
        "case_id": "c",
        "corpus_id": "k",
        "query": "?",
        "query_time": None,
        "relevant_ids": [],
    }
    more = {"relevant_sessions": [], "answerable": True, "category": "x", "dataset": "tiny"}
    (tmp_path / "tiny.cases.jsonl").write_text(json.dumps(case | more) + "\n")
    (tmp_path / "tiny.corpora.jsonl").write_text(json.dumps({"corpus_id": "k", "memories": turns}) + "\n")
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "eval.extraction", str(tmp_path), "--sample", "5", "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True)
    users, assistants = json.loads(out.read_text())
    assert (users["turns"], users["with_items"], users["items"]) == (2, 1, 1)
    assert (assistants["turns"], assistants["items"]) == (1, 0)
    assert "tiny\tfact\t0.95\thome\tI live in Lyon" in done.stdout
