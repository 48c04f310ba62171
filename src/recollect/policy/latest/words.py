"""What `policy.latest.asked` reads off questions and answers, in English and Chinese.

What is asked for, how values of each kind are told, what speaks of a change, and what denies.
"""

from __future__ import annotations

import re

from recollect.policy.slots.values import DAY, NUMBER
from recollect.policy.text import analyse

HISTORY = re.compile(
    r"\b(?:previous(?:ly)?|used to|original(?:ly)?|initial(?:ly)?|at first|formerly|former|earlier|back then"
    r"|in the past(?! (?:few|couple|several|\d|two|three|week|month|year|day))"
    r"|in the beginning|over time|compare[ds]?|difference|more \w+ than|order|sequence|before (?!\W*$))\b"
    r"|以前|之前|原来|最初|曾经|当时|过去|起初|变化|先后|顺序",
    re.IGNORECASE,
)
ADDS_UP = re.compile(
    r"\b(?:in total|summar(?:y|i[sz]e)|overview|list|altogether|combined|different|various|all of|sum|average|between|passed"
    r"|elapsed|until)\b"
    r"|\b(?:how long (?:did|after|since|had)|how many (?:days|weeks|months|years|hours) (?:ago|after|before|since|had|passed|did)"
    r"|(?:which|who|what)\b.{0,80}\bfirst|earliest|in what order)\b"
    r"|一共|总共|合计|之间|相隔",
    re.IGNORECASE,
)
"""What asks for a sum wants every part of it: none is outdated by another."""
MANY = re.compile(
    r"\bhow (?:many|much|long|old|far|big|tall)\b(?P<what>[^?]{0,60}?)"
    r"(?=\b(?:do|does|did|have|has|had|is|are|was|were|can|will|should|am)\b|[?]|$)"
    r"|\bwhat (?:number|size|price|age)\b|\b(?:count|target|rate|budget|quota|score|level|limit)\b|几|多少|多久|多大|多长",
    re.IGNORECASE,
)
PRESENT = re.compile(
    r"\b(?:currently|current|now|latest|(?:most )?recent(?:ly)?|these days|at the moment)\b|现在|目前|最新|最近", re.I
)
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
ASKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "often",
        re.compile(r"\bhow (?:often|frequently|many (?:times|days) (?:a|per|each))\b|多久.*次|几次", re.IGNORECASE),
    ),
    ("age", re.compile(r"几岁|多大(?:年纪|岁数|年龄)?(?:了|呀|啊|？|\?|$)|年纪|年龄|岁数")),
    ("share", re.compile(r"\bpercent(?:age)?\b|百分", re.IGNORECASE)),
    (
        "when",
        re.compile(
            r"\bwhen\b|\bwhat (?:time|date|day)\b|\bdeadline\b|\bwhich day\b|什么时候|何时|几[点号]|哪天", re.IGNORECASE
        ),
    ),
    ("many", MANY),
)
VALUES = {
    "often": re.compile(
        r"\b(?:once|twice|thrice|daily|weekly|monthly|yearly"
        rf"|every (?:other |\w+ )?(?:day|week|month|year|morning|evening|{DAY})s?"
        rf"|{NUMBER} (?:times|days|mornings|evenings|nights)|biweekly)\b|每[天周月年]|[一两三四五六七八九十\d]+次",
        re.IGNORECASE,
    ),
    "age": re.compile(r"(?:\d+|[一二三四五六七八九十]+)(?=岁)"),
    "share": re.compile(r"\d+(?:\.\d+)?(?= ?(?:%|percent))", re.IGNORECASE),
    "when": re.compile(
        rf"\b(?:{MONTH} \d{{1,2}}(?!\d)|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}(?!\w)|{DAY}"
        r"|noon|midnight|\d{1,2}:\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)(?!\w)"
        r"|\d{1,2}月(?:\d{1,2}[日号])?|[\d一二三四五六七八九十两]+点半?|周[一二三四五六日天]",
        re.IGNORECASE,
    ),
    "many": re.compile(
        rf"[$€£¥]?(?<![A-Za-z0-9_.]){NUMBER}(?:st|nd|rd|th)?(?![A-Za-z0-9_%])"
        r"|\b(?:once|twice|an? (?:hour|week|month|day)|half an? \w+)\b"
        r"|[一二三四五六七八九十两]+(?=[个次只本天年月岁人号])",
        re.IGNORECASE,
    ),
}
TURN = re.compile(
    r"\b(?:now|currently|no longer|anymore|these days|instead|actually|new|recently|moved|switched|changed|upgraded"
    r"|rescheduled|postponed|pushed|extended|increased|decreased|raised|reduced|adjusted|updated|reached|expanded|replaced|finished"
    r"|back to|up to|improved|grew|grown|bumped|shifted|since then|latest)\b"
    r"|现在|改[到成为]|换[到成了]|涨到|升[到为了]|搬[到去]|不再|目前|最近",
    re.IGNORECASE,
)
NEVER = re.compile(
    r"\b(?:never|no longer|(?:have|has|had|did|do|does|is|am|are|was|were)(?:n't| not)"
    r"(?! (?:sure|know|think|want|understand|mind|only)))\b"
    r"|从未|从来没|没有|没|不再",
    re.IGNORECASE,
)
EVER = re.compile(r"^\W*(?:have|has|did|do|does|am|is|are|was|were|can|will)\b|吗|有没有|是不是", re.IGNORECASE)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+")
"""Written large though no sentence begins there."""
NUMERAL = re.compile(r"\d+(?:\.\d+)*")
UNTOLD = re.compile(r"\b(?:asked|asks|wonder\w*|whether|wish|if (?:i|we)|would)\b|如果|要是|问我|是不是", re.IGNORECASE)
"""What was asked or wished for tells nothing."""
OWN = re.compile(r"\b(?:i|i'm|i've|me|my|mine|we|we're|our|us)\b|我", re.IGNORECASE)
QUOTED = re.compile(r"(?<!\w)['\"“‘].{1,120}?['\"”’](?!\w)")
RARE = frozenset({"often", "share", "when"})
"""Kinds of values that little else is told in."""
DATED = re.compile(rf"\b(?:{MONTH} \d{{1,2}}|(?:19|20)\d\d),?$", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?;])(?<!\b[DM]r\.)(?<!\bMrs\.)(?<!\bMs\.)\s+|[。！？；]|\n+")
GENERIC = frozenset(
    analyse(
        "current currently now recent recently often many much long time times day days week weeks month year total number count "
        "usually regularly spend spent ever far today latest most completed complete have own 现在 目前 最新 最近 今年"
    )
)
