"""Chinese sentences, read for what they state (`policy.slots`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recollect.policy.names import entities
from recollect.policy.slots import Holds, Statement, alike_chinese, states
from recollect.policy.slots.chinese_values import COUNT, DATE, TIME, digits, number

_UNIT = r"(?:元|块钱|块|美元|欧元|公斤|斤|千克|克|公里|千米|米|厘米|cm|kg|小时|分钟|秒|天|周|个月|年|岁|人|平米|平方米|%|度)"
AMOUNT = rf"(?:[¥$€]?{COUNT}[百千万亿]*{_UNIT}?)"
_COLOUR = r"(?:深|浅)?(?:红|蓝|绿|黄|黑|白|灰|棕|橙|紫|粉|银|金)色?"
_LEAD = re.compile(
    r"^(?:其实|对了|更正一下|更正|更新一下|更新|顺便说一下|请记住|记住|记得|另外说明|从现在起|从今天起|以后|注意)[,:，：]?"
)
_TAIL = re.compile(r"(?:了|啦|呢|吧|哦|啊|的)+$")
_NEWS = re.compile(
    r"现在|目前|如今|改[到成为]|换[成到了]|变成|变为|搬|推迟到|提前到|延期?到|迁|调整|挪到|移到|不再|已经|刚|更正|更新|戒|跳槽|入职|新的?|从[今现]"
)
_NOWADAYS = re.compile(r"^(?:现在|目前|如今)的?|现在|目前|如今")
_MORE = re.compile(r"也|还(?!是)|另外|又|同时|有时|偶尔|兼职|其中一个|之一")
_PAST = re.compile(
    r"以前|曾经|之前|过去|去年|昨天|上周|上个月|前天|当时|小时候|打算|计划|想要|可能|如果|将要|准备|明天|过了?$|吗|什么|谁|怎么|哪"
)
_WHO = r"(?P<s>我们|我|[\u4e00-\u9fffA-Za-z的 ]{1,14}?)"
_NOW = r"(?:现在|目前|如今|已经|刚刚|刚|最近|还是|依然)*"

_LIVES = re.compile(
    rf"^{_WHO}{_NOW}(?P<verb>住在|居住在|定居在|定居|搬家到了?|搬到了?|搬去了?|搬回了?)(?P<v>[^,，]{{1,16}}?)(?:住|生活|居住)?$"
)
_WORKS = re.compile(
    rf"^{_WHO}{_NOW}在(?P<v>[^,，]{{1,20}}?)(?:工作|上班|任职|就职)$|^(?P<s2>我|[\u4e00-\u9fff]{{1,6}}?){_NOW}(?:入职了?|跳槽[到去]了?|加入了?|换到了?)(?P<v2>[^,，]{{1,20}}?)(?:公司|工作|上班)?$"
)
_NAMED = re.compile(r"^(?P<s>[^,，叫]{2,12}?)(?:的名字)?(?:叫做|名叫|叫)(?P<v>[^,，]{1,12})$")
_CALLED = re.compile(r"^(?:我的名字[是叫]|我叫|叫我)(?P<v>[^,，]{1,12})$")
_AGE = re.compile(rf"^{_WHO}{_NOW}(?:今年)?(?:是|满|刚满)?(?P<v>{COUNT})岁$")
_IS = re.compile(
    rf"^(?P<s>[^,，是在]{{1,20}}?){_NOW}(?P<verb>是在|是|在|改到|改成|改为|改在|换成|换到|变成|变为|推迟到|提前到|延期到|延到|调整到|调整为|挪到|迁移到|迁到|移到|部署在|运行在|位于|设在|定在|定于|安排在|安排到)"
    rf"(?:了)?(?P<v>[^,，]{{1,30}}?)(?:开始|举行|召开|开|进行|截止)?$"
)
_PLACED = frozenset("在 是在 改到 改在 挪到 移到 迁移到 迁到 部署在 运行在 位于 设在 安排在 定在".split())
_OWNS = re.compile(
    r"^(?P<v>[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)(?:现在|目前)?负责(?P<s>[^,，的了]{2,12})$"
    r"|^(?P<s2>[^,，]{2,12}?)(?:现在|目前|改)?(?:由|归)(?P<v2>[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)(?:来)?(?:负责|管)$"
)
_DOING = re.compile("(?:喜欢|喜爱|爱|讨厌|想|经常|常常|每天|总是)$")
_WORKING = re.compile("工作|上班|任职|就职|当")
_HAS = re.compile(
    rf"^{_WHO}{_NOW}(?:养了|有|拥有|养着)(?P<n>{COUNT})(?P<m>[个只条辆台本套位名间部张双件])(?P<v>[^,，]{{1,12}})$"
)
_LIKES = re.compile(
    rf"^{_WHO}{_NOW}(?P<no>不再|不|并不)?(?:很|非常|特别|特|最)?(?P<verb>喜欢|喜爱|爱|讨厌)(?P<v>[^,，的]{{1,14}})$"
)
_NOT = re.compile(r"不再|再也不|从不|从来不|没有|没|不|(?<!特)别|戒了?|停止了?|放弃了?")
_IDLE = re.compile(r"现在|目前|如今|已经|还|仍然|依然|很|非常|特别|特|了|再也|再|都|就|过|啦|的")
_LASTING = re.compile(r"喜欢|爱|讨厌|吃|喝|抽|会|能|是|有|用|说|住|工作|养|需要|想|支持|允许|相信|开|玩|学")
_PEOPLE = re.compile(
    r"(?:老板|经理|上司|领导|妻子|老婆|太太|丈夫|老公|女朋友|男朋友|未婚妻|未婚夫|爸爸|妈妈|父亲|母亲|导师|班主任|医生|房东)$"
)
"""Of whom much can be said; who it is says a name."""
_ONE_ONLY = re.compile(
    r"(?:名字|地址|邮箱|电话|电话号码|手机号|手机号码|密码|生日|职位|职务|专业|职业|公司|家乡|国籍|血型|学历|身高|体重|工资|房租|预算|首都|微信|微信号|微信名"
    r"|用户名|住址)$"
)
_NAME = re.compile(
    r"[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤]"
    r"(?:[\u4e00-\u9fff]{0,2}(?:大夫|医生|老师|总|经理|先生|女士|教授|主任)|[\u4e00-\u9fff]{1,2})"
)
_TITLES = ("大夫", "医生", "老师", "先生")
_TRADE = re.compile(r"[员师人长家工手生士兵官的]$")
_DESCRIBES = re.compile(r"^(?:做|个|一[个家名位]|在|搞|学|干|很|挺|非常)|[的人]$")
_FIRM = re.compile(
    r"^一?家|(?:公司|中学|小学|大学|学校|医院|中心|银行|集团|局|研究所|学院|厂|店|社|单位|工作室|部门|机构|餐厅|酒店)$|^京东$"
)


def read(sentence: str) -> Iterator[Statement]:
    plain = re.sub(r"\s+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+", "", sentence).strip(' .!。！,，"“”')
    news = bool(_NEWS.search(plain))
    text = _LEAD.sub("", plain)
    yield from states.read_chinese(text)
    if _MORE.search(text) or _PAST.search(text):
        return
    # Wherever it stands: "我现在最喜欢的水果" is the same one as before, and nothing is `在` something there.
    bare = _NOWADAYS.sub("", _TAIL.sub("", text))
    for each in (
        *_homes(bare),
        *_is(bare),
        *_has(bare),
        *_likes(bare),
        *_whether(text),
        *alike_chinese.read(bare),
        *_owned(bare),
    ):
        yield replace(each, changed=each.changed or news)


def _homes(text: str) -> Iterator[Statement]:
    if (match := _LIVES.match(text)) and (subject := _subject(match["s"])):
        yield Statement(f"{subject}|住", re.sub("[这那]个", "", match["v"]))
    elif (match := _WORKS.match(text)) and (subject := _subject(match["s"] or match["s2"])):
        value = _TAIL.sub("", match["v"] or match["v2"])
        if re.search("[做的是]", value):
            return
        yield Statement(f"{subject}|{'工作' if _is_firm(value) else '工作地'}", value)
    if match := _CALLED.match(text):
        yield Statement("我|名字", match["v"])
    elif (match := _NAMED.match(text)) and _PEOPLE.search(subject := _subject(match["s"])):
        yield Statement(f"{subject}|是", match["v"])


def _is(text: str) -> Iterator[Statement]:
    if match := _AGE.match(text):
        if subject := _subject(match["s"]):
            yield Statement(f"{subject}|岁", number(match["v"]))
        return
    match = _IS.match(text)
    if not match or not (subject := _subject(match["s"])) or subject in ("我", "我们") or _DOING.search(subject):
        return
    value, several = match["v"], re.match(r"[一每有]|某", match["s"])
    holds: Holds = "open" if several else "one"
    typed = list(_typed(value))
    for kind, told in typed:
        yield Statement(f"{subject}|{kind}", told, holds)
    if typed:
        return
    if re.search(r"最喜欢的|最爱的", match["s"]) or (match["verb"] not in ("在", "是在") and _is_one(subject, value)):
        yield Statement(f"{subject}|是", value)
    elif match["verb"] in _PLACED and len(value) <= 10 and not _WORKING.search(value):
        yield Statement(f"{subject}|在", value, "one" if _NEWS.search(text) else "open")


def _is_one(subject: str, value: str) -> bool:
    """Whether this says which one it is, and not what it is like."""
    if _PEOPLE.search(subject):
        return _NAME.fullmatch(value) is not None and (value[-2:] in _TITLES or not _TRADE.search(value))
    return _ONE_ONLY.search(subject) is not None and not _DESCRIBES.search(value) and not value.endswith(subject[-2:])


def _is_firm(value: str) -> bool:
    """One works for a firm and in a town: naming the one says nothing about the other."""
    places = "".join(each.text for each in entities(value) if each.kind == "place")
    return bool(_FIRM.search(value)) or places != value


def _owned(text: str) -> Iterator[Statement]:
    """Whoever is in charge may share it: another name asks, unless it speaks of a change."""
    if match := _OWNS.match(text):
        yield Statement(f"{match['s'] or match['s2']}|负责", match["v"] or match["v2"], "open")


def _has(text: str) -> Iterator[Statement]:
    if (match := _HAS.match(text)) and (subject := _subject(match["s"])):
        yield Statement(f"{subject}|数 {match['v']}", number(match["n"]))


def _likes(text: str) -> Iterator[Statement]:
    match = _LIKES.match(text)
    if match and (subject := _subject(match["s"])):
        averse = (match["verb"] == "讨厌") != bool(match["no"])
        if not averse and match["v"][0] != "在":  # where and when one likes to do what: there are as many as days
            yield Statement(f"{subject}|喜欢", match["v"], "many")
        yield Statement(f"是否|{subject}喜欢{match['v']}", "no" if averse else "yes")


def _whether(text: str) -> Iterator[Statement]:
    """A short sentence and its denial fill one slot."""
    if re.search(r"[,，\d一二三四五六七八九两十]", text):
        return
    negated = bool(_NOT.search(text))
    bare = _IDLE.sub("", _NOT.sub("", text))
    if not 3 <= len(bare) <= 16 or bare[0] in "这那他她它你":
        return
    gone = bool(re.search(r"不再|再也不|戒|停止|放弃", text))
    sure: Holds = "one" if gone or _LASTING.search(text) else "open"
    yield Statement(f"是否|{bare}", "no" if negated else "yes", sure, gone)


def _typed(value: str) -> Iterator[tuple[str, str]]:
    if match := re.fullmatch(rf"(?P<d>{DATE})的?(?P<t>{TIME})", value):
        yield "日", digits(match["d"])
        yield "时", digits(match["t"])
        return
    for kind, pattern in (
        ("时", TIME),
        ("日", DATE),
        ("色", _COLOUR),
        ("量", AMOUNT),
        ("址", r"\S+@\S+\.\w+|\+?[\d-]{7,}"),
    ):
        if re.fullmatch(pattern, value):
            yield kind, value.rstrip("色") if kind == "色" else digits(value)
            return


_MINE = re.compile(
    r"^(?:我们的|我的|咱们的|这个|那个|这次"
    r"|我(?=[表堂亲]?[爸妈爹娘哥姐弟妹叔姑舅姨婶伯爷奶孙侄]|父亲|母亲|外[公婆甥]|岳|老[公婆板师]|妻|丈夫|太太|儿子|女儿|[男女]朋?友|未婚"
    r"|同[事学]|上司|领导|经理|室友|邻居|下属|房东|导师|医生))"
)
"""Whose it is goes without saying: 我表弟 is 我的表弟."""
_NUMBER_OF = re.compile(r"(?:联系电话|电话号码?|(?P<mobile>手机)号码)$")


def _subject(text: str) -> str:
    subject = _MINE.sub("", text.strip())
    subject = _NUMBER_OF.sub(lambda match: "手机号" if match["mobile"] else "电话", subject)
    return "" if not subject or re.match(r"[这那他她它你谁]", subject) else subject
