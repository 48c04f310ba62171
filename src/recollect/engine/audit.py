"""Audit facts: who did what to which id, when, for which request. Never content."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from recollect.model import AuditEvent, Occasion, Target
from recollect.policy.ids import new_id
from recollect.ports import Tx


def event(occasion: Occasion, at: datetime, action: str, target: Target | None = None, /, **facts: Any) -> AuditEvent:
    return AuditEvent(
        id=new_id(at),
        at=at,
        action=action,
        target_kind=target.kind if target else None,
        target_id=target.id if target else None,
        correlation_id=occasion.correlation_id,
        facts={"by": occasion.actor, **facts},
    )


def record(
    tx: Tx, occasion: Occasion, at: datetime, action: str, target: Target | None = None, /, **facts: Any
) -> None:
    tx.space.record(event(occasion, at, action, target, **facts))
