"""Ids that sort by time (UUID version 7): new rows land next to each other in every index."""

from __future__ import annotations

import os
from datetime import datetime
from uuid import UUID


def new_id(at: datetime) -> str:
    """48 bits of milliseconds, then 74 random bits."""
    milliseconds = int(at.timestamp() * 1000) & (1 << 48) - 1
    random = int.from_bytes(os.urandom(10), "big")
    high = milliseconds << 16 | 0x7000 | random >> 62 & 0xFFF
    low = 0b10 << 62 | random & (1 << 62) - 1
    return str(UUID(int=high << 64 | low))
