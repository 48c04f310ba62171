"""Two hundred questions whose one answer is known: half share a rare word with it, half only its meaning; English and Chinese.

Forty more have no answer at all: whoever returns ten notes to those, too, leaves it to the reader to notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Literal

from bench.paraphrases import CHINESE, ENGLISH

UNANSWERED = [
    "What is my blood type?", "Who won the election in Iceland?", "How much does a kilo of saffron cost?",
    "When does the museum of glass open?", "Which opera did we hear in Verona?", "What is the capital of Bhutan?",
    "How tall is the oak behind the mill?", "Who painted the ceiling of the chapel?", "What is my passport's expiry?",
    "Which satellite was launched from Kourou?", "How do you fold a paper crane?", "What is the boiling point of mercury?",
    "Who is the goalkeeper of the village team?", "Which perfume does my aunt wear?", "How deep is the old quarry?",
    "When was the printing press invented?", "What colour is the ambassador's tie?", "Which comet is visible tonight?",
    "How many strings has a sitar?", "Who composed the anthem of Chile?",
    "我的血型是什么？", "冰岛的选举谁赢了？", "一公斤藏红花多少钱？", "玻璃博物馆几点开门？", "我们在维罗纳听了哪部歌剧？",
    "不丹的首都在哪里？", "磨坊后面的橡树有多高？", "教堂的天顶是谁画的？", "我的护照什么时候到期？", "哪颗卫星从库鲁发射？",
    "纸鹤怎么折？", "水银的沸点是多少？", "村队的守门员是谁？", "姨妈用哪种香水？", "旧采石场有多深？",
    "印刷术是什么时候发明的？", "大使的领带是什么颜色？", "今晚能看到哪颗彗星？", "西塔琴有几根弦？", "智利国歌是谁作曲的？",
]  # fmt: skip


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
    "en": "dishwasher router lamp kettle heater bicycle printer freezer camera drill fan scale toaster mixer radio sander tuner",
    "zh": "洗碗机 路由器 台灯 水壶 取暖器 自行车 打印机 冰箱 相机 电钻 风扇 体重秤 烤面包机 搅拌机 音箱 砂光机 调谐器",
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
    """Many are alike but for the number: so are people's orders, cases and devices. No thing has two serial numbers."""
    fact, question = patterns[number % len(patterns)]
    id = f"{random.choice('KQRTVX')}{random.choice('BDFHJ')}-{random.randint(10_000, 99_999)}"
    things = _THINGS[language].split()
    thing = things[number // len(patterns) % len(things)]
    return Known(fact.format(id=id, thing=thing), question.format(id=id), "word", language)
