"""How the counts went: a look at all of them every minute, for a day.

Counters only ever grow while a server runs; what happened in a minute is the difference of two looks of the same run. The looks
of all runs are in the store, whichever server took them, so a restart doesn't begin anew and any server can be asked. Each keeps
its own in memory, too: what it lived through while the store was away is told by it. Who needs more than a day has Prometheus.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from math import ceil, inf
from sys import intern
from uuid import uuid4

from recollect.model import Look

EVERY_SECONDS = 60
KEPT = 24 * 60
MOST_POINTS = 120

COUNTS = {
    "recollect_requests_total": "requests",
    "recollect_writes_total": "writes",
    "recollect_dedupe_saves_total": "merged",
    "recollect_trims_total": "trimmed",
    "recollect_refusals_total": "refused",
    "recollect_recall_hits_count": "recalls",
    "recollect_cache_lookups_total": "lookups",
}
LEVELS = frozenset({"recollect_embedding_backlog", "recollect_embedding_backlog_age_seconds"})
TIMES = {
    "recollect_request_seconds_bucket": "request",
    "recollect_recall_seconds_bucket": "recall",
    "recollect_embedding_wait_seconds_bucket": "embed",
}
UP_TO = "<="
Sample = tuple[str, Mapping[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What happened in a while. A share or a time of nothing is None."""

    since: datetime
    at: datetime
    counts: Mapping[str, float]
    levels: Mapping[str, float]

    @property
    def seconds(self) -> float:
        return (self.at - self.since).total_seconds()

    def share(self, part: str, whole: str) -> float | None:
        return self.counts.get(part, 0.0) / self.counts[whole] if self.counts.get(whole) else None

    def quantile(self, name: str, share: float) -> float | None:
        """In milliseconds; between the edges of a histogram it is taken to be even."""
        edges = (each.partition(UP_TO) for each in self.counts if each.startswith(name + UP_TO))
        seconds = quantile({float(edge): self.counts[f"{name}{UP_TO}{edge}"] for _, _, edge in edges}, share)
        return None if seconds is None else round(seconds * 1000, 2)


class History:
    """The looks of this process. `run` is the name of the server it is part of, whose processes count together."""

    def __init__(self, run: str | None = None) -> None:
        self.run = run or uuid4().hex
        self.began: datetime | None = None
        self._looks: deque[Look] = deque(maxlen=KEPT + 1)

    def look(self, samples: Iterable[Sample], at: datetime) -> Look:
        look = looked(samples, at)
        return replace(look, run=self.run, began=self.began)

    def keep(self, look: Look) -> None:
        if not self._looks and not any(look.counts.values()):
            self.began = look.at
        self._looks.append(look)

    def points(self, now: Look, minutes: int, others: Iterable[Look] = ()) -> list[Point]:
        """The last minutes, oldest first, the one under way included; a long time in fewer, longer steps. `others`: what the
        store has, of this run and of others. What nobody looked at is left out."""
        step, start = step_of(minutes), start_of(now.at, minutes)
        steps: dict[int, list[tuple[Look, Look]]] = {}
        for one, two in _pairs([*others, *self._looks, now], start):
            steps.setdefault(_minute(one.at) // step, []).append((one, two))
        return [_point(pairs) for _, pairs in sorted(steps.items())]


def step_of(minutes: int) -> int:
    return ceil(minutes / MOST_POINTS)


def start_of(now: datetime, minutes: int) -> datetime:
    """Where the last `minutes` begin: at a step of the clock, where a look was taken."""
    step = step_of(minutes)
    return datetime.fromtimestamp((_minute(now) - minutes) // step * step * 60, UTC)


def _pairs(looks: Iterable[Look], start: datetime) -> Iterator[tuple[Look, Look]]:
    """Looks between which something may have happened since `start`, each with the one before it in its run."""
    known = {(look.run, look.at): look for look in looks}
    for _, run in groupby((known[key] for key in sorted(known)), key=lambda look: look.run):
        its = [look for look in run if look.at >= start]
        if its and its[0].began is not None and start <= its[0].began < its[0].at:
            its = [Look(run=its[0].run, at=its[0].began), *its]
        yield from pairwise(its)


def _point(pairs: list[tuple[Look, Look]]) -> Point:
    latest = max((two for _, two in pairs), key=lambda look: look.at)
    counts: dict[str, float] = {}
    for one, two in pairs:
        for name, value in two.counts.items():
            _add(counts, name, max(0.0, value - one.counts.get(name, 0.0)))
    return Point(since=min(one.at for one, _ in pairs), at=latest.at, counts=counts, levels=latest.levels)


def looked(samples: Iterable[Sample], at: datetime) -> Look:
    counts: dict[str, float] = {}
    levels: dict[str, float] = {}
    for name, labels, value in samples:
        if name in COUNTS:
            _add(counts, COUNTS[name], value)
            _add(counts, "errors", value if labels.get("status", "").startswith("5") else 0.0)
            _add(counts, "cached", value if labels.get("result") == "hit" else 0.0)
        elif name == "recollect_recalls_total":
            _add(counts, "found", value if labels["result"] == "hit" else 0.0)
        elif name in LEVELS:
            _add(levels, labels.get("state", "backlog_age"), value)
        elif name in TIMES:
            _add(counts, intern(f"{TIMES[name]}{UP_TO}{float(labels['le'])}"), value)
    return Look(run="", at=at, counts=counts, levels=levels)


def quantile(buckets: Mapping[float, float], share: float) -> float | None:
    """Of a histogram with counts up to each edge. What is beyond the last edge is said to be at it."""
    edges = sorted(buckets)
    total = buckets[edges[-1]] if edges else 0.0
    if total <= 0:
        return None
    wanted, low, below = share * total, 0.0, 0.0
    for edge in edges:
        if buckets[edge] >= wanted and buckets[edge] > below:
            return low if edge == inf else low + (edge - low) * (wanted - below) / (buckets[edge] - below)
        low, below = edge, buckets[edge]
    return low


def kept_since(now: datetime) -> datetime:
    """What is older is of no use to the longest look back."""
    return now - timedelta(minutes=KEPT + step_of(KEPT))


def _minute(at: datetime) -> int:
    return int(at.timestamp()) // 60


def _add(totals: dict[str, float], name: str, value: float) -> None:
    totals[name] = totals.get(name, 0.0) + value
