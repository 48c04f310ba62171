"""Facts that change, as people tell them: what was said first, what is said later, and the question in between.

Written by the same hand as the patterns that find them, and those were mended where these failed: the figures say that what is
meant to be covered is, not how much of what people say is covered. Every family has several wordings for the news, values are
dealt out so that no two cases are alike, and each also comes as a dated pair that arrives in the wrong order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, pairwise


@dataclass(frozen=True)
class Update:
    family: str
    old: str
    new: str
    question: str
    old_value: str
    new_value: str


_CITIES = (
    "Paris Berlin Oslo Madrid Lisbon Vienna Prague Dublin Athens Warsaw Toronto Chicago Denver Kyoto Nairobi".split()
)
_FIRMS = "Siemens Google Nokia Philips Adobe Oracle Spotify Lufthansa Bosch Ericsson Airbus Heineken".split()
_TIMES = "9 10 11 9:30 10:15 2pm 3pm 4:30pm 8am 7:45".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
_DATES = "March 3,April 12,May 20,June 8,July 15,October 2,November 30".split(",")
_NAMES = "Ana Bruno Clara Dana Emil Fatima Georg Hana Ivan Julia".split()
_COLOURS = "blue green red yellow purple orange black".split()
_FOODS = "sushi pizza ramen curry tacos lasagna falafel".split()
_MONEY = "$900 $950 $1200 $1350 $2000 $2400".split()
_COUNTS = "two three four five six seven".split()
_HAN_CITIES = "北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆".split()
_HAN_FIRMS = "华为 腾讯 百度 小米 京东 美团 字节跳动 比亚迪".split()
_HAN_TIMES = "上午9点 上午10点 下午2点 下午3点 晚上7点 晚上8点".split()
_HAN_DAYS = "周一 周二 周三 周四 周五".split()
_HAN_NAMES = "李明 王芳 张伟 刘洋 陈静 杨帆".split()
_HAN_COLOURS = "蓝色 绿色 红色 黄色 紫色 黑色".split()
_HAN_COUNTS = "一 两 三 四 五 六".split()

# family: first wording, later wordings, question, values. {0} is the value, {1} the subject, where there are several.
_FAMILIES: list[tuple[str, str, list[str], str, list[str], list[str]]] = [
    ("home", "I live in {0}", ["I moved to {0}", "I now live in {0}", "I've just moved to {0}.", "I live in {0} now"],
     "Where do I live?", _CITIES, [""]),
    ("home of others", "{1} lives in {0}", ["{1} moved to {0}", "{1} lives in {0} now"], "Where does {1} live?", _CITIES,
     ["My sister", "Emil", "My best friend", "Grandma"]),
    ("work", "I work at {0}", ["I work at {0} now", "I joined {0}", "I started working at {0}", "I now work for {0}"],
     "Where do I work?", _FIRMS, [""]),
    ("time", "The {1} is at {0}", ["The {1} is at {0}", "{1} moved to {0}", "The {1} is now at {0}",
     "The {1} has been moved to {0}",
     "The {1} was rescheduled to {0}"], "When is the {1}?", _TIMES, ["standup", "team lunch", "yoga class", "budget review"]),
    ("day", "The {1} is on {0}", ["The {1} is on {0}", "The {1} has been moved to {0}", "{1} is now on {0}"],
     "Which day is the {1}?", _DAYS, ["weekly sync", "piano lesson", "garbage pickup"]),
    ("deadline", "The deadline for the {1} is {0}", ["The deadline for the {1} is now {0}", "The deadline for the {1} is {0}",
     "The deadline for the {1} has been extended to {0}"], "What is the deadline for the {1}?", _DATES,
     ["report", "grant proposal"]),
    ("favourite", "My favourite {1} is {0}", ["My favourite {1} is {0}", "My favourite {1} is now {0}",
     "My favorite {1} is {0} these days"], "What is my favourite {1}?", _FOODS, ["food", "dish"]),
    ("colour", "My {1} is {0}", ["My {1} is {0} now", "My {1} is {0}"], "What colour is my {1}?", _COLOURS,
     ["car", "bike", "front door"]),
    ("person", "My {1} is {0}", ["My {1} is {0}", "My {1} is {0} now", "My new {1} is {0}"], "Who is my {1}?", _NAMES,
     ["boss", "dentist", "landlord"]),
    ("price", "My {1} is {0}", ["My {1} is now {0}", "My {1} is {0}", "My {1} increased to {0}"], "How much is my {1}?", _MONEY,
     ["rent", "salary", "monthly budget"]),
    ("count", "I have {0} {1}", ["I have {0} {1} now", "I now have {0} {1}", "I have {0} {1}"], "How many {1} do I have?",
     _COUNTS, ["cats", "bikes", "houseplants"]),
    ("habit", "I go to {1} {0} times a week", ["I go to {1} {0} times a week", "I now go to {1} {0} times a week"],
     "How often do I go to {1}?", _COUNTS, ["the gym", "yoga"]),
    ("住处", "我住在{0}", ["我搬到{0}了", "我现在住在{0}", "我搬去{0}了"], "我住在哪里？", _HAN_CITIES, [""]),
    ("工作", "我在{0}工作", ["我现在在{0}工作", "我跳槽到{0}了", "我在{0}上班"], "我在哪里工作？", _HAN_FIRMS, [""]),
    ("时间", "{1}是{0}", ["{1}改到{0}了", "{1}改成{0}", "{1}推迟到{0}", "{1}是{0}"], "{1}是几点？", _HAN_TIMES,
     ["例会", "瑜伽课", "钢琴课"]),
    ("星期", "{1}在{0}", ["{1}改到{0}了", "{1}在{0}"], "{1}在星期几？", _HAN_DAYS, ["周会", "英语课"]),
    ("最爱", "我最喜欢的颜色是{0}", ["我最喜欢的颜色是{0}", "我最喜欢的颜色变成{0}了"], "我最喜欢什么颜色？", _HAN_COLOURS, [""]),
    ("人", "我的{1}是{0}", ["我的{1}是{0}", "我的{1}换成{0}了"], "我的{1}是谁？", _HAN_NAMES, ["老板", "导师"]),
    ("数量", "我有{0}只{1}", ["我有{0}只{1}", "我现在有{0}只{1}"], "我有几只{1}？", _HAN_COUNTS, ["猫", "鹦鹉"]),
]  # fmt: skip

DENIALS = [
    ("I like coffee", "I don't like coffee anymore", "Do I like coffee?"),
    ("I eat meat", "I no longer eat meat", "Do I eat meat?"),
    ("I am vegetarian", "I'm not vegetarian anymore", "Am I vegetarian?"),
    ("I drink alcohol", "I stopped drinking alcohol", "Do I drink alcohol?"),
    ("We use Jenkins", "We no longer use Jenkins", "Do we use Jenkins?"),
    ("I play tennis", "I don't play tennis anymore", "Do I play tennis?"),
    ("我喜欢咖啡", "我不再喜欢咖啡了", "我喜欢咖啡吗？"),
    ("我吃肉", "我不再吃肉了", "我吃肉吗？"),
    ("我喝酒", "我不再喝酒了", "我喝酒吗？"),
]


def updates(each: int = 20) -> Iterator[Update]:
    """`each` cases of every family, and the denials."""
    for family, first, later, question, values, subjects in _FAMILIES:
        told, news, whom = cycle(values), cycle(later), cycle(subjects)
        before = next(told)
        for value in islice(told, each):
            subject, wording = next(whom), next(news)
            yield Update(
                family,
                first.format(before, subject),
                _sentence(wording.format(value, subject)),
                question.format("", subject),
                before,
                value,
            )
            before = value
    for old, new, question in DENIALS:
        yield Update("denial", old, new, question, old, new)


def several() -> Iterator[tuple[str, str]]:
    """Pairs of which both stay true, however alike they are: neither may go."""
    likes = [
        ("I like {}", _FOODS), ("My friend {} lives nearby", _NAMES), ("I have been to {}", _CITIES), ("I met {} today", _NAMES),
        ("我去过{}", _HAN_CITIES), ("我喜欢{}", _HAN_COLOURS), ("{}喜欢茶", _HAN_NAMES), ("I also work at {}", _FIRMS),
        ("I ran {} km yesterday", _COUNTS), ("I have a call at {}", _TIMES), ("{} lives in Rome", _NAMES),
        ("I bought {} books", _COUNTS), ("My sister {} called", _NAMES), ("I am allergic to {}", _FOODS),
        ("The {} meeting is at 9", _NAMES),
    ]  # fmt: skip
    for form, values in likes:
        for a, b in pairwise(values):
            yield form.format(a), form.format(b)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
