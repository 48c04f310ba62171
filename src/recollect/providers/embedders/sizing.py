"""Cutting texts and batches to what a model takes.

Sizes are UTF-8 bytes. Bytes follow a model's cost better than characters do: an English token is about
four of them and a Chinese character, at one token or a little more, is three. So one limit serves both
languages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_STOPS = "\n.!?。！？; ；，, "
_BLANK = "."
"""Stands for a text without a visible character: some servers refuse a whole batch for an empty string."""


def sendable(text: str) -> str:
    """`text` without what breaks encoders: NULs, halves of surrogate pairs, nothing visible at all."""
    whole = text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8").strip()
    return whole or _BLANK


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def head(text: str, most: int) -> str:
    """The beginning of `text` in at most `most` bytes, ending where a sentence or at least a word ends."""
    if size(text) <= most:
        return text
    start = text.encode("utf-8")[:most].decode("utf-8", "ignore")
    end = max(start.rfind(stop) for stop in _STOPS)
    return start[: end + 1] if end > len(start) // 2 else start


def pieces(text: str, most: int, count: int) -> list[str]:
    """`text` as at most `count` consecutive pieces of at most `most` bytes; the rest is left out."""
    found: list[str] = []
    while text and len(found) < count:
        found.append(head(text, most))
        text = text[len(found[-1]) :]
    return found


def batches(texts: Sequence[str], most: int, most_bytes: int) -> Iterator[Sequence[str]]:
    """Consecutive runs of at most `most` texts and `most_bytes` bytes; a larger text is a run of its own."""
    start, weight = 0, 0
    for at, text in enumerate(texts):
        weight += size(text)
        if at > start and (at - start == most or weight > most_bytes):
            yield texts[start:at]
            start, weight = at, size(text)
    if start < len(texts):
        yield texts[start:]
