"""What is counted of the data chat: how often memory helped, what it cost, how it grows, and whether tidying up succeeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
TOKENS = (0, 100, 250, 500, 1000, 2000, 4000)
LENGTHS = (1, 2, 3, 5, 10, 15, 25, 50)


class DataMetrics:
    """The memory hit rate is `hit` as a share of `hit` and `miss`."""

    def __init__(self, r: CollectorRegistry) -> None:
        self._questions = Counter(
            "recollect_datachat_questions",
            "Questions answered, by what memory gave: hit, miss, off.",
            ["memory"],
            registry=r,
        )
        self._retrieval = Histogram(
            "recollect_datachat_retrieval_seconds", "Time to read and search the memory.", registry=r, buckets=SECONDS
        )
        self._tokens = Histogram(
            "recollect_datachat_context_tokens", "Tokens of a question with its context.", registry=r, buckets=TOKENS
        )
        self._length = Histogram(
            "recollect_datachat_conversation_length", "Questions in a conversation.", registry=r, buckets=LENGTHS
        )
        self._truncated = Counter("recollect_datachat_truncations", "Contexts that were cut to the budget.", registry=r)
        self._degraded = Counter(
            "recollect_datachat_degraded", "Parts of the memory that could not be used.", ["part"], registry=r
        )
        self._failed = Counter("recollect_datachat_failures", "Questions the answerer failed on.", ["code"], registry=r)
        self._stored = Counter("recollect_datachat_stored_messages", "Messages stored.", registry=r)
        self._removed = Counter("recollect_datachat_removed_messages", "Messages deleted on request.", registry=r)
        self._cleanup = Counter(
            "recollect_datachat_cleanup", "Ended conversations, by what became of them.", ["outcome"], registry=r
        )
        for outcome in ("removed", "not_archived", "failed"):
            self._cleanup.labels(
                outcome
            )  # at nought: what appears with its first count has not increased, to Prometheus

    def heard(self, what: str, facts: Mapping[str, Any]) -> None:
        match what:
            case "data_asked":
                self._asked(facts)
            case "data_failed":
                self._failed.labels(facts["code"]).inc()
            case "data_erased":
                self._removed.inc(facts["messages"])
            case "data_cleanup":
                self._cleanup.labels(facts["outcome"]).inc(facts["count"])

    def _asked(self, facts: Mapping[str, Any]) -> None:
        self._questions.labels(facts["memory"]).inc()
        self._stored.inc(facts["stored"])
        for part in facts["degraded"]:
            self._degraded.labels(part).inc()
        if facts["memory"] != "off":
            self._retrieval.observe(facts["retrieval_s"])
            self._tokens.observe(facts["tokens"])
            self._length.observe(facts["length"])
            self._truncated.inc(facts["truncated"])
