"""Dialogues of the follow-up sets: who asked what after what, and which earlier turns a question can't be understood without.

A set holds a case for each question, with all that was said before it; here they are put together again. Of sets with human
rewrites a question needs the turns that said what a person put into the rewrite; of sets with SQL it needs the turn before, whose
query it changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from recollect.policy.text import analyse, query_terms

WITH_SQL = frozenset({"sparc_dev", "sesql_dev_zh"})
_QUALIFIED = re.compile(r"([^\s.,()]+)\.[^\s,()]+")
_FROM = re.compile(r"\b(?:from|join)\s+([A-Za-z_]\w*)", re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """A question, what was answered, and of a question that is measured how a person put it, or in SQL."""

    text: str
    reply: str = ""
    sql: str = ""
    told: str | None = None
    leans: bool = False
    """Whether it needs what was said before."""

    @property
    def tables(self) -> tuple[str, ...]:
        found = _FROM.findall(self.sql) or _QUALIFIED.findall(self.sql)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Dialogue:
    id: str
    source: str
    about: str
    """The database or table, where there is one."""
    turns: tuple[Turn, ...] = field(repr=False)

    def measured(self) -> list[int]:
        return [place for place in range(len(self.turns)) if self.needs(place)]

    def needs(self, place: int) -> list[set[int]]:
        """For each thing the question leaves out, the turns that said it: one of each is enough. Nothing: not to be measured."""
        turn = self.turns[place]
        if not turn.leans or turn.told is None or not place:
            return []
        if turn.sql:
            return [{place - 1}]
        said = [set(analyse(f"{each.text} {each.reply}")) for each in self.turns[:place]]
        missing = set(query_terms(turn.told)) - set(analyse(turn.text))
        sources = [{number for number, words in enumerate(said) if term in words} for term in sorted(missing)]
        return [each for each in sources if each]

    def missing(self, place: int) -> list[str]:
        """The words a person added that were said before, in the order of `needs`; none of a set with SQL."""
        turn = self.turns[place]
        if turn.sql or turn.told is None:
            return []
        said = {word for each in self.turns[:place] for word in analyse(f"{each.text} {each.reply}")}
        return sorted((set(query_terms(turn.told)) - set(analyse(turn.text))) & said)


def read(folder: Path, name: str, limit: int | None = None) -> list[Dialogue]:
    """As many dialogues, from the first, as hold `limit` questions to be measured."""
    chosen, questions = [], 0
    for dialogue in _dialogues(folder / f"{name}.cases.jsonl", name):
        if limit is not None and questions >= limit:
            break
        if found := len(dialogue.measured()):
            chosen.append(dialogue)
            questions += found
    return chosen


def _dialogues(file: Path, name: str) -> Iterator[Dialogue]:
    with file.open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    for id, its in groupby(cases, key=lambda case: _dialogue_of(case["case_id"])):
        yield _dialogue(id, name, list(its))


def _dialogue_of(case_id: str) -> str:
    """Turns of one dialogue are numbered `name-1` or `name_1`, where the name has a number too."""
    name = re.sub(r"[-_]\d+$", "", case_id)
    return name if re.search(r"\d", name) else case_id


def _dialogue(id: str, name: str, cases: Sequence[dict[str, Any]]) -> Dialogue:
    longest = max(cases, key=lambda case: len(case["history"]))
    said = [*longest["history"], {"role": "user", "text": longest["query"]}]
    known = {sum(turn["role"] == "user" for turn in case["history"]): case for case in cases}
    turns: list[Turn] = []
    for number, each in enumerate(said):
        if each["role"] != "user":
            continue
        reply = said[number + 1]["text"] if number + 1 < len(said) and said[number + 1]["role"] != "user" else ""
        turns.append(_turn(each["text"], reply, name, known.get(len(turns))))
    extra = longest.get("extra") or {}
    return Dialogue(id, name, str(extra.get("db_id") or extra.get("table_id") or ""), tuple(turns))


def _turn(text: str, reply: str, name: str, case: dict[str, Any] | None) -> Turn:
    if case is None:
        return Turn(text, reply)
    sql = case["answer"] if name in WITH_SQL else ""
    return Turn(text, reply, sql, case["answer"], bool(case["needs_context"]))
