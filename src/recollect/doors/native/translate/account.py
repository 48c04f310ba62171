"""Settings, audit facts, exports and imports, from the wire to the engine and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from recollect.doors.native.wire import account as wire
from recollect.errors import InvalidInput
from recollect.model import AuditEvent, Health, ImportReceipt, Page, Scope, SpaceSettings
from recollect.model.access import Role

Lines = list[dict[str, Any]]
WriteMode = Literal["read_only", "explicit", "automatic"]
MOST_FINDINGS = 1000


def changes_of(sent: wire.SettingsPatch) -> dict[str, Any]:
    """Only what was sent. Null clears what may be unset (`retention_days`), and elsewhere says nothing."""
    changes = sent.model_dump(exclude_unset=True)
    return {name: value for name, value in changes.items() if value is not None or name == "retention_days"}


def me_out(scope: Scope, role: Role, spaces: Sequence[str], write_mode: WriteMode) -> wire.MeOut:
    return wire.MeOut(
        tenant=scope.tenant, user=scope.user, role=role, space=scope.space, spaces=list(spaces), write_mode=write_mode
    )


def health_out(report: Health) -> wire.HealthOut:
    findings = [wire.FindingOut.model_validate(each, from_attributes=True) for each in report.findings]
    return wire.HealthOut(
        space=report.scope.space, memories=report.memories, counts=report.counts, findings=findings[:MOST_FINDINGS]
    )


def settings_out(scope: Scope, settings: SpaceSettings) -> wire.SettingsOut:
    known = {name: getattr(settings, name) for name in wire.SettingsOut.model_fields if name != "space"}
    return wire.SettingsOut(space=scope.space, **known | {"shared_tags": list(settings.shared_tags)})


def audit_out(page: Page[AuditEvent]) -> wire.AuditPage:
    names = wire.AuditOut.model_fields
    items = [wire.AuditOut(**{name: getattr(event, name) for name in names}) for event in page]
    return wire.AuditPage(items=items, total=page.total, limit=page.limit, offset=page.offset)


def line_out(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def parts_of(body: bytes, scope: Scope, space: str | None) -> list[tuple[Scope, Lines]]:
    """The lines of an export, each part with the space it goes to.

    That is the one named by the caller, or else the one each part's own header names. Whose memory it was makes no
    difference: what is brought along becomes the caller's.
    """
    there = scope if space is None else scope.within(space)
    parts: list[tuple[Scope, Lines]] = []
    for number, text in enumerate(body.split(b"\n"), start=1):
        if not text.strip():
            continue
        line = _parsed(text, number)
        header = line.get("kind") == "header"
        if header and space is None and isinstance(line.get("space"), str):
            there = scope.within(line["space"])
        if header or not parts:
            parts.append((there, []))
        parts[-1][1].append(line)
    if not parts:
        raise InvalidInput("there is nothing to import: send the lines that an export gave")
    return parts


def import_out(receipts: Sequence[tuple[Scope, ImportReceipt]]) -> wire.ImportOut:
    counts = {each.name: sum(getattr(receipt, each.name) for _, receipt in receipts) for each in fields(ImportReceipt)}
    return wire.ImportOut(**counts, spaces=list(dict.fromkeys(scope.space for scope, _ in receipts)))


def _parsed(text: bytes, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(f"line {number}: not JSON") from None
    if not isinstance(line, dict):
        raise InvalidInput(f"line {number}: not an object")
    return line
