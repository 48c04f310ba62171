"""Talking to a language model: what is said to it, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line of what a model is given."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the model's server counted them."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said, whole."""

    text: str
    usage: Usage | None = None
    """None when the server doesn't say."""
    finish: str = "stop"
    """`stop`, `length` when it was cut off, or whatever else the server calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of an answer on its way. The last one has `finish`; it may have no text."""

    text: str = ""
    usage: Usage | None = None
    finish: str | None = None
