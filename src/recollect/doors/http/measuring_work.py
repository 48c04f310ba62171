"""What is counted of the work nobody waits for and of what makes answers quick: embeddings, caches, the legs of a recall, what
users do with their memory.

Counted in whichever process it happens: a server's counts are at its `/metrics`, a worker's at its own port.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from recollect.model import Backlog

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
WAITS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 21_600.0, 86_400.0)


class WorkMetrics:
    def __init__(self, r: CollectorRegistry) -> None:
        self._embeddings = Counter(
            "recollect_embeddings", "Texts embedded, to be tried again, or given up.", ["outcome"], registry=r
        )
        self._waits = Histogram(
            "recollect_embedding_wait_seconds", "From a text's writing to its vector.", registry=r, buckets=WAITS
        )
        self._age = Gauge(
            "recollect_embedding_backlog_age_seconds",
            "How long the oldest text that is still to be embedded has been waiting.",
            registry=r,
            multiprocess_mode="mostrecent",
        )
        self._owed = Gauge(
            "recollect_scrub_owed_seconds",
            "How long something that was removed has been waiting to leave the store's files; 0: nothing waits.",
            registry=r,
            multiprocess_mode="mostrecent",
        )
        self._recalled = Counter(
            "recollect_recalls", "Recalls that found something, or nothing.", ["result"], registry=r
        )
        self._degraded = Counter("recollect_recall_degraded", "Recalls without a part of theirs.", ["part"], registry=r)
        self._stages = Histogram(
            "recollect_recall_stage_seconds",
            "Time of each stage of a recall: embed, store with its legs lexical, dense and phrase, total.",
            ["stage"],
            registry=r,
            buckets=SECONDS,
        )
        self._turns = Counter(
            "recollect_chat_memory",
            "Turns of chats: with memory offered and cited, offered, without.",
            ["use"],
            registry=r,
        )
        self._caches = Counter("recollect_cache_lookups", "Looks into caches.", ["cache", "result"], registry=r)
        self._away = Gauge(
            "recollect_redis_away",
            "1 while the shared cache does not answer and nobody asks it.",
            registry=r,
            multiprocess_mode="mostrecent",
        )
        self._actions = Counter("recollect_user_actions", "What users did with their memory.", ["action"], registry=r)

    def heard(self, what: str, facts: Mapping[str, Any]) -> None:
        match what:
            case "embedded":
                self._embeddings.labels("ready").inc(facts["count"])
                for seconds in facts["seconds"]:
                    self._waits.observe(max(0.0, seconds))
            case "embedding_failed":
                self._embeddings.labels("given_up" if facts["for_good"] else "retry").inc(facts["count"])
            case "recalled":
                self._recall(facts)
            case "rate_limited":
                self._caches.labels("recall", "hit" if facts["hits"] else "miss").inc()
            case "chatted":
                self._turns.labels(
                    "cited" if facts.get("cited") else "offered" if facts.get("offered") else "none"
                ).inc()
            case "cache":
                self._caches.labels(facts["cache"], "hit").inc(facts["hits"])
                self._caches.labels(facts["cache"], "miss").inc(facts["misses"])
            case "shared_cache":
                self._away.set(not facts["answers"])
            case "acted":
                self._actions.labels(facts["action"]).inc(facts.get("count", 1))

    def waits(self, backlog: Backlog, due: datetime | None) -> None:
        """`due`: when the next work is, which is in the past where work waits. A text that was given up is the oldest for ever,
        and waits for nobody: beside such ones only what is overdue counts."""
        given_up = backlog.error > backlog.retrying
        oldest = due if given_up or not (backlog.pending or backlog.retrying) else backlog.oldest
        self._age.set(0.0 if oldest is None else max(0.0, time.time() - oldest.timestamp()))

    def owes(self, since: datetime | None) -> None:
        self._owed.set(0.0 if since is None else max(0.0, time.time() - since.timestamp()))

    def _recall(self, facts: Mapping[str, Any]) -> None:
        self._recalled.labels("hit" if facts["hits"] else "empty").inc()
        for part in facts.get("degraded", ()):
            self._degraded.labels(part).inc()
        for stage, ms in facts.get("stages", {}).items():
            self._stages.labels(stage).observe(ms / 1000)
