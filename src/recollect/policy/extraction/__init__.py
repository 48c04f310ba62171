"""What a person says of themselves in a turn, read off by rules: precision before recall, nothing invented.

A turn is split into sentences and clauses; what is small talk, a question, an order, hypothetical, pasted or code is left out
(`junk`), and so is what reads like instructions to a model. A clause that states something is kept in its speaker's own words,
under a key that says what it is of. What was missed can still be found word for word in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from recollect.model import Source
from recollect.model.analysis import Item
from recollect.policy import junk
from recollect.policy.extraction import chinese as extraction_chinese
from recollect.policy.extraction import english as extraction_english
from recollect.policy.extraction.english import Rule
from recollect.policy.followup.leaning import HAN
from recollect.policy.injection import is_suspicious

MOST_ITEMS = 8
STATED = 0.9
"""From this confidence on a thing counts as stated by the user; below, as inferred."""
HEDGED = 0.6
ASKED_FOR = 0.98

NOTE, CHANGE = "note.", "change."
"""Where a key begins that is nothing but the words."""
LONGEST_TOLD = 600
LONGEST_CHANGE = 160
_REPORTED = re.compile(r"[\"“”「」]|：\s*|\b(?:said|says|told me|asked|wrote|quote)\b|[他她]说|告诉我")
"""What somebody else may have said."""

PRIVATE = "not to be remembered"
_NOT = r"(?<!\bi )(?<!\bwe )(?<!\bthey )\b(?:don'?t|do not|never) (?:you )?"
_PRIVATE = re.compile(
    rf"{_NOT}(?:remember|record|memori[sz]e) (?:this|that|it|any of|what i)\b"
    # Of what is saved, kept or forgotten there are files, receipts and meetings, too: here nothing but what was just said.
    rf"|(?:{_NOT}(?:save|store|keep|note|log|write)|(?:^|[.!?,;]|\b(?:please|but|and|so|just|then)) ?\bforget)"
    r" (?:this|that|it|any of (?:this|that|it)|(?:that )?(?:what )?i (?:just )?said(?: (?:this|that|it))?)(?: down)?"
    r"(?=\s*$|\s*[.!?,;:)]|,? (?:please|but|ok(?:ay)?)\b)"
    r"|\boff the record\b"
    r"|(?:别|不要|不用|请勿|不必)(?:再|帮我)?(?:记(?![错得恨])|保存|存下|存档)"
    r"|(?:^|[，。！,!]|请|就)忘(?:了|掉)(?:这|那|我刚)",
    re.IGNORECASE,
)
"""Who says so doesn't want what they say to be remembered, whether it comes before or after."""

_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[DM]r\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bProf\.)[\"'”’)]*\s+|(?<=[。！？；;])|\n+"
)
_ENGLISH_CLAUSE = re.compile(
    r"[,;–—]?\s+(?:and|but|so|although|though|while|because)\s+(?=(?:i|i'm|i've|my|we|we're|our)\b)|;\s+|,\s+(?=(?:i|"
    r"i'm|i've|my)\b)",
    re.IGNORECASE,
)
_CHINESE_CLAUSE = re.compile(r"[，,、](?=(?:我|叫我|也|而且|但是?|不过|所以))")
_SAID_ALONG = (
    r"too|as well|a lot|so much|very much|though|indeed|of course|(?:as )?you know|as i (?:said|mentioned)(?: before)?|by the "
    r"way|btw|haha|lol|if (?:that|it) (?:helps|matters)|in case (?:that|it|you) (?:helps|matters|wonder\w*|need\w*)"
)
_ADVERBS = r"these days|right now|at the moment|now|again|anymore|any more"
_TRIM = re.compile(rf"(?:[\s,]+(?:{_SAID_ALONG}|{_ADVERBS}))+$|[\s,，。.!！…~～]+$", re.IGNORECASE)
_TRIM_SAID = re.compile(
    rf"(?:[\s,]+(?:{_SAID_ALONG}))+$|[，,](?:你知道的?|你懂的|对吧|哈哈|你也知道)$|[\s,，。.!！…~～]+$", re.IGNORECASE
)
"""What is said along says nothing. "Now" and "anymore" are no part of a value, but say that it was otherwise."""
_CUT = re.compile(
    r"\s+(?:but|because|although|though|since|due to|so (?:that|i|it|my)|which|as (?:i|it|they|we)|and (?:i|i'm|my|we|"
    r"it|they|prefer|find|love|"
    r"like|hate|can'?t|cannot|need|want|would|am|usually|always|never|have|avoid))\b.*$|\s+[-–—(].*$|[\"”]\s.*$",
    re.IGNORECASE | re.DOTALL,
)
_POINTING = re.compile(
    r"\b(?:these|those|them|their|theirs|there|it|its|such|that|this(?! (?:week|month|year|morning|evening|weekend|"
    r"spring|summer|fall|"
    r"autumn|winter|\w+day))|him|his|he|she|you|your|here|stuff like|the same)\b|^[\"“'‘]"
    r"|^(?:learning |doing )?(?:a (?:ton|lot|bunch)|so much|something|more)$|^(?:hard|well)\b|^playing for\b",
    re.IGNORECASE,
)
_POINTING_ZH = re.compile(r"[这那][个些组类种样次里两]|[他她它]们")
_ERRAND_ZH = re.compile(r"试试|一下$|了$")
"""The end of what somebody is about to do, not of a plan."""
_DEFINITE = re.compile(
    r"^(?:both|all the|the (?!(?:ocean|sea|beach|mountains?|outdoors|countryside|rain|snow|city|sun|cold|heat|"
    r"forest|woods|desert|gym|"
    r"theat(?:er|re)|opera|cinema|piano|guitar|violin|smell|sound of|taste of|winter|summer|"
    r"autumn|spring)\b))",
    re.IGNORECASE,
)
_UNNAMED = re.compile(r"^(?:he|she|it|they|that|this|these|those|who|which)\b", re.IGNORECASE)
"""A sentence that begins with somebody who was named before it."""
_FIRST_PERSON = re.compile(r"(?:i|i'm|i’m|i've|i’ve|my|we|we're|we've|our)\b|我|叫我", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?|my|our|some|to)\s+", re.IGNORECASE)
_NOT_A_NAME = frozenset(
    "german french english american british italian spanish chinese japanese korean indian canadian australian dutch "
    "swedish sorry "
    "sure happy glad fine good great ok okay here back tired busy done ready lost confused excited curious muslim "
    "christian jewish "
    "catholic buddhist hindu".split()
)


class Read(NamedTuple):
    """What was read off a turn, and the reasons for what was left out."""

    items: tuple[Item, ...]
    rejected: tuple[str, ...]


def read(text: str, speaker: str | None = None) -> Read:
    """What the speaker of this turn says of themselves. `speaker`: their name, where several people talk."""
    asked = _asked_for(text, speaker)
    if asked is not None:
        return asked
    reason = junk.whole_turn(text)
    if reason is not None:
        return Read((), (reason,))
    if is_private(text):
        return Read((), (PRIVATE,))
    found: dict[str, Item] = {}
    rejected: dict[str, None] = {}
    for sentence in (_trimmed(each, _TRIM_SAID) for each in _sentences(text)):
        problem: str | None = junk.sentence(sentence) or ("hostile" if is_suspicious(sentence) else None)
        if problem is None and _UNNAMED.match(extraction_english.FILLER.sub("", sentence)):
            problem = "leans on another sentence"
        if problem:
            rejected[problem] = None
            continue
        for item in _stated(sentence, speaker):
            found.setdefault(item.key, item)
    if rejected.keys() & {"command", "question"}:  # a wish beside a task is of that task
        found = {key: item for key, item in found.items() if key_family(key) not in ("wish", "reply_language")}
    if not found and not rejected:
        rejected["nothing stated"] = None
    return Read(tuple(found.values())[:MOST_ITEMS], tuple(rejected))


def is_private(text: str) -> bool:
    """Whether who says it asks for it not to be remembered."""
    return bool(_PRIVATE.search(text.replace("’", "'")))


def is_read_off(key: str, content: str) -> bool:
    """Whether a key says no more than the words it is of: one that these rules made, and nobody chose."""
    return key.startswith((NOTE, CHANGE)) or any(item.key == key for item in read(content).items)


def unread(text: str, items: Iterable[Item]) -> Iterator[Item]:
    """The statements of a turn that no rule reads, as what they would be kept as. They say little by themselves ("I eat meat
    again"); whether one changes something that is remembered, only the memory can tell."""
    if len(text) > LONGEST_TOLD or _REPORTED.search(text) or is_private(text):
        return
    if junk.whole_turn(text) is not None:
        return
    told = " ".join(item.content for item in items)
    for sentence in _sentences(text):
        grammar = extraction_chinese if HAN.search(sentence) else extraction_english
        said = _trimmed(grammar.FILLER.sub("", sentence), _TRIM_SAID)
        if not said or said in told or len(said) > LONGEST_CHANGE or _UNNAMED.match(said):
            continue
        if junk.sentence(sentence) or grammar.HEDGE.search(sentence) or is_suspicious(sentence):
            continue
        yield _named("fact", f"{CHANGE}{_slug(said)}", said, said, STATED, speaker=None)


def _asked_for(text: str, speaker: str | None) -> Read | None:
    """ "Remember that …": somebody asks for it, so it is kept whether or not a rule knows what it says."""
    for grammar in (extraction_english, extraction_chinese):
        match = grammar.REMEMBER.match(text.strip())
        if match is None:
            continue
        said = _trimmed(match["v"], _TRIM_SAID)
        if len(said) < 3 or "?" in said or "？" in said:
            return None
        if is_suspicious(said) or junk.whole_turn(said) in ("code", "pasted"):
            return Read((), ("hostile",) if is_suspicious(said) else ("pasted",))
        known = next(iter(_stated(said, speaker)), None)
        if known is not None:
            item = _named(known.category, known.key, known.value, said, ASKED_FOR, speaker=None)
        else:
            item = _named("fact", f"{NOTE}{_slug(said)}", said, said, ASKED_FOR, speaker)
        return Read((Item(**{**_fields(item), "explicit": True}),), ())
    return None


def _sentences(text: str) -> Iterator[str]:
    return (each.strip() for each in _SENTENCE.split(text) if each and each.strip())


def _stated(sentence: str, speaker: str | None) -> Iterator[Item]:
    chinese = HAN.search(sentence) is not None
    grammar = extraction_chinese if chinese else extraction_english
    clauses = [
        each for each in (_CHINESE_CLAUSE if chinese else _ENGLISH_CLAUSE).split(sentence) if each and each.strip()
    ]
    read = [(clause.strip(), *_matched(clause.strip(), grammar.RULES, grammar.FILLER)) for clause in clauses]
    stated = [(clause, rule, match) for clause, rule, match in read if rule is not None and match is not None]
    for clause, rule, match in stated:
        # Alone in its sentence, a statement keeps the rest of it: the rest says when, why and with whom.
        whole = sentence if len(stated) == 1 else clause
        bare = grammar.FILLER.sub("", whole)
        content = _trimmed(bare if _FIRST_PERSON.match(bare) else whole, _TRIM_SAID)
        item = _item(content, clause, rule, match, grammar, speaker)
        if item is not None:
            yield item


def _matched(clause: str, rules: tuple[Rule, ...], filler: re.Pattern[str]) -> tuple[Rule | None, re.Match[str] | None]:
    bare = filler.sub("", clause).replace("’", "'").rstrip("。！!.…~～ ")
    for rule in rules:
        match = rule.pattern.match(bare)
        if match is not None:
            return rule, match
    return None, None


def _item(
    content: str, clause: str, rule: Rule, match: re.Match[str], grammar: Any, speaker: str | None
) -> Item | None:
    groups = match.groupdict()
    value = _trimmed(_CUT.sub("", groups["v"]))
    if len(value) < 1 or (rule.key == "name" and value.casefold() in _NOT_A_NAME):
        return None
    leaning = rule.said or key_family(rule.key) in ("does", "habit", "doing", "has", "goal")
    # It takes the sentence before to know what is meant.
    if (leaning and _POINTING.search(value)) or _POINTING_ZH.search(value):
        return None
    if key_family(rule.key) == "doing" and _ERRAND_ZH.search(value):
        return None
    if rule.said and _DEFINITE.match(value):  # what is on the table just now, more often than what is liked for good
        return None
    confidence = HEDGED if grammar.HEDGE.search(clause) else rule.confidence
    key = rule.key.format(v=_slug(value), a=_slug(groups.get("a") or ""))
    over = rule.said == "over" or (key in ("home", "employer") and grammar.OVER.search(clause) is not None)
    if grammar.PAST.search(clause) and not over:
        key = f"past.{key}.{_slug(value)}" if "{v}" not in rule.key else f"past.{key}"
    said: Any = None if over else {"opinion": rule.said, "of": value} if rule.said else value
    return _named(rule.category, key, said, content, confidence, speaker)


def key_family(key: str) -> str:
    """What a key is of, without of whom or which: `taste`, `home`, `allergy`, …"""
    return key.split(".", 1)[0]


def _named(category: Any, key: str, value: Any, content: str, confidence: float, speaker: str | None) -> Item:
    return Item(
        category=category,
        key=(f"{_slug(speaker)}.{key}" if speaker else key)[:200],
        value=value,
        content=f"{speaker}: {content}" if speaker else content,
        confidence=confidence,
        source=Source.USER_STATED if confidence >= STATED else Source.INFERRED,
    )


def _fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in Item.__slots__}


def _trimmed(text: str, tail: re.Pattern[str] = _TRIM) -> str:
    before, text = "", text.strip(" \t\n\"'“”‘’,，:：")
    while text != before:
        before, text = text, tail.sub("", text)
    return text


def _slug(text: str) -> str:
    bare = _ARTICLE.sub("", text.strip()).casefold().replace("的", "")
    words = "".join(c if c.isalnum() else " " for c in bare).split()
    return "_".join(words)[:60]
