"""Sets of questions over conversations, read from a folder of JSON lines.

    NAME.cases.jsonl     a question a line: query, query_time, relevant_ids, relevant_sessions, answerable, corpus_id, extra
    NAME.corpora.jsonl   what there is to find: memories (id, text, created_at, session_id, role), or references to sessions
    NAME.sessions.jsonl  sessions that several corpora share

The data stays where it is; nothing of it is copied into the project.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

TURN_SECONDS = 30  # sessions by reference give only their start; turns follow at this pace


@dataclass(frozen=True)
class Item:
    id: str
    text: str
    created_at: str | None
    session_id: str
    role: str


@dataclass(frozen=True)
class Case:
    id: str
    query: str
    query_time: str | None
    relevant: frozenset[str]
    relevant_sessions: frozenset[str]
    answerable: bool
    category: str
    own_items: tuple[Item, ...]
    """What is put beside the corpus for this question alone."""


@dataclass
class Corpus:
    id: str
    items: tuple[Item, ...]
    cases: list[Case] = field(default_factory=list)


def names(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".cases.jsonl") for path in folder.glob("*.cases.jsonl"))


def kind_of(folder: Path, name: str) -> str:
    """What a set asks for: retrieval, followup, pairs or injection."""
    first = next(_lines(folder / f"{name}.cases.jsonl"), {})
    return str(first.get("kind", "retrieval"))


def read_set(folder: Path, name: str, limit: int | None = None) -> list[Corpus]:
    """The corpora of a retrieval set, each with its questions; at most `limit` questions in all."""
    sessions = {line["session_id"]: line["turns"] for line in _lines(folder / f"{name}.sessions.jsonl")}
    corpora = {
        line["corpus_id"]: Corpus(line["corpus_id"], tuple(_items(line, sessions)))
        for line in _lines(folder / f"{name}.corpora.jsonl")
    }
    for number, line in enumerate(_lines(folder / f"{name}.cases.jsonl")):
        if limit is not None and number >= limit:
            break
        if line.get("kind", "retrieval") == "retrieval":
            corpus_id = line.get("corpus_id") or line["case_id"]
            if corpus_id not in corpora:  # a question that brings all there is to find
                corpora[corpus_id] = Corpus(corpus_id, tuple(_item(each) for each in line["memories"]))
            corpora[corpus_id].cases.append(_case(line))
    return [corpus for corpus in corpora.values() if corpus.cases]


def questions(folder: Path, name: str) -> list[Case]:
    """The questions of a retrieval set alone, without what there is to find."""
    lines = _lines(folder / f"{name}.cases.jsonl")
    return [_case(line) for line in lines if line.get("kind", "retrieval") == "retrieval"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def _items(corpus: dict[str, Any], sessions: dict[str, Any]) -> Iterator[Item]:
    for each in corpus.get("memories", ()):
        yield _item(each)
    for reference in corpus.get("session_refs", ()):
        start = datetime.fromisoformat(reference["created_at"])
        for number, turn in enumerate(sessions[reference["session_id"]]):
            at = (start + timedelta(seconds=TURN_SECONDS * number)).isoformat()
            yield Item(turn["id"], turn["text"], at, reference["session_id"], turn["role"])


def _item(line: dict[str, Any]) -> Item:
    return Item(line["id"], line["text"], line.get("created_at"), line["session_id"], line.get("role") or "user")


def _case(line: dict[str, Any]) -> Case:
    extra = line.get("extra") or {}
    return Case(
        id=line["case_id"],
        query=line["query"],
        query_time=line.get("query_time"),
        relevant=frozenset(extra.get("audited_relevant_ids") or line["relevant_ids"]),
        relevant_sessions=frozenset(line.get("relevant_sessions") or ()),
        answerable=bool(line.get("answerable", True)),
        category=str(line.get("category") or ""),
        own_items=tuple(_item(each) for each in line.get("extra_memories", ())),
    )
