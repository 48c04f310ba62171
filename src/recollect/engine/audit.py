"""Audit facts: who did what to which id, when. Never content."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from recollect.model import AuditEvent, Target
from recollect.policy.ids import new_id
from recollect.ports import Tx


def record(
    tx: Tx, at: datetime, action: str, target: Target | None = None, correlation_id: str | None = None, **facts: Any
) -> None:
    tx.space.record(
        AuditEvent(
            id=new_id(at),
            at=at,
            action=action,
            target_kind=target.kind if target else None,
            target_id=target.id if target else None,
            correlation_id=correlation_id,
            facts=facts,
        )
    )
