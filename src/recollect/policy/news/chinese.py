"""Chinese sentences, taken apart for `policy.news`.

What a sentence is about are the pairs of characters before its verb of change or its copula; the words of the rest are its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.policy.news import Told, Value
from recollect.policy.slots.chinese import AMOUNT
from recollect.policy.slots.chinese_values import COUNT, DATE, TIME, digits
from recollect.policy.stopwords import CHINESE_CHARACTERS

LONGEST = 40
_TO = re.compile(
    r"(?P<verb>改(?:约|名)?[到成为叫用]|换[到成]|变[成为]|(?:推迟|提前|延期|延误|延长|延后|调整|上调|下调|升级|提高|增加|减少|降低|缩短)[到为至成]"
    r"|[涨降升瘦胖长减加调挪移搬转缩][到成]|(?:是|在|叫|姓|为|约在|定在|定于|安排在))(?:了)?"
)
_CHANGE = re.compile(
    r"现在|目前|如今|最近|改|换|变[成为]|推迟|提前|延[期误长后]|调整|上调|下调|升级|提高|[涨降升瘦胖减][到成了]|挪到|移到|搬|不再|已经|更正|更新|戒|跳槽"
    r"|入职|新的|新(?=老板|手机|号|地址|工作|女友|男友|领导|家)|转岗|转行|分手|卖了|离婚|出院|开始|这个月起|以后|从今|升(?=[任了到为级经主总三四五六])|涨"
)
_TURNED = re.compile(r"改|换|变[成为]|转岗|转行|升")
_ENDS = re.compile(
    r"不再(?P<a>[^,，]{1,8})|不(?P<b>[^,，是]{1,6})了|戒(?:掉)?了?(?P<c>[烟酒糖奶茶咖啡]{1,3})|把(?P<d>[^,，]{1,8}?)(?:卖|退|扔|送|丢)(?:掉)?了"
    r"|卖(?:掉)?了(?P<e>[^,，]{1,8})|[和跟与](?P<f>[^,，]{1,4})(?:分手|离婚)了?|从(?P<g>[^,，]{1,8}?)(?:离职|辞职|搬走|毕业)"
)
_MORE = re.compile(r"也|还(?!是)|另外|又|同时|有时|偶尔|兼职|之一|第二")
_PAST = re.compile(
    r"以前|曾经|之前|过去|去年|昨天|今天|上周|上个月|前天|当时|小时候|可能|如果|[去买读跑吃看]过|[去买跑]了|读完|吗|什么|谁|怎么|哪"
)
_PLANNED = re.compile("打算|计划|想去|想要|将要|准备|明天")
_KIN = re.compile(
    r"表[哥弟姐妹]|堂[哥弟姐妹]|哥哥|弟弟|姐姐|妹妹|爸爸|妈妈|父亲|母亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|儿子|女儿|孩子|老婆|老公|妻子|丈夫|女朋友|男朋友"
    r"|叔叔|阿姨|舅舅|姑姑|邻居|朋友|同事|同学|室友|[他她]们?|(?<=我)[爸妈哥姐弟妹]"
)
_IDLE = re.compile(
    r"现在|目前|如今|已经|最近|临时|刚刚|刚|这个月起|从今天起|其实|更正一下|更正|我把|给我|我的|我们的|我们|我|的|了|都|就"
)
_VALUE = re.compile(
    rf"(?P<contact>\d{{7,}})|(?P<time>{TIME})|(?P<date>{DATE})|(?P<amount>{AMOUNT}(?:[次只条辆台本个名位层楼级斤G号点度]|年级|楼层|房间)?|[A-Za-z]*\d+)"
)
_WITH_VERB = {"烟": "抽烟", "酒": "喝酒"}
_HAN = re.compile("[\u4e00-\u9fff]+")


def read(sentence: str) -> Told | None:
    text = re.sub(r"\s+", "", sentence).strip('.!。！,，"“”')
    if not text or len(text) > LONGEST or text.endswith(("?", "？")) or _MORE.search(text):
        return None
    over = tuple(_gone(text))
    changed = bool(over or _CHANGE.search(text))
    values = _values(text)
    head = _head(text)
    return Told(
        topic=_grams(_VALUE.sub("，", text)),
        head=head,
        whose=frozenset(_KIN.findall(text)) | (frozenset({"self"}) if "我" in text else frozenset()),
        values=values,
        frame=_frame(text) if values else "",
        named=_named(text),
        changed=changed,
        lasting=bool(re.search("[每有]", text)),
        turned=bool(_TURNED.search(text)),
        opening=(),
        gone=over,
        past=bool(_PAST.search(text)) and not over,
        planned=bool(_PLANNED.search(text)) and not over,
    )


def _gone(text: str) -> Iterator[tuple[frozenset[str], bool]]:
    for match in _ENDS.finditer(text):
        said = next(each for each in match.groups() if each)
        if words := _grams(_WITH_VERB.get(said, said)):
            yield words, True


def _named(text: str) -> frozenset[str]:
    """A number that opens a sentence says which thing is meant: 一班, G101."""
    match = _VALUE.match(_IDLE.sub("", text))
    return frozenset({match[0]}) if match and not match.string.startswith("不", match.end()) else frozenset()


def _values(text: str) -> tuple[Value, ...]:
    found: dict[str, str] = {}
    for match in _VALUE.finditer(_IDLE.sub("", text)):
        kind = match.lastgroup or ""
        if match.start() == 0:
            continue
        if kind == "amount" and not re.match("[A-Za-z]", match[0]):
            kind = "amount " + re.sub(rf"[\d.百千万亿¥$€]|{COUNT}", "", match[0])
        found.setdefault(kind, digits(match[0]))
    return tuple(found.items())


def _head(text: str) -> frozenset[str] | None:
    match = next((each for each in _TO.finditer(text) if each.start() > 0), None)
    return _grams(text[: match.start()]) if match else None


def _frame(text: str) -> str:
    plain = _IDLE.sub("", text)
    return _VALUE.sub(lambda match: "#" if match.start() else match[0], plain)


def _grams(text: str) -> frozenset[str]:
    """Pairs of neighbouring characters, of what carries a subject."""
    found = set()
    for run in _HAN.findall(_TO.sub("，", _IDLE.sub("，", _KIN.sub("，", text)))):
        found |= {run[at : at + 2] for at in range(len(run) - 1)}
    return frozenset(gram for gram in found if not CHINESE_CHARACTERS.issuperset(gram))
