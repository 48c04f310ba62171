"""Questions over data as traces in Langfuse, sent as OTLP over HTTP to the address it takes them at.

A trace holds ids, counts and times. What was asked and answered goes along only where that is expressly allowed. It is sent in
the background, in batches, and given up when it can't be: watching never costs an answer, nor much memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import httpx

from recollect.model import DataQuestion, DataReply, Occasion, Scope

PATH = "/api/public/otel/v1/traces"
VERSION = {"x-langfuse-ingestion-version": "4"}
MOST_WAITING = 1000
AT_ONCE = 100
logger = logging.getLogger("recollect.tracing")


class LangfuseTracer:
    def __init__(
        self, host: str, public_key: str, secret_key: str, *, content: bool = False, timeout_s: float = 10.0
    ) -> None:
        self._url = host.rstrip("/") + PATH
        self._login = (public_key, secret_key)
        self._content, self._timeout = content, timeout_s
        self._waiting: deque[dict[str, Any]] = deque(maxlen=MOST_WAITING)
        self._sending: asyncio.Task[None] | None = None

    def asked(
        self, scope: Scope, occasion: Occasion, question: DataQuestion, reply: DataReply, facts: Mapping[str, Any]
    ) -> None:
        told = _attributes(scope, occasion, reply, facts)
        if self._content:
            told |= {
                "langfuse.observation.input": question.question,
                "langfuse.observation.output": reply.answer.answer,
            }
        self._waiting.append(_span(told, float(facts["total_s"])))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def close(self) -> None:
        if self._sending is not None and self._sending.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._sending], timeout=self._timeout)

    async def _send(self) -> None:
        try:
            async with httpx.AsyncClient(auth=self._login, headers=VERSION, timeout=self._timeout) as client:
                while self._waiting:
                    spans = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                    (await client.post(self._url, json=_request(spans))).raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            logger.warning("traces could not be sent: %s", type(problem).__name__)


def _attributes(scope: Scope, occasion: Occasion, reply: DataReply, facts: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "langfuse.trace.name": "memoryChat",
        "langfuse.trace.tags": ["memory" if facts["memory"] == "hit" else "no-memory"],
        "user.id": scope.user,
        "langfuse.trace.metadata.tenant": scope.tenant,
        "langfuse.trace.metadata.correlation_id": occasion.correlation_id or "",
        "langfuse.observation.usage_details": json.dumps(facts["llm_tokens"]),
    }
    if reply.talk is not None:
        told["session.id"] = reply.talk.conversation.id
    counted = ("memory", "history", "similar", "tokens", "truncated", "retrieval_s", "total_s", "answered")
    return told | {f"langfuse.trace.metadata.{name}": facts[name] for name in counted}


def _span(attributes: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    end = time.time_ns()
    return {
        "traceId": secrets.token_hex(16),
        "spanId": secrets.token_hex(8),
        "name": "memoryChat",
        "kind": 1,
        "startTimeUnixNano": str(end - round(seconds * 1e9)),
        "endTimeUnixNano": str(end),
        "attributes": [{"key": name, "value": _value(value)} for name, value in attributes.items()],
        "status": {},
    }


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)}


def _request(spans: list[dict[str, Any]]) -> dict[str, Any]:
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "recollect"}}]}
    return {"resourceSpans": [{"resource": service, "scopeSpans": [{"scope": {"name": "recollect"}, "spans": spans}]}]}
