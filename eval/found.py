"""Facts that change in the public sets: which turns told the value first, which told it last, and what else is asked there.

LongMemEval: the user's turns of the sessions that hold the evidence, and of a few others of the same person. The newest value is
told by the evidence of the latest session, and by any other turn of it that holds the answer. BEAM: all the user's turns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from eval.dedupe import _lines

OTHER = 24
"""Questions of each other kind that are asked to see what is wrongly marked."""
NOISE = 4
"""Sessions of a person beside those that hold the evidence."""
_PAST = re.compile(
    r"\b(?:previous(?:ly)?|before (?!\W*$)|earlier|original(?:ly)?|initial(?:ly)?|at first|used to)\b|than I did", re.I
)
_OTHER_KINDS = {"multi-session", "single-session-user", "temporal-reasoning"}
_UPDATES = {"knowledge_update", "contradiction_resolution"}


class Case(NamedTuple):
    """`new` and `old` are empty for questions about nothing that changed; `relevant` are the turns that answer."""

    kind: str
    person: str
    question: str
    sessions: dict[str, list[dict[str, Any]]]
    new: frozenset[str]
    old: frozenset[str]
    relevant: frozenset[str]

    @property
    def of_the_past(self) -> bool:
        return _PAST.search(self.question) is not None


def longmemeval(path: Path) -> Iterator[Case]:
    sessions = {line["session_id"]: line["turns"] for line in _lines(path / "longmemeval_pooled.sessions.jsonl")}
    dates = {
        line["corpus_id"]: {
            each["session_id"]: datetime.fromisoformat(each["created_at"]) for each in line["session_refs"]
        }
        for line in _lines(path / "longmemeval_pooled.corpora.jsonl")
    }
    asked: Counter[str] = Counter()
    for case in _lines(path / "longmemeval_pooled.cases.jsonl"):
        kind, known = case["category"], dates[case["corpus_id"]]
        beside = [session for session in known if session not in case["relevant_sessions"]][:NOISE]
        told = {
            session: [_turn(turn, known[session]) for turn in sessions[session] if turn["role"] == "user"]
            for session in (*case["relevant_sessions"], *beside)
        }
        new, old = _told_last(case, told)
        asked[kind] += 1
        if (kind == "knowledge-update" and new and old) or (kind in _OTHER_KINDS and asked[kind] <= OTHER):
            yield Case(kind, case["case_id"], case["query"], told, new, old, frozenset(case["relevant_ids"]))


def _told_last(case: dict[str, Any], told: dict[str, list[dict[str, Any]]]) -> tuple[frozenset[str], frozenset[str]]:
    latest = case["extra"].get("latest_evidence_session")
    if case["category"] != "knowledge-update" or latest not in told:
        return frozenset(), frozenset()
    answer = str(case.get("answer") or "").casefold().rstrip(".")
    evidence = {id for id in case["relevant_ids"] if id.startswith(f"{latest}#")}
    repeats = {turn["id"] for turn in told[latest] if answer and answer in turn["content"].casefold()}
    return frozenset(evidence | repeats if evidence else ()), frozenset(case["relevant_ids"]) - evidence


def beam(path: Path) -> Iterator[Case]:
    chats: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for line in _lines(path / "beam_100k.corpora.jsonl"):
        chat = chats.setdefault(line["corpus_id"], defaultdict(list))
        for turn in line["memories"]:
            if turn["role"] == "user":
                chat[turn["session_id"]].append(_turn(turn, datetime.fromisoformat(turn["created_at"])))
    for case in _lines(path / "beam_100k.cases.jsonl"):
        extra, kind = case["extra"], case["category"]
        first = frozenset(extra.get("original_info") or extra.get("first_statement") or ())
        last = frozenset(extra.get("updated_info") or extra.get("second_statement") or ())
        new, old = (last - first, first - last) if kind in _UPDATES else (frozenset[str](), frozenset[str]())
        if (new and old) or (kind not in _UPDATES and case["relevant_ids"]):
            relevant = frozenset(case["relevant_ids"])
            yield Case(kind, case["corpus_id"], case["query"], chats[case["corpus_id"]], new, old, relevant)


def _turn(turn: dict[str, Any], at: datetime) -> dict[str, Any]:
    return {"id": turn["id"], "role": "user", "content": turn["text"], "created_at": at}
