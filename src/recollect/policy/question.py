"""What a question asks for, read off its words: before anything is searched, and without a model.

The names of people who speak in the memory are taken out of the words and out of the text to be embedded ("When did
Ana move?" becomes "When did I move?"): turns are told in the first person, so a name only leads to the turns that
address its bearer. Who is meant stays known as `speakers` and ranks as evidence of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from recollect.policy.phrases import Phrase, phrases
from recollect.policy.relevance import is_cjk
from recollect.policy.text import analyse, query_terms, subject_terms
from recollect.policy.when import Window, timed

QuestionKind = Literal["factual", "advice", "statement", "dialogue"]

_ADVICE = re.compile(
    r"\b(recommend\w*|suggest\w*|advi[cs]e|tips?|ideas?|should i|help me|i (?:want|need) to|i'd like"
    r"|(?:^|i'm |i am |we're |we are )(?:looking for|planning)"
    r"|options?|what are some|any (?:good|recommendations)|best (?:way|place|option)s?"
    r"|(?:could|can) you (?:help|suggest|recommend|provide|give|show)|how (?:can|should|do|would) (?:i|you)"
    r"|what would be (?:some|a) (?:good|great|popular|best|fun))\b|推荐|建议|怎么办|该怎么|应该怎",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"^[^?]{0,40}\b(?:who|whose|what|when|where|which|why|how)\b[^?]{0,80}\b(?:did|does|has|had)\s"
    r"|向[^，。？]{1,12}(?:推荐|建议)|(?:推荐|建议)(?:了|过|给|并|的|他|她)|(?:他|她|对方|医生|老师|朋友|同事)[^，。？]{0,12}(?:推荐|建议)"
    r"|(?:给出|提出|提供|获得|得到|收到|听取|结合|咨询|根据|按照)[^，。？]{0,20}建议",
    re.IGNORECASE,
)
"""Asks what somebody advised or planned, which is a fact like any other."""
_WISHED = re.compile(
    r"\b(?:(?:need|want|love|like|appreciate|give me|show me|any|some|your) (?:\w+ ){0,3}"
    r"(?:recommendations?|suggestions?|tips?|ideas?|advice|options?)|help me|i(?:'m| am) (?:looking for|planning))\b"
    r"|(?:^|[.!,;:] )(?:please )?(?:recommend|suggest|advise)\b|[\u3400-\u9fff]",
    re.IGNORECASE,
)
"""Asks for advice without asking a question: elsewhere "the idea of moving" or "I need to rest" is told, not asked."""
_RHETORICAL = re.compile(
    r"^\W*(?:who knew|can you believe|(?:do )?you know what|do you ever|guess what)\b"
    r"|^(?:when|where|what|how)\b[^?]{0,120}, (?:i|my|we|our|it)\b[^?]{0,300}[.!]\W{0,3}$",
    re.IGNORECASE,
)
"""Sounds like a question and tells something: "Who knew it would be so hard?", "When the bonus came, I saved it."."""
_REQUEST = re.compile(
    r"\b(?:(?:can|could|would) you (?:please )?(?:help me(?: (?:find|choose|pick|plan))?|suggest|recommend|provide|give|show"
    r"|share)(?: me)?(?: some| any| an?)?"
    r"|what (?:are|is|would be)(?: some| an?| the)?|(?:you would|you'd|would you|do you) (?:recommend|suggest)(?: for me)?"
    r"|how (?:can|should|do|would) i|(?:do you have )?any (?:recommendations|suggestions|tips|ideas|advice)(?: for| on)?"
    r"|i(?:'m| am) (?:planning|looking)(?: for| to)?|for me|i (?:want|need|would like|'d like) to"
    r"|i (?:can|could|might|should))\b|[?.!,]",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"[?？]|什么|怎么|谁|哪|几|多少|吗|呢"
    r"|^\W{0,40}(?:(?:and|so|also|hey|hi|ok|okay)\W+)*(?:(?:in|at|for|from|on) )?"
    r"(?:who|whom|whose|what|when|where|which|why|how|did|do|does|is|are|was|were|has|have|had|can|could|would|will|should)\b",
    re.IGNORECASE,
)
_OF_THE_ASSISTANT = re.compile(
    r"\b(?:did you|remind me|our (?:previous|last|earlier) (?:conversation|chat|discussion)"
    r"|you(?:'d|'ve| had| have)? (?:said|told|mentioned|suggested|recommended|gave|given|provided|listed|shared"
    r"|explained|advised|wrote|created|made))\b|你(?:之前|上次|曾)?(?:说|建议|推荐|提到|告诉)",
    re.IGNORECASE,
)
_TURN = re.compile(r'(?m)^[^\S\n]{0,40}<?([^<>:：\n]{1,30})>?[^\S\n]{0,40}[:：]\s*"?(.+?)"?\s*$')
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "助手"})
_MOST_SUBJECT = 200  # characters
_TALE = 15  # words
_LATIN_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """`texts` are what to embed: the question itself first; then, of a dialogue, the user's part, and of a request for advice,
    its subject as one would tell one's taste in it."""

    text: str
    kind: QuestionKind
    terms: tuple[str, ...]
    texts: tuple[str, ...]
    windows: tuple[Window, ...] = ()
    timeless: tuple[str, ...] = ()
    """The terms beside the time it speaks of: all that is asked of what was told in one of its `windows`."""
    speakers: frozenset[str] = frozenset()
    of_the_assistant: bool = False
    phrases: tuple[Phrase, ...] = ()
    """What it quotes: to be found word for word."""
    own_terms: tuple[str, ...] = ()
    """The terms the question says itself, where `terms` holds more: what is lent by the conversation need not be found."""

    subject: tuple[str, ...] = ()
    """Of a question in Chinese: those of its own terms that a text about the same subject would hold."""

    @property
    def required(self) -> tuple[str, ...]:
        """The terms that an answer is judged by."""
        return self.subject or self.own_terms or self.terms


def half_typed(question: Question) -> Question:
    """The question as somebody is still typing it: its last word may be the beginning of a longer one, or the whole of it, which
    is then what was meant."""
    said = question.text.split()
    last = query_terms(said[-1])[-1:] if said and said[-1][-1].isalnum() else []
    if not last or last[0] not in question.terms:
        return question
    begun = f"{last[0]}*"

    def instead(terms: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(begun if term == last[0] else term for term in terms)

    return replace(
        question,
        terms=(*question.terms, begun),
        own_terms=instead(question.own_terms or question.terms),
        subject=instead(question.subject),
    )


def prepare(text: str, now: datetime | None = None, speakers: Iterable[str] = ()) -> Question:
    """Read `text` as a question put at `now` to a memory in which `speakers` talk (`Shelf.speakers`)."""
    turns = _TURN.findall(text) if "\n" in text else []
    if len(turns) >= 2:
        own = "\n".join(said for name, said in turns if name.strip().casefold() not in _ASSISTANTS) or text
        return Question(text, "dialogue", tuple(query_terms(own)), (text, own))
    quotes = phrases(text)
    kind = _kind(text, quoting=bool(quotes))
    named = {name: found for name in speakers if (found := _mentions(name, text))}
    words = {word for found in named.values() for word in found}
    names = {term for word in words for term in analyse(word)}
    terms = query_terms(text)
    when, rest = timed(text, now) if now else ([], text)
    return Question(
        text,
        kind,
        tuple([term for term in terms if term not in names] or terms),
        _to_embed(_in_first_person(text, words), kind),
        tuple(when),
        tuple(term for term in subject_terms(rest) if term not in names) if when else (),
        frozenset(named),
        bool(_OF_THE_ASSISTANT.search(text)),
        quotes,
        subject=tuple(term for term in subject_terms(text) if term not in names) if is_cjk(text) else (),
    )


def _kind(text: str, *, quoting: bool) -> QuestionKind:
    asking = bool(_ASKING.search(text)) and not _RHETORICAL.search(text)
    # What an assistant advised is a long text in words of its own: found as advice is, by its meaning.
    reported = _REPORTED.search(text) and not _OF_THE_ASSISTANT.search(text)
    if _ADVICE.search(text) and not reported and (asking or _WISHED.search(text)):
        return "advice"
    # Who quotes looks for words, whether or not there is a question mark, unless a tale quotes in passing.
    return "factual" if asking or (quoting and len(text.split()) < _TALE) else "statement"


def _to_embed(text: str, kind: QuestionKind) -> tuple[str, ...]:
    """What to advise depends on what one likes, and that is told in other words than advice is asked for."""
    if kind != "advice" or is_cjk(text):
        return (text,)
    subject = " ".join(_REQUEST.sub(" ", text).split())[:_MOST_SUBJECT]
    return (text, f"I like or dislike {subject}") if subject else (text,)


def _mentions(name: str, text: str) -> set[str]:
    """The words of `text` that mean `name`: any part of it, in any case, with a small slip in longer names."""
    if not name.isascii():
        return {name} if name in text.casefold() else set()
    parts = {part for part in _LATIN_WORD.findall(name.casefold()) if len(part) > 1}
    found = set()
    for word in set(_LATIN_WORD.findall(text)):
        bare = word.casefold()
        exact = bare in parts or bare.removesuffix("s") in parts
        if exact or (word[0].isupper() and any(_one_slip(bare, part) for part in parts)):
            found.add(word)
    return found


def _one_slip(word: str, name: str) -> bool:
    """One letter changed, added or dropped after the first, in a name of five letters or more."""
    if len(name) < 5 or word[0] != name[0] or abs(len(word) - len(name)) > 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), min(len(word), len(name)))
    rest, end = word[same:], name[same:]
    return rest[1:] == end[1:] or rest[1:] == end or rest == end[1:]


def _in_first_person(text: str, words: set[str]) -> str:
    if not words:
        return text
    if not all(map(str.isascii, words)):
        return re.sub("|".join(map(re.escape, words)), "我", text, flags=re.IGNORECASE)
    listed = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.sub(rf"\b(?:{listed})('s|’s|s'|’)?(?!\w)", lambda match: "my" if match[1] else "I", text)
