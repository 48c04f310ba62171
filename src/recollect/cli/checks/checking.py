"""What a check says: how it stands, what was found, and what to do about it. Names, counts and times only, never content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    detail: str
    fix: str | None = None


def well(name: str, detail: str) -> Check:
    return Check(name, "ok", detail)


def warning(name: str, detail: str, fix: str) -> Check:
    return Check(name, "warning", detail, fix)


def broken(name: str, detail: str, fix: str) -> Check:
    return Check(name, "broken", detail, fix)
