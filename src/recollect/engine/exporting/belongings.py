"""The lines of a move that an export for its owner does not have: what a scope is, beside what it remembers.

They belong to the operator: digests of what was forgotten and of sessions that were declared incognito, the switches of the
space, sessions under way, and vectors, so that nothing has to be embedded again where the same model serves.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recollect.engine.exporting.lines import MOST_BYTES, MOST_NAMES, Check, Kinds, Line
from recollect.engine.remembering.drafts import checked_switch, checked_time
from recollect.errors import InvalidInput
from recollect.model import Declaration, SpaceSettings, Target, Tombstone, WorkingMemory, checked_id
from recollect.policy.guard import checked_count, checked_label, checked_text, checked_value
from recollect.ports import Vector

DIGEST_CHARS = 64
EMOTION_CHARS = 64
MOST = 2**31 - 1
_HALF = "<f2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A vector as it was made: of which content, in which generation."""

    of: str
    id: str
    generation: str
    content_hash: str
    data: Vector

    @property
    def target(self) -> Target:
        return Target("message" if self.of == "message" else "memory", self.id)


def vector_line(target: Target, generation: str, content_hash: str, vector: Vector) -> Line:
    data = base64.b64encode(np.asarray(vector, dtype=_HALF).tobytes()).decode()
    named = {"kind": "vector", "of": target.kind, "id": target.id}
    return {**named, "generation": generation, "content_hash": content_hash, "data": data}


def _vector(value: Any, what: str) -> Vector:
    try:
        found = np.frombuffer(base64.b64decode(value, validate=True), dtype=_HALF).astype(np.float32)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidInput(f"{what} must be half-precision numbers in base64") from None
    if not np.isfinite(found).all():
        raise InvalidInput(f"{what} holds something that is no number")
    return found


def _digest(value: Any, what: str) -> str:
    if len(text := checked_id(value, what)) > DIGEST_CHARS:
        raise InvalidInput(f"{what} has more than {DIGEST_CHARS} characters")
    return text


def _labels(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST_NAMES:
        raise InvalidInput(f"{what} must be a list of at most {MOST_NAMES:,} texts")
    return tuple(checked_label(each, f"each of {what}") for each in value)


def _variables(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object")
    checked: Mapping[str, Any] = checked_value(dict(value), MOST_BYTES)
    return checked


def _count(value: Any, what: str) -> int:
    return checked_count(value, what, 0, MOST)


def _prose(value: Any, what: str) -> str:
    return checked_text(f".{value}" if isinstance(value, str) else value, what, MOST_BYTES)[1:]


def _emotion(value: Any, what: str) -> str:
    if len(text := checked_label(value, what)) > EMOTION_CHARS:
        raise InvalidInput(f"{what} has more than {EMOTION_CHARS} characters")
    return text


_SETTINGS: dict[str, Check] = {
    "memory_enabled": checked_switch,
    "incognito_default": checked_switch,
    "soft_cap": _count,
    "shared_tags": _labels,
    "retention_days": _count,
}
_WORKING: dict[str, Check] = {
    "session_id": checked_id,
    "current_topic": _prose,
    "context_variables": _variables,
    "turn_count": _count,
    "last_emotion": _emotion,
    "created_at": checked_time,
    "updated_at": checked_time,
}
_MADE: dict[str, Check] = {
    "of": checked_id,
    "id": checked_id,
    "generation": checked_id,
    "content_hash": _digest,
    "data": _vector,
}
BELONGINGS: Kinds = {
    "working": (WorkingMemory, _WORKING),
    "declaration": (
        Declaration,
        {"session": _digest, "incognito": checked_switch, "declared_at": checked_time},
    ),
    "tombstone": (Tombstone, {"digest": _digest, "created_at": checked_time, "expires_at": checked_time}),
    "settings": (SpaceSettings, _SETTINGS),
    "vector": (Made, _MADE),
}
