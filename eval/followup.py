"""`--dataset followup`: what is understood of questions that lean on a conversation, judged by human rewrites of them.

Three measurements, none of which needs a model; with an embedder the second is done with meaning as well:

    terms      of the words a person put into the rewrite, how many were added (recall); of those added, how many
               a person would have put in (precision). `reachable` counts only words said in the conversation.
    retrieval  the question as asked, as expanded, and as rewritten by a person (the ceiling), each ranked over the
               answers given in all dialogues, without those already heard; where a set holds no answers, over all
               rewrites, of which its own is to be found.
    no harm    questions of retrieval sets, which stand alone, asked after talk about something else in the
               same memory.

Weights were chosen on one half of the dialogues, so figures are of the other half unless `half` says otherwise. The cues
that tell a follow-up were written with examples of all sets in view: a share of them is no forecast for new data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from eval.cases import Case, Corpus, read_set
from recollect.policy.followup import expand, understood
from recollect.policy.native import rank
from recollect.policy.question import Question, prepare
from recollect.policy.shelf import Card, Shelf
from recollect.policy.text import analyse, query_terms
from recollect.ports import Embedder

DEPTH = 10
MOST_TEXTS = 3000
SHORTEST_ANSWER = 25  # below it an answer says "yes" or "I don't know", which any question may find
_NOW = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FollowUp:
    id: str
    history: tuple[str, ...]
    query: str
    rewrite: str

    @property
    def dialogue(self) -> str:
        """Turns of one dialogue are numbered `name-1` or `name_1`, where the name has a number too."""
        name = re.sub(r"[-_]\d+$", "", self.id)
        return name if re.search(r"\d", name) else self.id

    @property
    def needed(self) -> set[str]:
        """What a person added."""
        return set(query_terms(self.rewrite)) - set(analyse(self.query))


@dataclass(frozen=True)
class Search:
    """A question to find `target` with; `heard` are the texts of its own conversation."""

    asked: FollowUp
    target: int
    heard: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ground:
    texts: list[str]
    searches: list[Search]


async def run(
    path: Path,
    sets: Sequence[str],
    limit: int | None = None,
    embedder: Embedder | None = None,
    half: int | None = 1,
) -> list[dict[str, Any]]:
    """A row for each set: follow-ups are measured by terms and retrieval, the others for harm."""
    return [
        await _followups(path, name, limit, embedder, half)
        if not (path / f"{name}.corpora.jsonl").exists()
        else _harm(name, read_set(path, name, limit))
        for name in sets
    ]


async def _followups(
    path: Path, name: str, limit: int | None, embedder: Embedder | None, half: int | None
) -> dict[str, Any]:
    everything = _read(path / f"{name}.cases.jsonl")
    mine = [each for each in everything if each.history and _is_in(half, each)][:limit]
    ground = _ground(everything)
    chosen = {each.id for each in mine}
    searches = [search for search in ground.searches if search.asked.id in chosen]
    row = {"set": name, "kind": "followup", "cases": len(mine), "terms": _terms(mine)}
    row["lexical"] = await _retrieval(ground.texts, searches, None)
    if embedder is not None:
        row["native"] = await _retrieval(ground.texts, searches, embedder)
    return row | {"searches": len(searches)}


def _read(file: Path) -> list[FollowUp]:
    with file.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return [FollowUp(c["case_id"], tuple(t["text"] for t in c["history"]), c["query"], c["answer"]) for c in cases]


def _is_in(half: int | None, case: FollowUp) -> bool:
    return half is None or crc32(case.dialogue.encode()) % 2 == half


def _terms(cases: Sequence[FollowUp]) -> dict[str, float]:
    hit = added = needed = reachable = idle = spoilt = 0
    for case in cases:
        found, wanted = set(expand(case.query, case.history).terms), case.needed
        hit, added, needed = hit + len(found & wanted), added + len(found), needed + len(wanted)
        reachable += len(wanted & {term for turn in case.history for term in analyse(turn)})
        idle, spoilt = idle + (not wanted), spoilt + (not wanted and bool(found))
    return {
        "precision": _percent(hit, added),
        "recall": _percent(hit, needed),
        "recall_of_reachable": _percent(hit, reachable),
        "added": round(added / max(len(cases), 1), 2),
        "in_no_need": idle,
        "of_those_expanded": spoilt,
    }


def _ground(cases: Sequence[FollowUp]) -> Ground:
    answers = _answers(cases)
    if not answers:
        texts = list(dict.fromkeys(case.rewrite for case in cases if case.history))[:MOST_TEXTS]
        place = {text: number for number, text in enumerate(texts)}
        return Ground(texts, [Search(case, place[case.rewrite]) for case in cases if case.rewrite in place])
    number = {id: row for row, id in enumerate(answers)}
    searches, heard = [], dict[str, tuple[int, ...]]()
    for case in cases:
        if case.id in number:
            before = heard.get(case.dialogue, ())
            searches.append(Search(case, number[case.id], before))
            heard[case.dialogue] = (*before, number[case.id])
    return Ground(list(answers.values()), searches)


def _answers(cases: Sequence[FollowUp]) -> dict[str, str]:
    """What was answered to each question, found at the end of the history of the next one."""
    answers = {}
    for case, following in pairwise(cases):
        continues = following.dialogue == case.dialogue and len(following.history) == len(case.history) + 2
        if continues and following.history[-2] == case.query and len(following.history[-1]) >= SHORTEST_ANSWER:
            answers[case.id] = following.history[-1]
    return answers


async def _retrieval(
    texts: Sequence[str], searches: Sequence[Search], embedder: Embedder | None
) -> dict[str, dict[str, float]]:
    shelf = Shelf()
    vectors = await embedder.embed(texts) if embedder else [None] * len(texts)
    shelf.put(_card(number, text, vector) for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)))
    readings: dict[str, Callable[[FollowUp], Question]] = {
        "as asked": lambda case: prepare(case.query, _NOW),
        "expanded": lambda case: understood(case.query, case.history, _NOW),
        "by a person": lambda case: prepare(case.rewrite, _NOW),
    }
    figures = {}
    for reading, read in readings.items():
        questions = [read(search.asked) for search in searches]
        asked = [question.texts[0] for question in questions]
        vectors = await embedder.embed(asked, query=True) if embedder and asked else [None] * len(asked)
        together = zip(searches, questions, vectors, strict=True)
        places = [_place(shelf, *each) for each in track(together, f"{reading:12}", len(searches))]
        figures[reading] = {
            "mrr": round(100 * sum(1 / place for place in places if place) / max(len(places), 1), 1),
            f"hit@{DEPTH}": _percent(sum(place > 0 for place in places), len(places)),
        }
    return figures


def _place(shelf: Shelf, search: Search, question: Question, vector: NDArray[np.float32] | None) -> int:
    """The rank of what was to be found, from 1; 0 when it is not among the best."""
    allowed = np.ones(shelf.rows, np.bool_)
    allowed[list(search.heard)] = False
    ranked = rank(shelf, question, () if vector is None else [vector], allowed, DEPTH)
    return next((place for place, hit in enumerate(ranked, 1) if hit.index == search.target and hit.score > 0), 0)


def _card(number: int, text: str, vector: NDArray[np.float32] | None) -> Card:
    return Card(
        "memory", str(number), None, 0, None, "user", _NOW, False, " ".join(analyse(text)), len(text), False, vector
    )  # fmt: skip


def _harm(name: str, corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Only a question that is taken for a follow-up can lose: the others are asked in the same words."""
    cases, leaning, lost = 0, 0, 0.0
    for corpus in corpora:
        for number, case in enumerate(corpus.cases):
            history = _other_talk(corpus, number)
            cases += 1
            if expand(case.query, history).terms:
                leaning += 1
                lost += _found(corpus, case, prepare(case.query)) - _found(
                    corpus, case, understood(case.query, history)
                )
    return {
        "set": name,
        "kind": "no harm",
        "cases": cases,
        "taken_for_followups": _percent(leaning, cases),
        f"recall@{DEPTH}_lost": round(100 * lost / max(cases, 1), 2),
    }


def _other_talk(corpus: Corpus, number: int) -> tuple[str, ...]:
    """Another question to the same memory, and its answer: words that would find something, only not what is asked."""
    other = corpus.cases[(number + max(1, len(corpus.cases) // 2)) % len(corpus.cases)]
    said = [item.text for item in (*corpus.items, *other.own_items) if item.id in other.relevant]
    return (other.query, *said[:1])


def _found(corpus: Corpus, case: Case, question: Question) -> float:
    items = (*corpus.items, *case.own_items)
    shelf = Shelf()
    shelf.put(_card(number, item.text, None) for number, item in enumerate(items))
    shown = {items[hit.index].id for hit in rank(shelf, question, limit=DEPTH)}
    return len(shown & case.relevant) / max(len(case.relevant), 1)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
