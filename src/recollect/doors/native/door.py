"""The native door, put together: memories and what ties them, conversations, and what belongs to the caller."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.doors.native import account, conversations, links, memories

router = APIRouter(prefix="/v1")
# Names that are fixed come before those that may be anything: /memories/conflicts before /memories/{id}.
for part in (links, memories, conversations, account):
    router.include_router(part.router)
