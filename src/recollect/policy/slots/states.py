"""States that shut each other out by what they mean: who got married is no longer single, in whatever words it is told.

A small closed vocabulary. Each entry says yes or no to a few features, and two entries contradict each other where they answer
one differently: to be divorced says no to `married` and nothing of `single`, so the two may stand together. Only what a
sentence says outright of its subject counts: wishes, dreams, years gone by and other people's weddings say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from recollect.policy.late import late
from recollect.policy.slots import Holds, Statement

_NO_JOB = {"employed": "no"}
_JOB = {"employed": "yes", "job hunting": "no", "retired": "no"}
_BE = r"(?:am|is|are|'m|'s|'re) (?:now |currently |still |happily |newly )*"
_GOT = r"(?:have |has |'ve |'s )?(?:just |finally |recently )*"
_HOME = r"(?:an?|our|my|the|his|her)(?: \w+)? (?:house|flat|apartment|home|condo|place)"
Features = Mapping[str, str]
_ENGLISH: tuple[tuple[str, Features, Holds], ...] = (
    (rf"{_BE}single(?!-)", {"single": "yes", "partnered": "no", "engaged": "no", "married": "no"}, "one"),
    (rf"(?:have|has|'ve got|{_GOT}found|{_GOT}got) an? (?:new )?(?:girlfriend|boyfriend)|{_BE}in a relationship",
     {"single": "no", "partnered": "yes"}, "one"),
    (rf"(?:{_BE}|{_GOT}got )engaged", {"single": "no", "engaged": "yes", "married": "no"}, "one"),
    (rf"(?:{_BE}|{_GOT}got )married", {"single": "no", "engaged": "no", "married": "yes"}, "one"),
    (rf"(?:{_BE}|{_GOT}got )divorced|{_BE}widowed|{_GOT}(?:split up|separated)", {"married": "no", "partnered": "no"}, "one"),
    (rf"{_BE}(?:unemployed|out of work|jobless|between jobs)|{_GOT}(?:lost (?:my|his|her) job|(?:got|was) (?:laid off|fired))",
     _NO_JOB, "one"),
    (rf"{_BE}(?:looking for (?:an?|another) (?:new )?job|job hunting)", {"job hunting": "yes"}, "one"),
    (rf"{_GOT}(?:found (?:an?|my) (?:new )?job|(?:got|been|was) hired|got (?:an?|the) (?:new )?job|started (?:an?|my) new job"
     r"|went back to work)", _JOB, "one"),
    (rf"{_BE}retired|{_GOT}retired", {"retired": "yes", **_NO_JOB}, "one"),
    (rf"{_BE}an? (?:\w+ )?vegetarian|{_BE}vegetarian", {"meat": "no", "vegan": "no"}, "open"),
    (rf"{_BE}(?:an? )?vegan", {"meat": "no", "vegan": "yes"}, "one"),
    (rf"(?:eats?|{_GOT}(?:started|began) (?:eating|to eat)) meat", {"meat": "yes", "vegan": "no"}, "one"),
    (rf"smokes?|{_BE}an? smoker|{_GOT}(?:took up|started) smoking", {"smoking": "yes"}, "one"),
    (rf"(?:don't|doesn't|do not|does not|never|no longer) smokes?|{_BE}an? (?:non|ex)-?smoker"
     rf"|{_GOT}(?:quit|stopped|gave up) smoking", {"smoking": "no"}, "one"),
    (rf"(?:rents?|{_BE}renting) {_HOME}", {"renting": "yes"}, "open"),
    (rf"{_GOT}bought {_HOME}|owns? {_HOME}", {"renting": "no"}, "open"),
    (r"(?:don't|doesn't|do not) have (?:a|my|his|her) driv(?:ing|er's) licen[cs]e", {"licence": "no"}, "one"),
    (rf"(?:have|has|{_GOT}got) (?:a|my|his|her) driv(?:ing|er's) licen[cs]e", {"licence": "yes"}, "one"),
    (rf"{_BE}(?:\w+ (?:weeks|months) )?pregnant", {"pregnant": "yes"}, "one"),
    (rf"{_GOT}gave birth|had (?:the|our|my|her) baby", {"pregnant": "no"}, "one"),
    (rf"{_BE}an? (?:\w+ )?student", {"student": "yes"}, "one"),
    (rf"{_GOT}graduated(?! from (?:high|primary|middle))", {"student": "no"}, "one"),
)  # fmt: skip
_CHINESE: tuple[tuple[str, Features, Holds], ...] = (
    ("(?:是|还是)?单身", {"single": "yes", "partnered": "no", "engaged": "no", "married": "no"}, "one"),
    ("(?:有|交|找到|谈)了?(?:女朋友|男朋友|对象|女友|男友)", {"single": "no", "partnered": "yes"}, "one"),
    ("订婚", {"single": "no", "engaged": "yes", "married": "no"}, "one"),
    ("(?:已婚|结婚)", {"single": "no", "engaged": "no", "married": "yes"}, "one"),
    ("(?:离婚|离异)", {"married": "no"}, "one"),
    ("(?:失业|没有工作|被裁)", _NO_JOB, "one"),
    ("(?:在|正在)找工作", {"job hunting": "yes"}, "one"),
    ("(?:找到(?:新|了)?工作|入职)", _JOB, "one"),
    ("退休", {"retired": "yes", **_NO_JOB}, "one"),
    ("(?:吃素|是素食者|是素食主义者)", {"meat": "no"}, "one"),
    ("(?:又|重新|开始)*吃肉", {"meat": "yes"}, "one"),
    ("(?:不抽烟|不吸烟|戒烟|戒了烟|把烟戒)", {"smoking": "no"}, "one"),
    ("(?:抽烟|吸烟|开始抽烟)", {"smoking": "yes"}, "one"),
    ("(?:租房|租房住|租房子住)", {"renting": "yes"}, "open"),
    ("买了?房子?", {"renting": "no"}, "open"),
    ("(?:是|还是)(?:学生|大学生|中学生|高中生|研究生)", {"student": "yes"}, "one"),
    ("(?:大学|研究生)?毕业", {"student": "no"}, "one"),
)
_CUES = frozenset(
    "single relationship girlfriend boyfriend engaged married divorced widowed separated split unemployed work jobless jobs job "
    "hunting laid fired hired retired vegetarian vegan meat smoke smokes smoker smoking non-smoker ex-smoker rent rents renting "
    "bought own owns license licence pregnant birth baby student graduated".split()
)
_WHO = r"(?P<who>i|we|[A-Z]\w+ and i|my [a-z]+(?: [A-Z]\w+)?|[A-Z]\w+)"
_END = (
    r"(?: (?:in (?!19|20)\w+|on \w+|to [A-Z]\w+|at .{2,30}|by .{2,30}|again|a pack a day|(?:last|this) \w+|yesterday|today"
    r"|to a \w+|with \w+))*$"
)
_WHO_CHINESE = r"(?P<who>我们|我|[\u4e00-\u9fff]{2,4}?)(?:现在|目前|已经|刚刚|刚|最近|上周|上个月|今年|昨天|终于)*"
_END_CHINESE = r"(?:了|啦|.{0,2}[月年]了|半年了|了?一家.+)?$"
_READ = tuple((late(rf"{_WHO} ?(?:{pattern}){_END}", re.IGNORECASE), told, holds) for pattern, told, holds in _ENGLISH)
_READ_CHINESE = tuple((late(_WHO_CHINESE + pattern + _END_CHINESE), told, holds) for pattern, told, holds in _CHINESE)
_CHINESE_CUES = re.compile(
    "单身|朋友|对象|[女男]友|婚|离异|失业|工作|被裁|入职|退休|素|吃肉|烟|租房|买了?房|学生|研究生|高中生|毕业"
)
_WHOSE = re.compile(r"^(?:i|we|.+ and i)$", re.IGNORECASE)
_NOBODY = frozenset("it he she they that this there you who what which everyone someone nobody".split())


def read(text: str, words: frozenset[str] | set[str]) -> Iterator[Statement]:
    """`words` are those of the text: few texts hold one of the vocabulary."""
    if words.isdisjoint(_CUES):
        return
    for pattern, told, holds in _READ:
        if (match := pattern.match(text)) and (who := match["who"].casefold()) not in _NOBODY:
            yield from _states("i" if _WHOSE.match(who) else who, told, holds)
            return


def read_chinese(text: str) -> Iterator[Statement]:
    if not _CHINESE_CUES.search(text):
        return
    for pattern, told, holds in _READ_CHINESE:
        if match := pattern.match(text):
            yield from _states("我" if match["who"] == "我们" else match["who"], told, holds)
            return


def _states(who: str, told: Features, holds: Holds) -> Iterator[Statement]:
    return (Statement(f"state|{who}|{feature}", answer, holds) for feature, answer in told.items())
