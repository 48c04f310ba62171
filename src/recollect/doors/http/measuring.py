"""What is counted, for Prometheus: requests and their time, recalls and what they found, writes and what became of them, turns of
chats, and what upkeep did.

Labels are route templates, methods, statuses and outcomes: never a path, a user or a word of content. With several server
processes each writes its counts to a shared folder, and whichever is asked adds them up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from recollect.doors.http.measuring_data import DataMetrics
from recollect.doors.http.measuring_work import WorkMetrics
from recollect.model import Backlog

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
HITS = (0, 1, 2, 5, 10, 20, 50, 100)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._registry = r = CollectorRegistry()
        self._requests = Counter("recollect_requests", "Requests answered.", ["method", "route", "status"], registry=r)
        self._seconds = Histogram(
            "recollect_request_seconds", "Time to answer.", ["method", "route"], registry=r, buckets=SECONDS
        )
        self._recalls = Histogram("recollect_recall_seconds", "Time to recall.", registry=r, buckets=SECONDS)
        self._hits = Histogram("recollect_recall_hits", "Hits of a recall.", registry=r, buckets=HITS)
        self._writes = Counter("recollect_writes", "Memories written, by outcome.", ["outcome"], registry=r)
        self._refusals = Counter("recollect_refusals", "What was refused, by reason.", ["reason"], registry=r)
        self._saved = Counter(
            "recollect_dedupe_saves", "Memories that were known already and not stored twice.", registry=r
        )
        self._chats = Counter("recollect_chats", "Turns of chats: whole, partial, failed.", ["outcome"], registry=r)
        self._upkeep = Counter("recollect_upkeep", "What upkeep did, by action.", ["action"], registry=r)
        self._unkept = Counter(
            "recollect_upkeep_failures", "Spaces that could not be looked after, each time.", registry=r
        )
        self._trims = Counter("recollect_trims", "Memories archived to keep a space within its bounds.", registry=r)
        self._guarded = Counter(
            "recollect_trims_guarded", "Pinned or saved memories that would have been trimmed; none was.", registry=r
        )
        self._data = DataMetrics(r)
        self._work = WorkMetrics(r)
        self._limited = Counter(
            "recollect_rate_limited", "Soft: answered with less. Hard: answered with 429.", ["limit"], registry=r
        )
        self._backlog = Gauge(
            "recollect_embedding_backlog",
            "Texts that wait for an embedding, or failed to get one.",
            ["state"],
            registry=r,
            multiprocess_mode="mostrecent",
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        method = method if method in METHODS else "OTHER"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)
        if status in (401, 403, 408, 413, 415):
            self._refusals.labels(str(status)).inc()
        elif status == 429:
            self._limited.labels("hard").inc()

    def heard(self, what: str, facts: Mapping[str, Any]) -> None:
        """What the engine tells of its verbs, as they end."""
        self._work.heard(what, facts)
        match what:
            case "recalled":
                self._recalls.observe(facts["ms"] / 1000)
                self._hits.observe(facts["hits"])
            case "rate_limited":
                self._limited.labels("soft").inc()
            case "wrote":
                self._writes.labels(facts["outcome"]).inc()
                self._saved.inc(facts["outcome"] == "merged")
                if facts["reason"]:
                    self._refusals.labels(facts["reason"]).inc()

            case "chatted":
                self._chats.labels("failed" if facts["failed"] else "partial" if facts["partial"] else "whole").inc()
            case "upkeep":
                self._upkeep.labels(facts["action"]).inc(facts["count"])
                self._trims.inc(facts["count"] if facts["action"] == "archive" else 0)
            case "upkeep_failed":
                self._unkept.inc(facts["count"])
            case "trim_guarded":
                self._guarded.inc(facts["count"])
            case _:
                self._data.heard(what, facts)

    def waits(self, backlog: Backlog, due: datetime | None = None) -> None:
        for state, count in (("pending", backlog.pending), ("error", backlog.error)):
            self._backlog.labels(state).set(count)
        self._work.waits(backlog, due)

    def owes(self, since: datetime | None) -> None:
        """Since when something removed waits to leave the files."""
        self._work.owes(since)

    def text(self) -> bytes:
        return generate_latest(self._everyone())

    def samples(self) -> Iterator[tuple[str, Mapping[str, str], float]]:
        for family in self._everyone().collect():
            yield from ((each.name, each.labels, each.value) for each in family.samples)

    def _everyone(self) -> CollectorRegistry:
        """The counts of all server processes."""
        if self._shared is None:
            return self._registry
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone, path=str(self._shared))  # type: ignore[no-untyped-call]
        return everyone
