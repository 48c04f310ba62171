"""What a conversation is about: its phrases, each with what speaks for it as the thing a follow-up means.

English has no word classes to go by here, so a phrase is a run of words that are no function words, and a name is a
run of capitalised ones. Chinese words come with their class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from recollect.policy.followup.leaning import HAN, LEANS, leaning, tagged
from recollect.policy.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH

REACH = 12
"""How many turns back are read."""
LONGEST_TURN = 600
"""Characters read of each: what a turn is about, it says early."""

_TOKEN = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*|\"|[^\w\s]")
_SPEAKER = re.compile(r"^\s*[\w .]{1,30}[:：]\s+")
_QUESTION = re.compile(
    r"[?？]|什么|怎么|谁|哪|吗|呢|^\W*(?:who|whom|whose|what|when|where|which|why|how|did|do|does|is|are|was|were|has|have"
    r"|had|can|could|would|will|should|tell|describe)\b",
    re.IGNORECASE,
)
_POSSESSION = re.compile(r"['’]s?$")
_ZH_NAMES = frozenset({"nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"})
_LIGHT = frozenset(
    "tell know think happen happened happens interesting article aspects aspect called became become found find information"
    " describe anything important something anyone different since first also later new began begin started start took take"
    " many years year time used use using include included including well known due however although another two three see"
    " main there's what's that's it's dont don't didn't wasn't doesn't cannotanswer explain difference differences work"
    " works did done don won't can't good best famous people say said come came went go show able related long right".split()
)


@dataclass(slots=True)
class Phrase:
    """Where a phrase was said, counting turns back from the last (0), and what is known of it."""

    words: tuple[str, ...]
    text: str
    named: bool
    noun: bool = True
    back: int = 0
    order: int = 0
    """Its place within its turn: what is said first is mostly what the turn is about."""
    turns: set[int] = field(default_factory=set)
    in_question: bool = False
    asked_last: bool = False
    """Part of the latest question, of which an elliptic follow-up keeps all but one thing."""
    rooted: bool = False
    """Part of the latest question that stood alone: there the topic was opened."""
    opening: bool = False
    """Part of the first turn of the whole conversation."""

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(word.casefold() for word in self.words)

    def take(self, other: Phrase) -> None:
        """Count a mention of `other` as one of this phrase."""
        if other.back < self.back:
            self.back, self.order = other.back, other.order
        self.turns |= other.turns
        self.named |= other.named
        self.in_question |= other.in_question
        self.asked_last |= other.asked_last
        self.rooted |= other.rooted
        self.opening |= other.opening


def phrases(history: Sequence[str]) -> list[Phrase]:
    """The phrases of the last turns, latest first, each wording once."""
    recent = [_SPEAKER.sub("", turn)[:LONGEST_TURN] for turn in reversed(history[-REACH:])]
    questions = [back for back, turn in enumerate(recent) if _QUESTION.search(turn)]
    root = next((back for back in questions if leaning(recent[back]).strength < LEANS), len(recent) - 1)
    found: dict[tuple[str, ...], Phrase] = {}
    for back, turn in enumerate(recent):
        for order, phrase in enumerate(_chinese(turn) if HAN.search(turn) else _english(turn)):
            phrase.back, phrase.order, phrase.turns = back, order, {back}
            phrase.in_question, phrase.asked_last = back in questions, back in questions[:1]
            phrase.rooted, phrase.opening = back == root, back == len(history) - 1
            kept = found.setdefault(phrase.key, phrase)
            if kept is not phrase:
                kept.take(phrase)
    return _whole(list(found.values()))


def _whole(found: Sequence[Phrase]) -> list[Phrase]:
    """A part of a name counts for the whole: "Libby" is a mention of "Scooter Libby"."""
    names: list[Phrase] = []
    kept: list[Phrase] = []
    for phrase in sorted(found, key=lambda phrase: -len(phrase.words)):
        longer = next((name for name in names if set(phrase.key) < set(name.key)), None) if phrase.named else None
        if longer is not None:
            longer.take(phrase)
            continue
        kept.append(phrase)
        if phrase.named:
            names.append(phrase)
    return kept


def _english(turn: str) -> Iterator[Phrase]:
    """Runs of words that carry a subject; a run ends where capitals begin or end."""
    run: list[str] = []
    sentence_start, run_start = True, True
    for token in [*_TOKEN.findall(turn), "."]:
        word = _POSSESSION.sub("", token)
        joins = _is_subject(word)
        if run and not (joins and word[0].isupper() == run[-1][0].isupper()):
            yield _english_phrase(run, run_start)
            run = []
        if joins:
            run_start = run_start if run else sentence_start
            run.append(word)
        sentence_start = token in {".", "!", "?", '"'}


def _is_subject(word: str) -> bool:
    folded = word.casefold()
    return len(folded) > 1 and word[0].isalnum() and folded not in ENGLISH and folded not in _LIGHT


def _english_phrase(run: Sequence[str], starts_sentence: bool) -> Phrase:
    named = run[0][0].isupper() and (len(run) > 1 or not starts_sentence)
    return Phrase(tuple(run), " ".join(run), named)


def _chinese(turn: str) -> Iterator[Phrase]:
    run: list[tuple[str, str]] = []
    for word, tag in [*tagged(turn), ("", "x")]:
        if _carries(word, tag):
            run.append((word, tag))
        elif run:
            yield _chinese_phrase(run)
            run = []


def _carries(word: str, tag: str) -> bool:
    if word in CHINESE_WORDS or CHINESE_CHARACTERS.issuperset(word):
        return False
    return tag[0] in "nijlsbtvamqg" or tag == "eng" or (tag == "x" and word.isalnum())


def _chinese_phrase(run: Sequence[tuple[str, str]]) -> Phrase:
    noun = any(tag[0] in "nij" or tag in {"eng", "x"} for _, tag in run)
    named = any(tag in _ZH_NAMES for _, tag in run)
    return Phrase(tuple(word for word, _ in run), "".join(word for word, _ in run), named, noun)
