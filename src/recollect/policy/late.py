"""Patterns that are compiled when they are first asked: there are hundreds, and what has just started needs few of them.

A table of rules built of these costs nothing to import. Once asked, they are as quick as any other: what was looked up stays.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._told = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._told), name)
        setattr(self, name, found)  # next time it is there before anybody asks here
        return found


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _Late(pattern, flags))
