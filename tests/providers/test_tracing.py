"""Traces as Langfuse takes them: ids, counts and times, and content only where that is allowed."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from recollect.model import ContextUsed, DataAnswer, DataQuestion, DataReply, Occasion, Scope
from recollect.providers.tracing import LangfuseTracer
from tests.providers.loopback import Loopback

FACTS = {
    "memory": "hit",
    "history": 2,
    "similar": 1,
    "tokens": 245,
    "truncated": False,
    "retrieval_s": 0.01,
    "total_s": 1.5,
    "answered": True,
    "llm_tokens": {"input_tokens": 10},
}
QUESTION = DataQuestion(question="What does Bob earn?", augmented="…")
REPLY = DataReply(answer=DataAnswer(answer="71234"), used=ContextUsed())


async def traced(*, content: bool) -> tuple[dict[str, Any], Loopback]:
    with Loopback().running() as server:
        server.says((200, {}))
        tracer = LangfuseTracer(server.url + "/", "pk", "sk", content=content)
        tracer.asked(Scope("acme", "ana"), Occasion(correlation_id="c-1"), QUESTION, REPLY, FACTS)
        await tracer.close()
    (seen,) = server.seen
    assert seen.path == "/api/public/otel/v1/traces"
    assert seen.headers["Authorization"] == "Basic " + b64encode(b"pk:sk").decode()
    (span,) = seen.body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return span, server


async def test_a_question_is_a_span_of_ids_counts_and_times() -> None:
    span, _ = await traced(content=False)
    assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) == 1_500_000_000
    told = {each["key"]: each["value"] for each in span["attributes"]}
    assert told["user.id"] == {"stringValue": "ana"}
    assert told["langfuse.trace.metadata.tokens"] == {"intValue": "245"}
    assert told["langfuse.trace.metadata.truncated"] == {"boolValue": False}
    assert told["langfuse.trace.tags"] == {"arrayValue": {"values": [{"stringValue": "memory"}]}}
    assert "Bob" not in json.dumps(span)
    assert "71234" not in json.dumps(span)


async def test_content_goes_along_where_it_is_allowed() -> None:
    span, _ = await traced(content=True)
    told = {each["key"]: each["value"] for each in span["attributes"]}
    assert told["langfuse.observation.input"] == {"stringValue": "What does Bob earn?"}
    assert told["langfuse.observation.output"] == {"stringValue": "71234"}


async def test_a_watcher_that_is_away_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    tracer = LangfuseTracer("http://127.0.0.1:9", "pk", "sk")
    for _ in range(3):
        tracer.asked(Scope("acme", "ana"), Occasion(), QUESTION, REPLY, FACTS)
    await tracer.close()
    assert "traces could not be sent: ConnectError" in caplog.text
