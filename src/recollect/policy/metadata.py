"""What a memory is about, read off its own words: entities, key phrases, tags, and how sure that is.

It runs for every memory that is written, so it is pure patterns and word classes, bounded in what it reads. The confidence is
the mean of the confidences of the detectors that found something, each by its best finding, from 0 to 1; where none did, 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.policy.followup.leaning import HAN, tagged
from recollect.policy.junk import is_small_talk
from recollect.policy.names import Entity, located
from recollect.policy.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH

MOST_ENTITIES = 16
MOST_PHRASES = 6
MOST_TAGS = 8
READ = 2000
"""Characters: what a text is about, it says early."""
SPARSE = 2
"""With fewer tags than this a memory is worth a look at its neighbours'."""

PHRASE_CONFIDENCE = {1: 0.4, 2: 0.55, 3: 0.6}
"""By the number of words: a single word may be anything, a run of them is seldom one by chance."""

TAGGED_KINDS = frozenset({"person", "place", "organisation", "name"})
"""Dates and addresses would be tags of one memory each, and an address is nobody's topic."""

_TOKEN = re.compile(r"[^\W\d_][\w'’-]*|\d[\w.,:-]*|[^\w\s]")
_LIGHT = frozenset(
    "also always anyone anything bit came come day days did didn't don't doing done doesn't can't won't isn't wasn't "
    "even every everyone "
    "everything feel feeling felt find first found get getting gets good great guess happy hope i'd i'll i'm i've "
    "it's keep know last "
    "let's lately less little long look looking love loved maybe mean met month months much need never new next nice "
    "nothing often one pretty "
    "put recently right said saw say see seen already since sometimes soon start started still stuff sure take taking "
    "talk tell that's thing "
    "things think thought time today tomorrow tonight took tried try trying two three use used using usually want "
    "wanted went week weeks well "
    "work working works wow year years yesterday you're prefer prefers like likes live lives moved".split()
)


@dataclass(frozen=True, slots=True)
class Metadata:
    entities: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float = 0.0
    kinds: tuple[str, ...] = ()
    """What each of the entities is: person, place, organisation, name, date, identifier, email."""

    def of_kind(self, *kinds: str) -> tuple[str, ...]:
        return tuple(text for text, kind in zip(self.entities, self.kinds, strict=True) if kind in kinds)


def described(text: str) -> Metadata:
    read = text[:READ]
    if is_small_talk(read):
        return Metadata()
    mentions = located(read)
    found = list({each.text.casefold(): each for _, _, each in reversed(mentions)}.values())[::-1][:MOST_ENTITIES]
    runs = _phrases(_between(read, mentions))
    best: dict[str, float] = {}
    for each in found:
        best[each.kind] = max(best.get(each.kind, 0.0), each.confidence)
    if runs:
        best["phrase"] = max(PHRASE_CONFIDENCE[min(3, size)] for size in runs.values())
    return Metadata(
        entities=tuple(each.text for each in found),
        phrases=tuple(runs),
        tags=_tags(found, tuple(runs)),
        confidence=round(min(1.0, max(0.0, sum(best.values()) / len(best))), 4) if best else 0.0,
        kinds=tuple(each.kind for each in found),
    )


def from_neighbours(own: Sequence[str], neighbours: Sequence[Sequence[str]], least: int = 2) -> tuple[str, ...]:
    """Tags worth proposing because at least `least` of the nearest memories carry them; nothing for what has tags enough."""
    if len(own) >= SPARSE:
        return ()
    counted = Counter(tag for tags in neighbours for tag in dict.fromkeys(tags))
    ranked = sorted(counted, key=lambda tag: (-counted[tag], tag))
    return tuple(tag for tag in ranked if counted[tag] >= least and tag not in own)[: MOST_TAGS - len(own)]


def _tags(found: Sequence[Entity], phrases: Sequence[str]) -> tuple[str, ...]:
    names = [each.text for each in found if each.kind in TAGGED_KINDS]
    return tuple(dict.fromkeys(" ".join(each.casefold().split()) for each in (*names, *phrases[:3])))[:MOST_TAGS]


def _between(text: str, mentions: Sequence[tuple[int, int, Entity]]) -> str:
    """What is left of a text without its names: these are known already."""
    pieces, at = [], 0
    for start, end, _ in mentions:
        pieces.append(text[at:start])
        at = end
    return " ; ".join((*pieces, text[at:]))


def _phrases(text: str) -> dict[str, int]:
    """The runs of words that carry a subject, with how many words each has, longest and earliest first."""
    runs: dict[str, int] = {}
    for run in _chinese(text) if HAN.search(text) else _english(text):
        phrase = ("" if HAN.search(run[0]) else " ").join(run)
        if len(phrase) > 1:
            runs.setdefault(phrase, len(run))
    chosen = sorted(runs, key=lambda phrase: -min(3, runs[phrase]))[:MOST_PHRASES]
    return {phrase: runs[phrase] for phrase in chosen}


def _english(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    for token in [*_TOKEN.findall(text), "."]:
        folded = token.casefold().replace("’", "'")
        carries = len(folded) > 2 and folded[0].isalpha() and folded not in ENGLISH and folded not in _LIGHT
        if carries and folded.replace("'", "") not in ENGLISH and len(run) < 4:
            run.append(folded.removesuffix("'s"))
            continue
        if run:
            yield run
        run = []


def _chinese(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    for word, tag in [*tagged(text), ("", "x")]:
        noun = tag[0] in "nijl" or tag in {"vn", "eng"}
        if noun and word not in CHINESE_WORDS and not CHINESE_CHARACTERS.issuperset(word) and len(run) < 3:
            run.append(word)
            continue
        if run and (len(run) > 1 or len(run[0]) > 1):
            yield run
        run = []
