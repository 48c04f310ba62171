"""A soft limit on questions: beyond it nobody gets an error, only an earlier answer or none, and is told so.

So many recalls a minute and user, over all their spaces, counted in the cache. Within the limit a recall goes its usual way, and
what it found is noted: ids, times and scores, under a digest of the scope and the question. Beyond it that note is read, and
every record anew from the store: what was forgotten, changed, outdated or filtered out since doesn't come back. Where memory is
off or the session is incognito nothing is counted and nothing is noted. A cache that can't be reached limits nobody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from recollect.engine.boundary import silence
from recollect.engine.recalling import recall
from recollect.model import KINDS, Entry, Hit, Query, Recall, Refusal, Scope, Target
from recollect.policy.digest import twin_digest
from recollect.policy.recipes import Recipe, recipe_named
from recollect.ports import Cache, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

WINDOW_SECONDS = 60
KEPT_SECONDS = 600
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Noted:
    """One hit, as it is kept: enough to find it again, and to see whether it is still what it was."""

    target: Target
    version: str
    relevance: float
    score: float
    signals: dict[str, float]


async def recall_softly(engine: Engine, scope: Scope, query: Query) -> Recall:
    cache, limit = engine.cache, engine.config.rate_limit
    if cache is None or limit < 1:
        return await recall.recall(engine, scope, query)
    recipe = engine.config.applied(recipe_named(query.recipe))
    asked = recall.checked(query, recipe, engine.clock.now())
    refusal = await engine.store.read(scope, lambda tx: silence(tx, engine))
    if refusal is not None:
        return _nothing(refusal, recipe, asked)
    name = answer_name(scope, replace(asked, now=query.now), engine.config.pepper)
    if await cache.add(counter_name(scope), WINDOW_SECONDS) > limit:
        return await _recalled_before(engine, cache, scope, recipe, asked, name)
    found = await recall.recall(engine, scope, query)
    if not found.trace.degraded:
        await cache.set(name, _packed(found), KEPT_SECONDS)
    return found


def counter_name(scope: Scope) -> str:
    """`rate_limit:{user}`, with the tenant before the user where it isn't the one tenant that most have."""
    owner = (scope.user,) if scope.tenant == DEFAULT_TENANT else (scope.tenant, scope.user)
    return ":".join(("rate_limit", *(quote(each, safe="") for each in owner)))


def answer_name(scope: Scope, query: Query, pepper: bytes) -> str:
    return f"recall:{twin_digest(scope, repr(query), pepper)}"


def _nothing(refusal: Refusal, recipe: Recipe, query: Query) -> Recall:
    course = recall.Course(recipe.name, degraded=[refusal])
    return recall.within_budget([], False, recipe, query, course)


async def _recalled_before(
    engine: Engine, cache: Cache, scope: Scope, recipe: Recipe, query: Query, name: str
) -> Recall:
    """What the same question found when it was last asked within the limit, as far as that still holds."""
    course = recall.Course(recipe.name)
    noted, more = _unpacked(await cache.get(name))

    def work(tx: Tx) -> list[Hit] | Refusal:
        return silence(tx, engine) or _still_there(tx, noted, query)

    hits = await engine.store.read(scope, work) if noted else []
    if isinstance(hits, str):
        return _nothing(hits, recipe, query)
    answer = recall.within_budget(hits, more, recipe, query, course)
    answer = replace(answer, trace=replace(answer.trace, rate_limited=True))
    recall.note(engine, scope, query, answer)
    return answer


def _still_there(tx: Tx, noted: list[Noted], query: Query) -> list[Hit]:
    """Only what the index still knows can be recalled at all; it also knows what filters ask for."""
    entries = tx.index.entries(each.target for each in noted)
    kept = [each for each in noted if each.target in entries and _matches(entries[each.target], query)]
    memories = tx.memories.get(each.target.id for each in kept if each.target.kind == "memory")
    messages = tx.conversations.messages(each.target.id for each in kept if each.target.kind == "message")
    hits = []
    for each in kept:
        known = memories if each.target.kind == "memory" else messages
        if each.target.id in known:
            hit = Hit(
                memory=memories.get(each.target.id) if known is memories else None,
                message=messages.get(each.target.id) if known is messages else None,
                relevance=each.relevance,
                score=each.score,
                signals=each.signals,
            )
            hits += [hit] if _version(hit) == each.version else []
    return hits


def _matches(entry: Entry, query: Query) -> bool:
    filter, now = query.filter, query.now
    assert now is not None
    return (
        (entry.expires_at is None or entry.expires_at > now)
        and entry.target.kind in filter.kinds
        and (not filter.types or entry.type in filter.types)
        and (not filter.tags or not set(filter.tags).isdisjoint(entry.tags))
        and (not filter.themes or entry.theme in filter.themes)
        and (not filter.sessions or entry.session_id in filter.sessions)
        and (filter.since is None or entry.created_at >= filter.since)
        and (filter.until is None or entry.created_at < filter.until)
    )


def _version(hit: Hit) -> str:
    """Another after every change of the record; a message never changes."""
    return hit.memory.updated_at.isoformat() if hit.memory is not None else ""


def _packed(found: Recall) -> bytes:
    hits = [
        [hit.target.kind, hit.target.id, _version(hit), hit.relevance, hit.score, dict(hit.signals)]
        for hit in found.hits
    ]
    return json.dumps({"more": found.trace.truncated, "hits": hits}).encode()


def _unpacked(kept: bytes | None) -> tuple[list[Noted], bool]:
    """What was noted, and whether there was more. A note that can't be read is none."""
    try:
        note: Any = json.loads(kept) if kept is not None else {"more": False, "hits": []}
        noted = [
            Noted(
                Target(KINDS[KINDS.index(kind)], str(id)), str(version), float(relevance), float(score), dict(signals)
            )
            for kind, id, version, relevance, score, signals in note["hits"]
        ]
        return noted, bool(note["more"])
    except (ValueError, TypeError, KeyError):
        return [], False
