"""What a server's refusal means, told without repeating anything private.

Servers like to quote: the key they did not accept, the text they found too long. So of a refusal's own
words only a short line is kept, and only if it shares nothing with the key or the texts that were sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from typing import Any

from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
_MOST = 160
_WINDOW = 10
_LONG = re.compile(
    r"too (long|large|many tokens)|context (length|size|window)|maximum (context|input|length)|input length"
    r"|exceeds? the|token limit|batch size|max_?(tokens|length)",
    re.IGNORECASE,
)


def said(body: bytes) -> str:
    """The server's own explanation as one line, however it wraps it; empty when there is none."""
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "detail", "message"):
        if isinstance(answer, dict) and name in answer:
            answer = answer[name]
    return " ".join(answer.split()) if isinstance(answer, str) else ""


def too_long(status: int, reason: str) -> bool:
    """Whether shortening the texts may help. llama.cpp calls this a server error, others a bad request."""
    return status in {400, 413, 422, 500} and (status == 413 or bool(_LONG.search(reason)))


def harmless(reason: str, private: Iterable[str]) -> str:
    """`reason` cut short, or nothing if any part of it could come from `private`."""
    line = reason[:_MOST]
    folded = line.casefold()
    windows = {folded[at : at + _WINDOW] for at in range(len(folded) - _WINDOW + 1)}
    for secret in private:
        hidden = " ".join(secret.split()).casefold()
        if hidden and (hidden in folded or any(window in hidden for window in windows)):
            return ""
    return line


def refused(status: int, reason: str, where: str) -> RecollectError:
    """The error for an answer that trying again would not change. `reason` must be harmless."""
    words = f": {reason}" if reason else ""
    if status in {401, 403}:
        return NotAllowed(f"{where} refused the credentials (HTTP {status}); check the embedder's API key", http=status)
    if status == 501:
        return Unavailable(f"{where} does not serve embeddings (HTTP 501){words}", http=status)
    if status >= 500:
        return Unavailable(f"{where} failed (HTTP {status}){words}", http=status)
    if status == 404:
        return InvalidInput(f"{where} knows no such model or path (HTTP 404){words}", http=status)
    if 300 <= status < 400:
        return InvalidInput(
            f"{where} redirects (HTTP {status}), which is not followed; configure the final URL", http=status
        )
    return InvalidInput(f"{where} refused the request (HTTP {status}){words}", http=status)


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds that a `Retry-After` header asks for, from either of its two forms."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError):
        return None
