"""Recollect: the memory of AI assistants. Remember what people say, find it in milliseconds, let them see and erase it.

>>> from recollect import Memory
>>> with Memory("memory://", user="ana") as memory:
...     receipt = memory.add("The standup is at 9:30")
...     memory.search("when is standup?").hits[0].memory.content
'The standup is at 9:30'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect._version import __version__
from recollect.errors import (
    Broken,
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    RateLimited,
    RecollectError,
    TooLarge,
    Unavailable,
    Unsupported,
)

if TYPE_CHECKING:
    from recollect.client import AsyncMemory
    from recollect.sync import Memory

__all__ = [
    "AsyncMemory",
    "Broken",
    "Conflict",
    "InvalidInput",
    "Memory",
    "NotAllowed",
    "NotFound",
    "RateLimited",
    "RecollectError",
    "TooLarge",
    "Unavailable",
    "Unsupported",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """The two clients are imported when first asked for: errors and version alone cost nothing."""
    if name == "Memory":
        from recollect.sync import Memory

        return Memory
    if name == "AsyncMemory":
        from recollect.client import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
