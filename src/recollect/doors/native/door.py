"""The native door, put together: memories, conversations, and what belongs to the caller."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.doors.native import account, conversations, memories

router = APIRouter(prefix="/v1")
for part in (memories, conversations, account):
    router.include_router(part.router)
