"""Follow-ups: what a question means that leans on the running conversation ("and in May?", "那第二个呢？").

`expand` reads how far the question leans (`followup_leaning`), and only if it does, looks for what it leans on
(`followup_topics`): the phrases of the last turns, of which the likeliest are added to the words to search for and put
before the text to embed; `understood` makes a `Question` of that. A question that stands alone comes back as it is,
whatever was said before.

The weights of a phrase are those that human rewrites of follow-ups bear out in English: names first, then where the
topic was opened, what keeps being mentioned, what was said last, and in a turn what was said early.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.policy.followup.leaning import HAN, LEANS, Leaning, leaning
from recollect.policy.followup.topics import Phrase, phrases
from recollect.policy.question import Question, prepare
from recollect.policy.text import analyse, query_terms

MOST = 6
"""Phrases added at most."""

_ELLIPTIC = frozenset({"opening", "fragment", "pick", "bare"})
_ASKED_ANEW = frozenset({"opening", "fragment"})
_TIME = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:yesterday|today|tomorrow|tonight|weekend|week|month|year|spring|summer|autumn|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[\d一二三四五六七八九十]+[年月日号]|昨[天晚]|今[天晚年]|明[天年]|去年|前[天年]|[上下本这]个?(?:周|星期|月)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Expanded:
    """`text` is to be embedded; `terms` are to be searched for besides those of the question, likeliest first."""

    text: str
    terms: tuple[str, ...] = ()
    leaning: float = 0.0
    reason: str = ""


def expand(text: str, history: Sequence[str]) -> Expanded:
    """What `text` means after `history` (oldest first). Nothing is added to a question that stands alone."""
    cue = leaning(text)
    if cue.strength < LEANS or not history:
        return Expanded(text, leaning=cue.strength, reason=cue.reason)
    chosen = _chosen(text, cue, history)
    own = set(analyse(text))
    added = dict.fromkeys(term for phrase in chosen for term in query_terms(phrase.text) if term not in own)
    return Expanded(_told(text, chosen), tuple(added), cue.strength, cue.reason)


def understood(
    text: str, history: Sequence[str] = (), now: datetime | None = None, speakers: Iterable[str] = ()
) -> Question:
    """`prepare`, in the light of the conversation: what a follow-up leans on may be a speaker.

    What kind of question it is, whether of the assistant, and what it quotes shows in its own words alone.
    """
    names = tuple(speakers)
    asked = prepare(text, now, names)
    expanded = expand(text, history)
    if not expanded.terms:
        return asked
    full = prepare(expanded.text, now, names)
    return replace(
        full,
        text=text,
        kind=asked.kind,
        of_the_assistant=asked.of_the_assistant,
        phrases=asked.phrases,
        own_terms=asked.terms,
        subject=asked.subject,
    )


def _chosen(text: str, cue: Leaning, history: Sequence[str]) -> list[Phrase]:
    """The likeliest phrase, and others that are likely: the more so, the less the question says itself."""
    own = set(analyse(text))
    score = _chinese if HAN.search(text) else _english
    other_time = bool(_TIME.search(text))
    ranked = sorted(
        (-score(phrase, cue), phrase.back, phrase.order, number, phrase)
        for number, phrase in enumerate(phrases(history))
        if not own.issuperset(query_terms(phrase.text)) and not (other_time and _TIME.search(phrase.text))
    )
    bar = 1 - 3 * cue.strength
    likely = [phrase for value, *_, phrase in ranked[:MOST] if -value >= bar]
    return likely or [phrase for *_, phrase in ranked[:1]]


def _english(phrase: Phrase, cue: Leaning) -> float:
    recency = (0.6, -0.2, -0.2, -0.5, -0.5)[phrase.back] if phrase.back < 5 else -0.8
    carried = 1.5 * (cue.reason in _ELLIPTIC and phrase.asked_last) - 1.0 * _is_old_answer(phrase, cue)
    topic = 0.8 * phrase.rooted + 0.8 * phrase.opening + math.log(len(phrase.turns))
    return recency + carried + topic + 1.4 * phrase.named - 0.15 * min(phrase.order, 8) - 2.4


def _chinese(phrase: Phrase, cue: Leaning) -> float:
    carried = 1.0 * (cue.reason in _ELLIPTIC and phrase.asked_last) - 1.0 * _is_old_answer(phrase, cue)
    mentions = 2 * math.log(len(phrase.turns))
    place = -0.5 * min(phrase.order, 8) - 0.8 * (phrase.back == 0) - 0.3 * (len(phrase.words) - 1)
    return carried + 0.6 * phrase.in_question + mentions + place + 0.4 * phrase.named + 1.0 * phrase.noun - 0.6


def _is_old_answer(phrase: Phrase, cue: Leaning) -> bool:
    """ "And in May?" asks the last question anew, so what answered it for April is not wanted."""
    return cue.reason in _ASKED_ANEW and phrase.back == 0 and not phrase.in_question


def _told(text: str, chosen: Sequence[Phrase]) -> str:
    return f"{', '.join(phrase.text for phrase in chosen)}: {text}" if chosen else text
