"""What takes back a word of what was said just before: "No, I meant Leicester", "Actually it's on Tuesday", 我说错了，是三月六号.

By itself such a turn says nothing. Put in the place of the value that was given before, it says what was meant; only a value of
the same kind can stand there.
"""

from __future__ import annotations

import re

from recollect.policy.slots.chinese_values import COUNT, DATE, TIME
from recollect.policy.slots.values import typed

_OPENING = r"(?:(?:no|nope|sorry|oops|wait|actually|correction|my mistake|my bad)\b[\s,:;.!–-]*)"
_ENGLISH = re.compile(
    rf"^(?:{_OPENING}*(?:i (?:meant|mean)|make (?:that|it)|that should be|it should be)|{_OPENING}+(?:it's|it is|that's)) "
    r"(?:to say )?(?:on |at |in |the )?(?P<v>[\w:$€£.,/' -]{1,40}?)[.!]*$",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"^(?:不对|不是|错了|我?说错了|我?记错了|更正(?:一下)?)[，,。！!\s]*(?:应该)?(?:是|在)(?P<v>[^，,。！!？?]{1,20})[。！!]*$"
)
_KINDS = (("date", re.compile(DATE)), ("time", re.compile(TIME)), ("number", re.compile(rf"{COUNT}\D{{0,3}}")))


def fragment(text: str) -> str | None:
    """The value that a turn puts right, or None where it does nothing of the kind."""
    match = _ENGLISH.match(text.strip()) or _CHINESE.match(text.strip())
    return match["v"].strip() if match else None


def corrected(content: str, value: object, meant: str) -> str | None:
    """What was said before, with what was meant in the place of the value; None where that makes no sense."""
    if not isinstance(value, str) or content.count(value) != 1 or value == meant or _kind(value) != _kind(meant):
        return None
    return content.replace(value, meant)


def _kind(value: str) -> str:
    bare = re.sub(r"^(?:the|an?) ", "", value)
    for kind, _ in typed(bare, "at"):
        return kind
    for kind, pattern in _KINDS:
        if pattern.fullmatch(bare):
            return kind
    if re.match("[\u4e00-\u9fff]", bare):
        return "chinese"
    return "name" if bare[:1].isupper() else "words"
