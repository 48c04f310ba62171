"""What a session is about at the moment, and what was mentioned that a later turn may lean on.

A turn that brings a subject of its own sets the topic; one that leans on what was said before, or says nothing, leaves it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recollect.policy.followup.leaning import LEANS, leaning
from recollect.policy.junk import is_small_talk, whole_turn
from recollect.policy.metadata import Metadata, described

LONGEST = 80
RECENT = 3
"""How many people, places and dates are kept, the latest first."""

_GOAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:want|need|trying|planning|hoping|going|looking|have) to|my goal is(?: to)?|help me(?: to)?|"
    r"i(?:'d| would) like to)\s+(?!know\b|ask\b|see\b|hear\b|say\b)(?P<goal>[^.!?\n]{4,100})",
    re.IGNORECASE,
)
_GOAL_ZH = re.compile(
    r"(?:我(?:现在|今天|最近)?(?:想要?|要|打算|计划|准备|需要)|帮我|我的目标是)(?P<goal>(?!问|知道)[^。！？!?；;\n，,]{2,40})"
)
_FEELINGS = frozenset(
    "excited worried happy sad angry furious glad anxious nervous stressed tired curious interested grateful proud "
    "frustrated annoyed "
    "scared afraid upset thrilled surprised shocked bored sick ugh wow yeah hmm 有点 有些 "
    "心情 感觉 事情 东西 问题 时间 情况".split()
)
_KINDS = {"people": ("person",), "places": ("place",), "dates": ("date",)}


def topic_of(text: str, previous: str | None = None, known: Metadata | None = None) -> str | None:
    """The topic after this turn."""
    if is_small_talk(text) or whole_turn(text) in ("code", "empty"):
        return previous
    if previous is not None and leaning(text[:400]).strength >= LEANS:
        return previous
    found = known if known is not None else described(text)
    runs = [phrase for phrase in found.phrases if phrase not in _FEELINGS and (len(phrase) > 3 or not phrase.isascii())]
    names = found.of_kind("organisation", "place", "person", "name")
    said = [*runs[:1], *(name for name in names[:1] if name not in runs[:1])]
    return " ".join(said)[:LONGEST] or previous


def variables_of(text: str, previous: Mapping[str, Any], known: Metadata | None = None) -> dict[str, Any]:
    """What this turn adds to the session's variables: who, where and when it mentions, and what its speaker is after."""
    found = known if known is not None else described(text)
    changed: dict[str, Any] = {}
    for name, kinds in _KINDS.items():
        mentioned = found.of_kind(*kinds)
        if mentioned:
            changed[name] = list(dict.fromkeys((*mentioned, *_texts(previous.get(name)))))[:RECENT]
    goal = _GOAL.search(text) or _GOAL_ZH.search(text)
    if goal is not None:
        changed["goal"] = " ".join(goal["goal"].split())
    return changed


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []
