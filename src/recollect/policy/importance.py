"""How much a memory matters before anybody has used it: a start, and four heuristics that add to it, as data.

    start                                                              0.2
    somebody asked for it to be saved or pinned                       +0.5
    a lasting preference, a commitment or a goal                      +0.3
    entities or tags found with a confidence of 0.6 or more           +0.2
    chit-chat                                                         -0.1

The weights are the companion contract's, which names no start. It can't be zero, or chit-chat could not be told from a plain
fact; it can't be much more, or a preference with a name in it would weigh as much as one that was expressly saved.
"""

from __future__ import annotations

import re

from recollect.model import MemoryType
from recollect.policy.junk import is_small_talk

START = 0.2
EXPLICIT = 0.5
LASTING = 0.3
DESCRIBED = 0.2
CHIT_CHAT = -0.1
SURE = 0.6
"""The confidence of the metadata from which on it counts."""

REPEAT = 0.05

LASTING_TYPES = frozenset({MemoryType.PREFERENCE, MemoryType.DECISION, MemoryType.INSTRUCTION, MemoryType.PATTERN})
_READ = 1000  # characters: what a memory is about stands at its beginning

_LASTING = re.compile(
    r"\b(?:prefer(?:s|red|ence|ences)?|favou?rites?|allergic|intolerant|(?:i|we|he|she|they|user) (?:\w+ )?(?:like|"
    r"love|hate|enjoy|"
    r"dislike|avoid|adore|detest)s?|can'?t stand|do(?:es)?n'?t (?:like|eat|drink|want)|always|never|"
    r"(?:my|our|his|her|their|the) (?:\w+ )?(?:goal|aim|plan|ambition|resolution|dream|deadline)|aim(?:s|ing)? to|"
    r"plan(?:s|ning|ned)? (?:to|on)|want(?:s|ed)? to|intend(?:s|ed)? to|hop(?:e|es|ing) to|trying to|working "
    r"(?:towards?|on)|"
    r"saving (?:up )?for|promised?|committed|commit(?:s|ment)?|agreed to|decided|vow(?:s|ed)?|signed up|deadline|due "
    r"(?:on|by|in)|"
    r"appointment|every (?:day|week|month|year|morning|evening|night|\w+day))\b"
)
_LASTING_ZH = re.compile(
    r"喜欢|喜爱|最爱|爱[吃喝看听玩用]|讨厌|不喜欢|不[吃喝爱]|偏好|偏爱|更愿意|宁愿|习惯|过敏|忌口|总是|从不|从来不|一直|每[天周月年晚早]|"
    r"目标|计划|打算|准备|希望|想要|决定|承诺|答应|保证|约定|约好|截止|必须|梦想|立志|坚持"
)


def base_importance(
    text: str, *, type: MemoryType | str = MemoryType.FACT, explicit: bool = False, metadata_confidence: float = 0.0
) -> float:
    """0 to 1. `explicit`: its owner asked for it to be saved or pinned."""
    value = START
    value += EXPLICIT if explicit else 0.0
    value += LASTING if is_lasting(text, type) else 0.0
    value += DESCRIBED if metadata_confidence >= SURE else 0.0
    value += CHIT_CHAT if is_small_talk(text) else 0.0
    return _clamped(value)


def with_repeats(base: float, repeats: int) -> float:
    """What saying a thing again adds: the same for each time, until it can't matter more."""
    return _clamped(base + REPEAT * repeats)


def is_lasting(text: str, type: MemoryType | str = MemoryType.FACT) -> bool:
    """Whether it is a preference, a commitment or a goal, by its type or by its words."""
    read = text[:_READ].lower()
    return type in LASTING_TYPES or _LASTING.search(read) is not None or _LASTING_ZH.search(read) is not None


def _clamped(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 4)
