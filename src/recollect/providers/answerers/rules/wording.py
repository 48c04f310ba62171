"""A question as rules read it: each takes the words it understands out of it, and what is left at the end was not understood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Words that carry nothing once the others are understood.
_ENGLISH = """
    a about again all among an and any are as at be been by can corresponding could d data did display do does each figure
    figures find for from get give had has have here how i id if in instead is it its itself just let like list look ll m me much
    need new no now of ok okay on one ones only other out over please query question re report result results return s
    same see should show so table tell than that the their them then there these they this those time to too us
    using value values want was we well were what which who whose will with would you your
""".split()
_CHINESE = """
    请问 请 麻烦 帮我 给我 给出 告诉我 告诉 我想知道 我想看 我想 想知道 想看 我要 我 你 能不能 能 可以
    只看 只要 只统计 只考虑 仅看 只 看看 看 一下 那么 那 呢 吧 吗 啊 呀 的话 如果 要是 换成 改成 改为 变成 换 再 也
    还是 又 结果 情况 怎么样 怎样 如何 是多少 多少 是什么 什么 是哪些 哪些 哪个 分别 是 有 这些 那些 它们 他们 这 其 其中
    想 知道 给 帮 要 我们 一 下 对应 相关 数据 信息 列出来 列出 显示 展示 一起 同样 在 于 为 和 与 及 并且 并
    把 将 按照 按 的 了 年份 个 名 位
""".split()
_CHINESE_WORDS = frozenset(_CHINESE)
_CHINESE_PHRASES = re.compile("|".join(sorted((each for each in _CHINESE if len(each) > 2), key=len, reverse=True)))
_CJK = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_TAKEN = "\x00"

NUMBERS = {
    **{word: at for at, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)},
    **{word: at for at, word in enumerate("一二三四五六七八九十", 1)},
    "两": 2,
    "零": 0,
}
_TENS = {"十": 10, "百": 100, "千": 1000}
_ENGLISH_NUMBERS = "|".join(word for word in NUMBERS if word.isascii())
NUMBER = rf"(?:\d{{1,9}}(?:,\d{{3}})*(?:\.\d+)?|{_ENGLISH_NUMBERS}|[零一二两三四五六七八九十百千]+)"


def number(text: str) -> float | int:
    plain = text.replace(",", "")
    if plain in NUMBERS:
        return NUMBERS[plain]
    if plain[0] in NUMBERS or plain[0] in _TENS:
        return _chinese_number(plain)
    return float(plain) if "." in plain else int(plain)


def _chinese_number(text: str) -> int:
    """`三百二十` and its like, below ten thousand; what stands above is a unit of its own."""
    total = digit = 0
    for char in text:
        if char in _TENS:
            total += max(digit, 1) * _TENS[char]
            digit = 0
        else:
            digit = NUMBERS[char]
    return total + digit


class Wording:
    """`text` is folded for matching; `raw` is the same, character by character, as it was written."""

    def __init__(self, question: str) -> None:
        self.raw = unicodedata.normalize("NFKC", question)
        self.text = "".join(char.lower() if len(char.lower()) == 1 else char for char in self.raw)

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first place where it fits, taken out of what is left."""
        found = re.search(pattern, self.text)
        if found is not None:
            self._blank(*found.span())
        return found

    def take_at(self, start: int, end: int) -> None:
        self._blank(start, end)

    def take_all(self, pattern: str) -> Iterator[re.Match[str]]:
        while (found := self.take(pattern)) is not None:
            yield found

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def written(self, start: int, end: int) -> str:
        return self.raw[start:end]

    def left(self, known: frozenset[str] = frozenset()) -> str:
        """The words nobody took, apart from filler and from `known` ones."""
        rest = _CHINESE_PHRASES.sub(" ", self.text.replace(_TAKEN, " "))
        # Cut into words first: 在 and 位 say nothing, 在位 says that somebody reigns.
        cut = _CJK.sub(lambda run: f" {' '.join(_words(run[0]))} ", rest)
        skipped = _FILLER | _CHINESE_WORDS | known
        return " ".join(word for word in _WORD.findall(cut) if word not in skipped)

    def _blank(self, start: int, end: int) -> None:
        self.text = self.text[:start] + _TAKEN * (end - start) + self.text[end:]


_FILLER = frozenset(_ENGLISH)


def _words(run: str) -> list[str]:
    import rjieba  # the dictionary takes a tenth of a second to load, and not every question is Chinese

    return rjieba.cut(run)


def bounded(pattern: str) -> str:
    """Whole words, where words have ends: Chinese runs on."""
    return rf"(?<![a-z0-9_])(?:{pattern})(?![a-z0-9_])"
