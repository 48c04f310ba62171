"""`--dataset sets`: public sets through the real engine, from stored turn to ranked hit, beside the floor of the same run."""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from eval.cases import Case, Corpus, Item, read_set
from eval.floors import Floor
from eval.metrics import mean, scores
from eval.silence import separated, strangers
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.engine.remembering.drafts import checked_time
from recollect.model import Filter, Query, Recall, Scope
from recollect.ports import Embedder

DEPTH = 50
TENANT = "eval"
OURS = {"ours": "native"}
"""What is shown as which recipe."""


class OnceEmbedder:
    """An embedder that never embeds the same text twice: sets share their sessions between corpora."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, NDArray[np.float32]] = {}
        self.provider, self.model, self.dimensions = inner.provider, inner.model, inner.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, await self._inner.embed(missing, query=query), strict=True))
        return np.stack([self._known[text] for text in texts])

    async def close(self) -> None:
        await self._inner.close()


@dataclass(frozen=True)
class Outcome:
    """One question: what each system scored, whether ours answered at all, how sure it was at best, how long it took."""

    case: Case
    scored: dict[str, dict[str, float]]
    answered: bool
    relevance: float
    seconds: float


async def run(
    engine: Engine,
    embedder: Embedder,
    folder: Path,
    names: Iterable[str],
    limit: int | None,
    recipes: Mapping[str, str] = OURS,
) -> list[dict[str, Any]]:
    """Every set with each of `recipes` beside the floors; sets that put something in per question also in the hard variant."""
    rows = []
    for name in names:
        corpora = read_set(folder, name, limit)
        others = [case.query for case in strangers(folder, name)]
        rows.append(_row(name, *await _evaluate(engine, embedder, name, corpora, recipes, others)))
        if any(case.own_items for corpus in corpora for case in corpus.cases):
            hard = [_all_at_once(corpus) for corpus in corpora]
            rows.append(
                _row(f"{name} (hard)", *await _evaluate(engine, embedder, f"{name}-hard", hard, recipes, others))
            )
    return rows


def _all_at_once(corpus: Corpus) -> Corpus:
    """The hard variant: what was put in for each question is there for all of them."""
    everything = {item.id: item for case in corpus.cases for item in case.own_items}
    cases = [replace(case, own_items=()) for case in corpus.cases]
    return Corpus(corpus.id, corpus.items + tuple(everything.values()), cases)


async def _evaluate(
    engine: Engine,
    embedder: Embedder,
    name: str,
    corpora: Sequence[Corpus],
    recipes: Mapping[str, str],
    strange: Sequence[str] = (),
) -> tuple[list[Outcome], list[float]]:
    """What became of every question, and how sure the answers to `strange` ones were, dealt out over the corpora."""
    outcomes: list[Outcome] = []
    sure: list[float] = []
    for number, corpus in enumerate(track(corpora, description=f"{name:24}")):
        scope = Scope(TENANT, corpus.id[:200], name)
        await _store(engine, scope, corpus.items)
        for case in corpus.cases:
            await _store(engine, scope, case.own_items)
            outcomes.append(await _ask(engine, embedder, scope, corpus, case, recipes))
            for session in {item.session_id for item in case.own_items}:
                await engine.forget_conversation(scope, session)
        asked = [Query(text=text, filter=Filter(kinds=("message",))) for text in strange[number :: len(corpora)]]
        sure += [await _surest(engine, scope, query) for query in asked]
        await engine.erase_user(TENANT, scope.user)
    return outcomes, sure


async def _surest(engine: Engine, scope: Scope, query: Query) -> float:
    """The best relevance there is, whether or not it would be shown."""
    recalled = await engine.recall(scope, replace(query, limit=DEPTH, min_relevance=0.0))
    return max((hit.relevance for hit in recalled), default=0.0)


async def _store(engine: Engine, scope: Scope, items: Sequence[Item]) -> None:
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        turn = {"role": item.role, "content": item.text, "created_at": item.created_at, "id": item.id}
        sessions[item.session_id].append(turn)
    for session, turns in sessions.items():
        await engine.add_turns(scope, session, turns)
    await embed.drain(engine)


async def _ask(
    engine: Engine, embedder: Embedder, scope: Scope, corpus: Corpus, case: Case, recipes: Mapping[str, str]
) -> Outcome:
    now = _end_of(case.query_time) if case.query_time else None
    query = Query(text=case.query, limit=DEPTH, filter=Filter(kinds=("message",)), now=now)
    ranked: dict[str, list[str]] = {}
    answered, surest, seconds = True, 0.0, 0.0
    for label, recipe in recipes.items():
        started = perf_counter()
        recalled = await engine.recall(scope, replace(query, recipe=recipe))
        ranked[label] = _ids(recalled)
        if label == "ours":
            answered, seconds = bool(recalled.hits), perf_counter() - started
            surest = max((hit.relevance for hit in recalled), default=0.0) or await _surest(engine, scope, query)
    items = corpus.items + case.own_items
    ranked |= await _floors(embedder, items, case.query)
    sessions = {item.id: item.session_id for item in items}
    scored = {
        system: scores(case, ids, list(dict.fromkeys(sessions[id] for id in ids))) for system, ids in ranked.items()
    }
    return Outcome(case, scored, answered, surest, seconds)


def _end_of(when: str) -> datetime:
    """A question asked some time in a month looks back on all of it."""
    at = checked_time(when, "query_time")
    if len(when) > len("2025-12"):
        return at
    return at.replace(day=monthrange(at.year, at.month)[1], hour=23, minute=59)


def _ids(recalled: Recall) -> list[str]:
    return [hit.message.id for hit in recalled if hit.message is not None]


_floor_of: dict[tuple[str, ...], Floor] = {}


async def _floors(embedder: Embedder, items: Sequence[Item], query: str) -> dict[str, list[str]]:
    key = tuple(item.id for item in items)
    if key not in _floor_of:
        _floor_of.clear()
        vectors = await embedder.embed([item.text for item in items])
        _floor_of[key] = Floor(key, [f"{item.role}: {item.text}" for item in items], vectors)
    return _floor_of[key].rankings(query, (await embedder.embed([query], query=True))[0])


def _row(name: str, outcomes: Sequence[Outcome], strange: Sequence[float] = ()) -> dict[str, Any]:
    answerable = [each for each in outcomes if each.case.answerable]
    rest = [each for each in outcomes if not each.case.answerable]
    seconds = sorted(each.seconds for each in outcomes)
    recalled = [(each.relevance, next(iter(each.scored["ours"].values()), 0.0)) for each in answerable]
    return {
        "set": name,
        "cases": len(answerable),
        "metrics": {system: mean(each.scored[system] for each in answerable) for system in _systems(outcomes)},
        "empty_when_answerable": _share(not each.answered for each in answerable),
        "empty_when_not": _share(not each.answered for each in rest),
        "unanswerable": len(rest),
        "silence": {
            "unanswerable": separated(recalled, [each.relevance for each in rest]),
            "strangers": separated(recalled, strange),
        },
        "recall_ms_p50": round(1000 * seconds[len(seconds) // 2], 1) if seconds else None,
    }


def _systems(outcomes: Sequence[Outcome]) -> list[str]:
    return list(outcomes[0].scored) if outcomes else []


def _share(flags: Iterable[bool]) -> float | None:
    known = list(flags)
    return round(100 * sum(known) / len(known), 1) if known else None
