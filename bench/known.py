"""Two hundred questions whose one answer is known: half share a rare word with it, half only its meaning; English and Chinese.

Both halves are needed. Words find what vectors blur (a serial number is like any other), vectors find what words miss. Whoever
is good at one only gets about half.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Literal

from bench.paraphrases import CHINESE, ENGLISH


@dataclass(frozen=True, slots=True)
class Known:
    fact: str
    question: str
    by: Literal["word", "meaning"]
    language: Literal["en", "zh"]


_ENGLISH = [
    ("Support opened case {id} about the {thing}.", "What is case {id} about?"),
    ("The serial number of the {thing} is {id}.", "Which thing has the serial number {id}?"),
    ("The {thing} was ordered under {id}.", "What did I get with order {id}?"),
]  # fmt: skip
_CHINESE = [
    ("客服为{thing}建了工单{id}。", "工单{id}是关于什么的？"),
    ("{thing}的序列号是{id}。", "序列号{id}是哪件东西的？"),
    ("买{thing}的订单号是{id}。", "订单{id}买的是什么？"),
]  # fmt: skip
_THINGS = {
    "en": "dishwasher router lamp kettle heater bicycle printer freezer camera drill fan scale toaster mixer speaker",
    "zh": "洗碗机 路由器 台灯 水壶 取暖器 自行车 打印机 冰箱 相机 电钻 风扇 体重秤 烤面包机 搅拌机 音箱",
}


def known() -> list[Known]:
    """Word and meaning, English and Chinese in turn, so that the first few are a fair sample."""
    random = Random(41)
    lists = [
        [_by_word(random, number, _ENGLISH, "en") for number in range(len(ENGLISH))],
        [Known(fact, question, "meaning", "en") for fact, question in ENGLISH],
        [_by_word(random, number, _CHINESE, "zh") for number in range(len(CHINESE))],
        [Known(fact, question, "meaning", "zh") for fact, question in CHINESE],
    ]
    return list(chain.from_iterable(zip(*lists, strict=True)))


def _by_word(random: Random, number: int, patterns: list[tuple[str, str]], language: Literal["en", "zh"]) -> Known:
    """Many are alike but for the number: so are people's orders, cases and devices."""
    fact, question = patterns[number % len(patterns)]
    id = f"{random.choice('KQRTVX')}{random.choice('BDFHJ')}-{random.randint(10_000, 99_999)}"
    thing = random.choice(_THINGS[language].split())
    return Known(fact.format(id=id, thing=thing), question.format(id=id), "word", language)
