"""What is so of things at work, in English (`policy.slots`): what is switched, what is done with, and whose it is.

A thing that is on is not off, and what is fixed is no longer open. Who owns a service may share it, so another name for it
asks; only with a word of change it replaces the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.policy.slots import Statement

_STATES = {
    **dict.fromkeys(("on", "enabled", "active"), ("on", "yes")),
    **dict.fromkeys(("off", "disabled", "inactive"), ("on", "no")),
    **dict.fromkeys(
        ("open", "reopened", "pending", "unresolved", "in progress", "in review", "waiting for review", "unfixed"),
        ("open", "yes"),
    ),
    **dict.fromkeys(("closed", "fixed", "resolved", "merged", "done", "solved", "shipped"), ("open", "no")),
}
_STATE = re.compile(
    r"(?P<s>(?:(?:the|my|our) )?[\w#'-]+(?: [\w#'-]+){0,5}?) (?:is|are|was|were|got|has been|have been) "
    rf"(?:now |still |already |finally )?(?P<v>{'|'.join(_STATES)})",
    re.IGNORECASE,
)
_NAME = r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
_OWNS = re.compile(
    rf"(?P<v>{_NAME}) (?:now )?(?:owns|leads|maintains|manages|is (?:now )?(?:responsible for|in charge of|the owner of)) "
    r"(?:the |our )(?P<s>[\w' -]{3,50})"
    r"|(?:the |our )(?P<s2>[\w' -]{3,50}?) (?:is|are) (?:now )?(?:owned|led|maintained|managed|handled) (?:now )?by "
    rf"(?P<v2>{_NAME})",
    re.IGNORECASE,
)
_CUES = frozenset(
    "on off open reopened pending unresolved progress review closed fixed resolved merged done solved shipped enabled disabled "
    "active inactive unfixed owns leads maintains manages responsible charge owner owned led maintained managed handled".split()
)
_UNKNOWN = frozenset("i we it he she they that this there these those you who what which everything nothing".split())


def read(text: str, words: frozenset[str] | set[str]) -> Iterator[Statement]:
    """`words` are those of the text: few hold one of these."""
    if words.isdisjoint(_CUES):
        return
    if (match := _STATE.fullmatch(text)) and (subject := _subject(match["s"])):
        feature, answer = _STATES[match["v"].casefold()]
        yield Statement(f"thing|{subject}|{feature}", answer)
    if match := _OWNS.fullmatch(text):
        yield Statement(
            f"thing|{_subject(match['s'] or match['s2'])}|owner", (match["v"] or match["v2"]).casefold(), "open"
        )


def _subject(text: str) -> str:
    words = [word for word in text.casefold().split() if word not in ("the", "my", "our")]
    return "" if not _UNKNOWN.isdisjoint(words) else " ".join(words)
