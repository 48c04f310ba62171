"""From the engine's events to the wire's: pure functions."""

from __future__ import annotations

from typing import Any

from recollect.doors.chat import wire
from recollect.errors import Broken, Unavailable
from recollect.model import Usage
from recollect.model.talk import Cited, Done, Event, Failed, Remembered, Reply, Said, Started
from recollect.policy.grounding import source_of


def wants_events(sent: wire.ChatIn, accept: str) -> bool:
    return sent.stream or "text/event-stream" in accept.lower()


def event_out(event: Event) -> tuple[str, dict[str, Any]]:
    """The name of an event, and what it says as JSON."""
    match event:
        case Started():
            return "start", {
                "session_id": event.session_id,
                "message_id": event.message_id,
                "kept": event.reason is None,
                "reason": event.reason,
                "masked": list(event.masked),
                "warnings": list(event.warnings),
            }
        case Remembered():
            return "memory", {
                "memories": [used_out(each, ()).model_dump(mode="json") for each in event.used],
                "token_count": event.token_count,
                "truncated": event.truncated,
                "degraded": list(event.degraded),
                "rate_limited": event.rate_limited,
                "error": event.error,
            }
        case Said():
            return "delta", {"text": event.text}
        case Failed():
            return "error", {"code": event.code, "message": event.message}
        case Done():
            return "done", {
                "message_id": event.message_id,
                "partial": event.partial,
                "finish": event.finish,
                "model": event.model,
                "command": event.command,
                "cited": list(event.cited),
                "usage": usage_out(event.usage, event.counted).model_dump(),
            }


def reply_out(reply: Reply) -> wire.ChatOut:
    """A turn that came to nothing is an error; one that broke off is a reply that says so."""
    started, remembered, done, failed = reply.started, reply.remembered, reply.done, reply.failed
    if done is None:
        why = failed.message if failed else "the turn ended without a reply"
        kind = Broken if failed and failed.code == Broken.code else Unavailable
        raise kind(why, session_id=started.session_id, message_id=started.message_id)
    return wire.ChatOut(
        session_id=started.session_id,
        message_id=started.message_id,
        reply_id=done.message_id,
        reply=reply.text,
        kept=started.reason is None,
        reason=started.reason,
        partial=done.partial,
        finish=done.finish,
        model=done.model,
        command=done.command,
        memories=[used_out(each, done.cited) for each in remembered.used],
        token_count=remembered.token_count,
        degraded=list(remembered.degraded),
        rate_limited=remembered.rate_limited,
        memory_error=remembered.error,
        masked=list(started.masked),
        warnings=list(started.warnings),
        usage=usage_out(done.usage, done.counted),
        error=wire.ErrorOut(code=failed.code, message=failed.message) if failed else None,
    )


def used_out(used: Cited, cited: tuple[str, ...]) -> wire.UsedOut:
    return wire.UsedOut(
        reference=used.reference,
        kind=used.kind,
        id=used.id,
        content=used.content,
        source=source_of(used),
        said_by=used.role or used.said_by,
        type=used.type,
        session_id=used.session_id,
        message_id=used.message_id,
        created_at=used.at,
        relevance=used.relevance,
        cited=used.reference in cited,
        suspicious=used.suspicious,
        truncated=used.truncated,
        earlier=[
            wire.EarlierOut(content=old.content, created_at=old.at, disputed=old.disputed) for old in used.earlier
        ],
    )


def usage_out(usage: Usage | None, counted: str) -> wire.UsageOut:
    counts = usage or Usage(0, 0)
    return wire.UsageOut(
        prompt_tokens=counts.prompt,
        completion_tokens=counts.completion,
        counted_by="model" if counted == "model" else "here",
    )
