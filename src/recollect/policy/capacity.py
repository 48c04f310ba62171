"""The one planner of upkeep: which memories and conversations have to go, where to, and why, before anything is touched.

The rules, in the order in which they apply; what one of them takes is not counted by the next:

expire     what reached its own `expires_at` is removed; that date was set for this very memory, so pinned ones go too.
remove     what was archived long ago is removed for good, except what somebody asked to be kept.
archive    beyond the eviction threshold, where one is set: lowest confidence first, then what was used longest ago.
archive    beyond the space's cap, counting only what came in by itself: lowest score first. Scores are those of the last recall;
           where there are none, or only old ones, they are worked out anew from age and importance alone.

Archived is out of recall, but still there to see and to restore. No cap and no threshold touches what is pinned or was saved on
purpose: it is not even among the candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.model import Conversation, Memory, Plan, Scores, SpaceSettings, Status, Step
from recollect.policy.decay import TAU, age, exponential

STALE = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an administrator may set; what a person may set is in the settings of the space."""

    eviction_threshold: int | None = None
    archived_for: timedelta | None = timedelta(days=180)


def plan(
    memories: Iterable[Memory],
    settings: SpaceSettings,
    now: datetime,
    rules: Rules | None = None,
    *,
    tidy: bool = True,
) -> Plan:
    """Steps for `memories`: all of a space, or at least all that some rule could touch. Without `tidy` nothing is archived."""
    rules = rules or Rules()
    active: list[Memory] = []
    steps: list[Step] = []
    for memory in memories:
        if memory.expires_at is not None and memory.expires_at <= now:
            steps.append(_step("expire", memory, f"expired on {_day(memory.expires_at)}"))
        elif memory.status is Status.ACTIVE:
            active.append(memory)
        elif (why := _outlived(memory, now, rules.archived_for)) is not None:
            steps.append(_step("remove", memory, why))
    if not tidy:
        return Plan(steps=tuple(steps))
    evicted = _evicted(active, rules.eviction_threshold)
    gone = {step.id for step in evicted}
    trimmed, scores = _trimmed([memory for memory in active if memory.id not in gone], settings.soft_cap, now)
    return Plan(steps=(*steps, *evicted, *trimmed), scores=scores)


def conversations_over(
    conversations: Iterable[Conversation], settings: SpaceSettings, now: datetime
) -> tuple[Step, ...]:
    """Conversations that have reached their end, or that of their space's patience since the last turn."""
    steps = []
    for each in conversations:
        why = None
        if each.expires_at is not None and each.expires_at <= now:
            why = f"expired on {_day(each.expires_at)}; what was learnt from it stays"
        elif settings.retention_days and age(each.updated_at, now) >= timedelta(days=settings.retention_days):
            why = (
                f"last turn {age(each.updated_at, now).days} days ago; "
                f"conversations are kept here for {settings.retention_days}"
            )
        if why is not None:
            steps.append(Step(action="drop_conversation", id=each.id, why=why))
    return tuple(steps)


def leftovers(tombstones: int, sessions: int, idle: timedelta) -> tuple[Step, ...]:
    """What nobody would miss: tombstones past their time, and marks of sessions that were declared long ago."""
    steps = []
    if tombstones:
        why = "their time is over: what they kept out may be told again"
        steps.append(Step(action="drop_tombstones", count=tombstones, why=why))
    if sessions:
        why = f"declared incognito, or not, more than {idle.days} days ago"
        steps.append(Step(action="drop_sessions", count=sessions, why=why))
    return tuple(steps)


def current_scores(memory: Memory, now: datetime) -> Scores:
    """The scores of the last recall while they are fresh; otherwise those it has without a question."""
    known = memory.last_scores
    if known is not None and age(known.computed_at, now) <= STALE:
        return known
    recency = exponential(memory.created_at, now, TAU)
    total = recency + memory.importance
    return Scores(relevance=0.0, recency=recency, importance=memory.importance, total=total, computed_at=now)


def _trimmed(active: Sequence[Memory], cap: int, now: datetime) -> tuple[list[Step], dict[str, Scores]]:
    captured = [memory for memory in active if memory.captured]
    over = len(captured) - cap
    if not cap or over <= 0:
        return [], {}
    scores = {memory.id: current_scores(memory, now) for memory in captured}
    ranked = sorted(captured, key=lambda memory: (scores[memory.id].total, memory.created_at, memory.id))
    about = f"of {len(captured):,} that came in by themselves {over:,} are beyond the cap of {cap:,}"
    steps = [
        _step("archive", memory, f"{about}; this one is number {place:,} from below with {_worded(scores[memory.id])}")
        for place, memory in enumerate(ranked[:over], 1)
    ]
    fresh = {memory.id: scores[memory.id] for memory in captured if scores[memory.id] is not memory.last_scores}
    return steps, fresh


def _evicted(active: Sequence[Memory], threshold: int | None) -> list[Step]:
    over = len(active) - threshold if threshold else 0
    if over <= 0:
        return []
    candidates = [memory for memory in active if not memory.kept]
    candidates.sort(key=lambda memory: (memory.confidence, memory.last_accessed or memory.created_at, memory.id))
    about = f"{len(active):,} memories, {over:,} beyond the eviction threshold of {threshold:,}"
    return [
        _step(
            "archive",
            memory,
            f"{about}; confidence {memory.confidence:.2f}, last used {_day(memory.last_accessed or memory.created_at)}",
        )
        for memory in candidates[:over]
    ]


def _outlived(memory: Memory, now: datetime, archived_for: timedelta | None) -> str | None:
    if archived_for is None or memory.status is not Status.ARCHIVED or memory.kept:
        return None
    since = age(memory.updated_at, now)
    if since < archived_for:
        return None
    return f"archived {since.days} days ago; the archive keeps things for {archived_for.days}"


def _step(action: str, memory: Memory, why: str) -> Step:
    return Step(action=action, id=memory.id, why=why, seen=memory.updated_at)  # type: ignore[arg-type]


def _worded(scores: Scores) -> str:
    return (
        f"a score of {scores.total:.3f} (relevance {scores.relevance:.2f} + recency {scores.recency:.3f} "
        f"+ importance {scores.importance:.2f})"
    )


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d")
