"""Receipts that say no: for doors whose clients look at the status of an answer, a refusal is an error that names its reason."""

from __future__ import annotations

from recollect.errors import Conflict, NotAllowed
from recollect.model import Receipt

_REFUSED = {
    "memory_off": "memory is switched off in this space; nothing was stored",
    "incognito": "this session is incognito; nothing was stored",
    "read_only": "this memory is read-only; nothing was stored",
    "secret": "the text looks like it holds a secret; nothing was stored",
}


def taken(receipt: Receipt) -> str:
    """The id of what was stored. A refusal is 403 with its reason; what was forgotten not long ago is 409, and until when."""
    if receipt.id is not None and receipt.outcome != "refused":
        return receipt.id
    if receipt.reason == "tombstone" and receipt.until is not None:
        until = receipt.until.isoformat()
        raise Conflict(f"this was forgotten and is not taken back before {until}", reason="tombstone", until=until)
    if receipt.reason == "duplicate_id":
        raise Conflict("this id is in use; nothing was stored", reason="duplicate_id")
    reason = receipt.reason or "refused"
    raise NotAllowed(_REFUSED.get(reason, "nothing was stored"), reason=reason)
