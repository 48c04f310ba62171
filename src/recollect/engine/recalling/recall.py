"""recall: one pipeline for every recipe.

    may anything be recalled? -> prepare -> embed the question -> one read transaction: candidates, evidence, records
    -> relevance cut -> budget

A leg that fails is left out and named in `trace.degraded`; what it would have found is never made up. Accesses are noted after
the answer and written later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING

from recollect.engine import audit
from recollect.engine.boundary import silence
from recollect.engine.embedding import elsewhere
from recollect.engine.embedding.embed import embedded, flush
from recollect.engine.recalling import search
from recollect.engine.recalling.asked import Asked
from recollect.engine.recalling.bridges import bridge_of
from recollect.engine.recalling.sharing import merged, shared
from recollect.engine.recalling.since import replaced_since
from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.model import Filter, Hit, Query, Recall, Refusal, Scope, Target, Trace
from recollect.policy.budget import fitted
from recollect.policy.decay import scores_of
from recollect.policy.digest import query_digest
from recollect.policy.followup import understood
from recollect.policy.guard import MAX_QUERY_CHARS, checked_fraction
from recollect.policy.latest.asked import asks_for_history, latest_first
from recollect.policy.question import half_typed
from recollect.policy.recipes import Recipe, recipe_named
from recollect.policy.relevance import scale_of
from recollect.ports import Embedder, Tx, Vector

if TYPE_CHECKING:
    from recollect.engine import Engine

WORTH_WAITING_FOR = 32
MOST_HISTORY = 12
PATIENCE_SECONDS = 0.25
PATIENCE_WHEN_COLD = 5.0
A_MOMENT = timedelta(seconds=2)


@dataclass
class Course:
    """What happened on the way, for the trace."""

    recipe: str
    started: float = field(default_factory=perf_counter)
    generation: str | None = None
    refusal: Refusal | None = None
    degraded: list[str] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)
    candidates: Mapping[str, int] = field(default_factory=dict)
    disputed: frozenset[frozenset[str]] = frozenset()
    """Memories among the hits that may not both be true, by their ids."""

    def lap(self, stage: str, since: float) -> float:
        now = perf_counter()
        self.timings_ms[stage] = round((now - since) * 1000, 3)
        return now


async def recall(engine: Engine, scope: Scope, query: Query) -> Recall:
    recipe = engine.config.applied(recipe_named(query.recipe))
    query = checked(query, recipe, engine.clock.now())
    course = Course(recipe.name)
    # First of all: where nothing may be recalled, the question isn't even shown to an embedding server or a cache.
    refusal, spaces = await engine.store.read(scope, lambda tx: (silence(tx, engine), tx.space.sharing()))
    if refusal is not None:
        course.degraded.append(refusal)
        return within_budget([], False, recipe, query, course)
    with engine.shelves.weighed(scope):
        asked = await _asked(engine, scope, query, query.limit or recipe.limit, course)
        lap = course.lap("embed", course.started)
        hits, more = await _searched(engine, scope, recipe, asked, course)
        if not (hits or course.refusal or course.degraded) and asked.vectors and await _caught_up(engine, scope):
            hits, more = await _searched(engine, scope, recipe, asked, course)
    if course.refusal is not None:
        course.degraded.append(course.refusal)
        return within_budget([], False, recipe, query, course)
    if spaces and (others := await shared(engine, scope, recipe, asked, spaces)):
        course.candidates = {**course.candidates, "shared": len(others)}
        hits, more = merged(hits, others)[: asked.limit], more or len(hits) + len(others) > asked.limit
    lap = course.lap("store", lap)
    recalled = within_budget(_latest_first(hits, recipe, asked, course), more, recipe, query, course)
    note(engine, scope, query, recalled)
    return recalled


def note(engine: Engine, scope: Scope, query: Query, recalled: Recall) -> None:
    """What was shown, how it scored, and that somebody asked: written later, never in the way of the answer."""
    at = engine.clock.now()
    for space in dict.fromkeys(hit.space for hit in recalled.hits if hit.memory):
        shown = [hit for hit in recalled.hits if hit.memory and hit.space == space]
        where = scope if space is None else scope.within(space)
        engine.notes.accessed(
            where, [hit.target.id for hit in shown], {hit.target.id: scores_of(hit, at) for hit in shown}
        )
    if engine.config.audit_reads:
        facts = {
            "query": query_digest(scope, query.text, engine.config.pepper),
            "recipe": recalled.trace.recipe,
            "hits": len(recalled),
            "ms": round(recalled.trace.timings_ms["total"]),
        }
        engine.notes.read(scope, audit.event(engine.occasion, at, "memory.recalled", **facts))


def passed_over(engine: Engine, scope: Scope, hits: Iterable[Hit], used: Iterable[Target]) -> None:
    """Only what made it into the prompt counts as accessed: the rest was found, and left out for want of room."""
    shown = set(used)
    for hit in hits:
        if hit.memory is not None and hit.target not in shown:
            engine.notes.passed_over(scope if hit.space is None else scope.within(hit.space), [hit.target.id])


async def _searched(
    engine: Engine, scope: Scope, recipe: Recipe, asked: Asked, course: Course
) -> tuple[list[Hit], bool]:
    """The hits, and whether there were more than asked for."""
    asked, trouble = await elsewhere.near(engine, scope, asked, recipe.pool)
    if trouble is not None:
        course.degraded.append(trouble)

    def work(tx: Tx) -> tuple[list[Hit], bool]:
        # Again, in the transaction that reads: it may have been switched off while the question was embedded.
        course.refusal = silence(tx, engine)
        if course.refusal is not None:
            return [], False
        found = search.candidates(tx, engine.shelves, recipe, asked)
        course.candidates = found.counts
        course.timings_ms |= found.legs_ms
        hits = search.hits(tx, found.ranked[: asked.limit])
        if _of_today(recipe, asked) and asked.query.filter == Filter() and not asks_for_history(asked.question.text):
            hits = replaced_since(tx, asked.question.text, hits, asked.now, engine.config.pepper)[: asked.limit]
        course.disputed = _disputed(tx, hits)
        return hits, len(found.ranked) > asked.limit

    return await engine.store.read(scope, work)


def _disputed(tx: Tx, hits: Sequence[Hit]) -> frozenset[frozenset[str]]:
    ids = [hit.memory.id for hit in hits if hit.memory is not None]
    flags = tx.links.flagged(ids) if len(ids) > 1 else ()
    return frozenset(frozenset((each.memory_id, each.other_id)) for each in flags)


def _latest_first(hits: list[Hit], recipe: Recipe, asked: Asked, course: Course) -> list[Hit]:
    """What is outdated steps behind what outdates it. The recipes of the contracts order by their formulas alone, and a question
    about a time that is over wants what was true then."""
    question = asked.question
    if not _of_today(recipe, asked):
        return hits
    return latest_first(question.text, hits, factual=question.kind == "factual", disputed=course.disputed)


def _of_today(recipe: Recipe, asked: Asked) -> bool:
    windows = asked.question.windows
    return not recipe.legs and not (windows and all(window.end <= asked.now for window in windows))


async def _caught_up(engine: Engine, scope: Scope) -> bool:
    """What was said a moment ago may answer in other words, once its embedding is there: worth a short wait, but only when
    nothing else answers. False when nothing was pending, or for so long that waiting would be a long wait: then everybody
    waits for the model, and those who ask must not push in line. The first question of a process has waited for the model to
    load, which is no line yet."""
    serving = await engine.generations.serving()
    if serving is None:
        return False
    backlog = await engine.store.read(scope, lambda tx: tx.embeddings.backlog(serving.id))
    first, engine.debts.answered = not engine.debts.answered, True
    if first and not backlog.pending:  # it may have come while the question was looked up
        return True
    behind = not first and backlog.oldest is not None and engine.clock.now() - backlog.oldest > A_MOMENT
    if behind or not 0 < backlog.pending <= WORTH_WAITING_FOR:
        return False
    with suppress(Unavailable):
        await flush(engine, scope, PATIENCE_WHEN_COLD if first else PATIENCE_SECONDS)
    return True


def checked(query: Query, recipe: Recipe, now: datetime) -> Query:
    if not isinstance(query.text, str) or not query.text.strip():
        raise InvalidInput("the query must be text and not empty")
    if query.min_relevance is not None:
        checked_fraction(query.min_relevance, "min_relevance")
    kinds = tuple(kind for kind in query.filter.kinds if kind in recipe.kinds)
    if not kinds:
        raise InvalidInput(f"the recipe {recipe.name!r} covers {', '.join(recipe.kinds)} only")
    return replace(
        query,
        text=_clean(query.text),
        now=query.now or now,
        filter=replace(query.filter, kinds=kinds),
        history=tuple(_clean(turn) for turn in query.history[-MOST_HISTORY:]),
    )


def _clean(text: str) -> str:
    """Text that every model and index takes, no longer than is worth reading."""
    return text.encode("utf-8", "replace").decode().replace("\x00", " ")[:MAX_QUERY_CHARS]


async def _asked(engine: Engine, scope: Scope, query: Query, limit: int, course: Course) -> Asked:
    """Read the question in the light of who speaks in this memory, and embed what it means."""
    embedder: Embedder | None = None
    model = ""
    try:
        serving = await engine.generations.serving()
        embedder = await engine.generations.embedder(serving) if serving else None
        model = serving.model if serving else ""
        course.generation = serving.id if serving and embedder else None
    except RecollectError:
        course.degraded.append("dense")
    speakers = await _speakers(engine, scope, course.generation)
    question = understood(query.text, query.history, query.now, speakers)
    question = half_typed(question) if query.typing else question
    vectors: Sequence[Vector] = ()
    if embedder is not None:
        try:
            vectors = list(await embedded(embedder, question.texts, query=True))
        except RecollectError:
            course.degraded.append("dense")
    return Asked(query, limit, question, vectors, course.generation, scale_of(model), bridge_of(model))


async def _speakers(engine: Engine, scope: Scope, generation: str | None) -> Sequence[str]:
    """The names people go by in this scope: from the copy at hand, which is read first if there is none yet."""
    copy = engine.shelves.of(scope)
    if not copy.revision:

        def load(tx: Tx) -> None:
            with copy.lock:
                copy.refresh(tx, generation, engine.shelves.most_entries)

        await engine.store.read(scope, load)
    return copy.shelf.speakers


def within_budget(hits: list[Hit], more: bool, recipe: Recipe, query: Query, course: Course) -> Recall:
    budget = recipe.token_budget if query.token_budget is None else query.token_budget
    tokens, cut = 0, False
    if budget is not None:
        kept, cut = fitted([hit.content for hit in hits], budget)
        tokens = sum(size for _, size in kept)
        hits = [_shown(hit, *each) for hit, each in zip(hits, kept, strict=False)]
    course.lap("total", course.started)
    trace = Trace(
        recipe=course.recipe,
        generation=course.generation,
        candidates=course.candidates,
        timings_ms=course.timings_ms,
        degraded=tuple(course.degraded),
        token_count=tokens,
        truncated=cut or more,
    )
    return Recall(hits=tuple(hits), trace=trace)


def _shown(hit: Hit, text: str, tokens: int) -> Hit:
    """The hit with as much of its text as the budget left room for."""
    if text == hit.content:
        return replace(hit, tokens=tokens)
    if hit.memory is not None:
        return replace(hit, memory=replace(hit.memory, content=text), truncated=True, tokens=tokens)
    assert hit.message is not None
    return replace(hit, message=replace(hit.message, content=text), truncated=True, tokens=tokens)
