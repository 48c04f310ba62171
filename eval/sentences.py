"""Sentence pairs of our own, written before any rule was tried on them: what was told anew, and what was told beside.

    told        in words that speak of a change, as often as not
    restated    the same sentence with another value
    states      what shuts another out by its meaning: single, married

Lines are dealt out in turn to the half that may be looked at while rules are written and the half that is for reporting only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

HERE = Path(__file__).parent
How = Literal["told", "restated", "states"]


class Pair(NamedTuple):
    old: str
    new: str
    question: str = ""


def anew(held_out: bool, how: How = "told") -> Iterator[Pair]:
    """The second makes the first outdated."""
    return _half(f"{how}_anew.txt", held_out)


def beside(held_out: bool, how: How = "told") -> Iterator[Pair]:
    """Both are true."""
    return _half(f"{how}_beside.txt", held_out)


def _half(name: str, held_out: bool) -> Iterator[Pair]:
    told = (line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return (Pair(*line.split(" | ")) for number, line in enumerate(told) if bool(number % 2) == held_out)
