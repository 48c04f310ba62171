"""Questions over data against the real server, few and small: what is counted, not how long it took."""

from __future__ import annotations

from bench import asking
from bench.load import Load


async def test_every_question_is_answered_with_memory_and_without() -> None:
    without, remembering, added = await asking.run(Load(users=2, seconds=2.0, rate=10.0, embedder="off"))
    assert [row["what"] for row in (without, remembering, added)] == ["without memory", "with memory", "added"]
    for row in (without, remembering):
        assert row["requests"] > 0, row
        assert (row["errors"], row["unanswered"]) == (0, 0), row
    assert without["retrieval_p95_ms"] is None
    assert remembering["retrieval_p95_ms"] > 0


def test_what_is_over_the_aim_is_told() -> None:
    rows = [{}, {"retrieval_p95_ms": 99.0}, {"server_p95_ms": 49.0}]
    assert asking.fell_short(rows) == []
    rows = [{}, {"retrieval_p95_ms": 101.0}, {"server_p95_ms": 50.0}]
    assert len(asking.fell_short(rows)) == 2
