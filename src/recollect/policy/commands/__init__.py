"""What a person orders their memory to do, in their own words, English or Chinese: read off one message, by rules.

A message is a command only if nothing is left of it once the order is read: "forget that" is one, "forget that, what's the
capital of Peru?" is a message for the assistant. So talk about remembering, idioms ("forget it") and orders that concern
something else stay what they are. Where in doubt it is no command: a command that was missed can be said again, one that was
imagined may have deleted something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from recollect.policy.commands import chinese as commands_chinese
from recollect.policy.commands import english as commands_english
from recollect.policy.followup.leaning import HAN

Kind = Literal[
    "ask",
    "forget",
    "pin",
    "unpin",
    "remember",
    "memory_off",
    "memory_on",
    "incognito_start",
    "incognito_end",
    "why",
    "undo",
]
KINDS: tuple[Kind, ...] = (
    "undo",
    "why",
    "incognito_start",
    "incognito_end",
    "memory_off",
    "memory_on",
    "unpin",
    "pin",
    "forget",
    "ask",
    "remember",
)
"""In the order they are tried: what is said in fixed words before what holds somebody's own."""

LONGEST = 400
"""Characters. Nobody orders anything at greater length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`about`: what it concerns, in the speaker's words; without it, what was used or stored last."""

    kind: Kind
    about: str | None = None
    numbers: tuple[int, ...] = ()
    """Which of the things that were listed before."""
    everything: bool = False
    chinese: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to a question such as "shall I forget these?"."""

    agrees: bool
    numbers: tuple[int, ...] = ()


def command_in(text: str) -> Command | None:
    """The command a message is, or None where it is anything else."""
    if len(text) > LONGEST:
        return None
    said = _plain(text)
    chinese = HAN.search(said) is not None
    grammar = commands_chinese if chinese else commands_english
    # What stands around an order goes first: "…, would you?" at its end doesn't go on to something else.
    bare = grammar.SUFFIX.sub("", grammar.PREFIX.sub("", said, count=1))
    if grammar.ASIDE.search(bare) is not None:
        return None
    # "Remember that scene?" asks; "can you remember that I don't eat meat?" asks for it to be kept.
    asks = text.rstrip().endswith(("?", "？")) and not grammar.POLITELY.match(said)
    for kind in KINDS:
        if asks and kind == "remember":
            continue
        for pattern in grammar.PATTERNS[kind]:
            match = pattern.fullmatch(bare)
            if match is not None:
                return _command(kind, match, chinese)
    return None


def answer_in(text: str) -> Answer | None:
    """Yes, no, or which ones; None where it is no answer to such a question."""
    if len(text) > LONGEST:
        return None
    said = _plain(text).casefold()
    for grammar in (commands_english, commands_chinese):
        bare = grammar.SUFFIX.sub("", said)
        if grammar.YES.fullmatch(bare):
            return Answer(True)
        if grammar.NO.fullmatch(bare):
            return Answer(False)
        match = grammar.SOME.fullmatch(bare)
        if match is not None:
            return Answer(True, _numbers(match["n"]))
    return None


def _command(kind: Kind, match: re.Match[str], chinese: bool) -> Command | None:
    groups = match.groupdict()
    about = (groups.get("about") or "").strip(" ,.:;!?'\"“”「」，。：；！？")
    if about and is_everything(about):
        about = ""
        groups["all"] = groups.get("all") or "all"
    return Command(
        kind=kind,
        about=about or None,
        numbers=_numbers(groups.get("n") or ""),
        everything=bool(groups.get("all")),
        chinese=chinese,
    )


def is_everything(about: str) -> bool:
    """Whether it means the whole memory: oneself is what all of it is about."""
    return about.casefold() in {"me", "myself", "us", "我", "我的", "我自己", "我们", "我们的"}


def _numbers(text: str) -> tuple[int, ...]:
    words = commands_english.ORDINALS | commands_chinese.ORDINALS
    found: Iterable[str] = re.findall(r"\d{1,3}|[a-z]+|[一二三四五六七八九十]", text.casefold())
    read = (words[each] if each in words else int(each) if each.isdigit() else 0 for each in found)
    return tuple(dict.fromkeys(number for number in read if number))


def _plain(text: str) -> str:
    """One line in plain letters and signs, without what stands around an order: "Hey, …, please!"."""
    flat = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").split())
    return flat.strip(" \t.!?。！？~～…,，")
