"""How much a question leans on the conversation before it, read off its own words alone.

A question leans when something in it points outside: a pronoun with nobody in the question to stand for, "that" or
"the second one", a fragment ("and in May?", "那上海呢？"), or hardly anything to search for. Each such cue has a
strength; the strongest decides. What is asked of one's own memory mostly stands alone ("Where did I park?", "When
did Ana move?"), so a first person or a name weakens every cue but those that name nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.policy.stopwords import ENGLISH

LEANS = 0.5
"""From this strength on a question is read with the conversation; below it, as it stands."""
LONGEST = 400
HAN = re.compile("[\u3400-\u9fff]")

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PRONOUNS = {
    word: kind
    for kind, words in {
        "person": "he him his himself he's she her hers herself she's",
        "it": "it its itself it's",
        "they": "they them their theirs themselves they're",
    }.items()
    for word in words.split()
}
_SUBJECTS = frozenset({"he", "he's", "she", "she's", "they", "they're"})
_POSSESSIVE = frozenset({"his", "her", "its", "their"})
_OPENING = re.compile(
    r"^\W*(?:(?:ok|okay|so|and|but|or|then|also|well)\W+)*(?:(?:what|how)\s+(?:about|of|if)\b|(?:and|but|or)\s)",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"^\W*(?:in|on|at|for|from|with|by|after|before|since|until|during|to|of|about|only|not|why not|as for)\b",
    re.IGNORECASE,
)
_DUMMY = re.compile(
    r"\b(?:what (?:time|day|date|year) is it|(?:is|was|would|does|did|how long (?:does|did|will)) it (?:\w+ )?"
    r"(?:true|possible|safe|okay|ok|worth|important|likely|necessary|normal|better|easy|hard|difficult|rain\w*|snow\w*"
    r"|take|takes)\b|it (?:is|was|takes|took)\b.* (?:to|that)\b|make it|(?:what|how) (?:is|was|does) it (?:like|feel) )",
    re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(
    r"\b(?:this|these)\b(?! (?:week|month|year|morning|afternoon|evening|weekend|summer|winter|spring|autumn|fall|season"
    r"|time|days|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december))|\bthose\b(?! (?:who|of|that|which|with|in|i|we|you))"
    r"|\b(?:in|at|on|about|after|before|with|from|for|of|by|like|during|to|is|was|were|are|did|does|do|has|had|can|could"
    r"|would|will|should|why|how|when|where|do|doing|all|despite|except) that\b(?! (?:i|we|you|he|she|it|they|my|the)\b)"
    r"|^\W*that\b|\bthat\b(?=\W*$)|\bthat (?:one|time|day|year|happen\w*)\b",
    re.IGNORECASE,
)
_PICK = re.compile(
    r"\bthe (?:\w+ )?(?:first|second|third|fourth|last|other|latter|former|next|previous|same|similar)(?: ones?)?(?=\W*$)"
    r"|\bthe (?:former|latter|other one|same one)\b|\b(?:which|what|the \w+|other|another|any|similar|different) ones?\b(?! of)"
    r"|\b(?<!is )(?<!are )(?<!was )(?<!were )there(?=\W*$)|\b(?:back )?then(?=\W*$)|\bsuch (?:an? )?\w+(?=\W*$)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:else|besides|other than|instead|as well|too(?=\W*$)|(?:any|some|what|which|the) others?|another|more about"
    r"|(?:anything|something) (?:interesting|more)|tell me more|more details?|also|similar)\b",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|our|us|myself)\b", re.IGNORECASE)
_DEFINING = re.compile(r"^\W*(?:what|who)(?:['’]s| is| are) (?:an? )?(?!the )\w+(?: \w+)?\W*$", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;:.?!]|\b(?:and|but|or|when|while|that|if|because|before|after|since|as|who|which|where|so|to|until|for|of|in|on"
    r"|about|with|from|at)\b",
    re.IGNORECASE,
)
_PEOPLE = frozenset(
    "mother mom mum father dad parents sister brother wife husband daughter son kids children friend friends boss colleague"
    " girl boy man woman person people teacher doctor aunt uncle cousin grandma grandpa grandmother grandfather neighbor"
    " neighbour partner girlfriend boyfriend someone anyone everyone who baby couple family".split()
)
_GENERIC = frozenset(
    "happen happened happens happening called name named think know mean means work works did famous important interesting"
    " information details reason result results year years time date place people article cause caused causes find found"
    " use used different difference win won start started end ended long old big popular good best main".split()
)


class Leaning(NamedTuple):
    """0 for a question that stands alone, up to 1 for one that says next to nothing itself; and the cue it shows by."""

    strength: float
    reason: str = ""


def leaning(text: str) -> Leaning:
    if text.count("\n") > 1 or len(text) > LONGEST:
        return Leaning(0.0)  # a whole dialogue or document brings its own context
    cues = _chinese(text) if HAN.search(text) else _english(text)
    return max(cues, key=lambda cue: cue.strength, default=Leaning(0.0))


def _english(text: str) -> Iterator[Leaning]:
    words = _WORD.findall(text)
    content = [word for word in words if _plain(word) not in ENGLISH]
    own = bool(_SELF.search(text))
    named = any(word[0].isupper() or word[0].isdigit() for word in content if word is not words[0])
    long = 0.5 if len(content) > 9 else 1.0
    weak = 0.5 if named or own else long
    yield _pronoun(text, long)
    if _OPENING.search(text):
        yield Leaning(0.95 if len(content) <= 4 else 0.6 * weak, "opening")
    elif _FRAGMENT.search(text) and len(words) <= 5 and not own:
        yield Leaning(0.8, "fragment")
    if _DEMONSTRATIVE.search(text):
        yield Leaning(0.8 if len(content) <= 2 else 0.8 * weak, "demonstrative")
    if _PICK.search(text):
        yield Leaning(0.7 * weak, "pick")
    if _MORE.search(text):
        yield Leaning(0.7 * weak, "more")
    if not content:
        yield Leaning(0.9, "bare")
    elif not own and not named and not _DEFINING.search(text):
        telling = sum(_plain(word) not in _GENERIC for word in content)
        yield Leaning((0.9, 0.7, 0.6, 0.5 if " the " in text else 0.4, 0.0)[min(telling, 4)], "thin")


def _pronoun(text: str, weight: float) -> Leaning:
    """The first pronoun decides: those after it mostly mean the same."""
    rest = _DUMMY.sub(lambda match: " " * len(match[0]), text)
    for match in _WORD.finditer(rest):
        word = match[0].casefold().replace("’", "'")
        if word in _PRONOUNS:
            bound = _is_bound(word, rest[: match.start()], rest[match.end() :])
            return Leaning((0.3 if bound else 0.9) * weight, f"pronoun:{word}")
    return Leaning(0.0)


def _is_bound(pronoun: str, before: str, after: str) -> bool:
    """Whether the question itself holds what the pronoun stands for.

    A subject is never what the object of its own clause means ("Why did Ana call her?"), so an object needs a clause
    of its own to point back from; "his" does not, and "he" opens one.
    """
    opens = pronoun in _SUBJECTS or (pronoun in _POSSESSIVE and re.match(r" \w", after))
    reach = before if opens else before[: max((match.start() for match in _CLAUSE.finditer(before)), default=0)]
    words = _WORD.findall(reach)
    content = [word for word in words if _plain(word) not in ENGLISH]
    if any(word[0].isupper() for word in content if word is not words[0]) or any(_plain(w) in _PEOPLE for w in content):
        return _PRONOUNS[pronoun] != "it" or len(content) > 1
    if _PRONOUNS[pronoun] == "person":
        return bool(re.search(r"\b[A-Z]\w+['’]s", before))
    return bool(content)


def _plain(word: str) -> str:
    return re.sub(r"['’](?:s|m|d|ll|ve|re)?", "", word.casefold())


def tagged(text: str) -> list[tuple[str, str]]:
    """Chinese words with their parts of speech."""
    import rjieba  # the dictionary takes a tenth of a second to load, and not every conversation is Chinese

    return rjieba.tag(text.encode("utf-8", "replace").decode())


_ZH_PRONOUN = re.compile(
    r"[他她它](?!人|乡)|其中|这(?=[是就也都不能怎有要才可还会什么的，,？?！!。 ]|$)|^那(?!么|时|天|年|个|我)"
    r"|(?<![的了那我你])[这那][个部首本种款位场家些只张句篇道集次段支件条座](?!月|人|时候|星期|礼拜|周)|这[里儿样么]|那[里儿边样]"
)
_ZH_PICK = re.compile(
    r"(?:第[一二三四五六七八九十两]|前|后|另一?|上一?|下一?|最后一?)[个种款位本部首](?!月|星期|礼拜|周|人)"
)
_ZH_OPENING = re.compile(r"^(?:那么?|还有|然后|不过|但是|可是|所以|而且|为什么|怎么|为啥|哪里|哪个|谁|什么|多少)")
_ZH_TRAILING = re.compile(r"呢\W*$")
_ZH_NOUNS = ("n", "eng", "i", "l", "j", "t", "s")
_ZH_SELF = re.compile(
    "我|咱|[爸妈爷奶姐妹哥弟舅姑姨叔婶伯嫂]{2}|[舅姑姨]妈|[表堂][姐妹哥弟]|老[公婆师板]|上司|下属|同事|邻居|朋友"
)


def _chinese(text: str) -> Iterator[Leaning]:
    words = [(word, tag) for word, tag in tagged(text) if tag != "x"]
    size = sum(len(word) for word, _ in words)
    own = bool(_ZH_SELF.search(text))
    if match := _ZH_PRONOUN.search(text):
        bound = any(tag.startswith("n") and text.find(word) < match.start() for word, tag in words)
        bound |= size > 12 and any(tag == "nr" for _, tag in words)
        yield Leaning(0.9 if not bound else 0.6 if size <= 10 and not own else 0.3, "pronoun")
    if _ZH_PICK.search(text) and size <= 10:
        yield Leaning(0.95 if not own else 0.4, "pick")
    if _ZH_TRAILING.search(text) and size <= 8:
        yield Leaning(0.95, "fragment")
    if _ZH_OPENING.search(text) and size <= 8:
        yield Leaning(0.7, "opening")
    if not any(tag.startswith(_ZH_NOUNS) and len(word) > 1 for word, tag in words):
        yield Leaning(0.4 if own and size > 8 else 0.8, "thin")
    elif size <= 10 and not own:
        yield Leaning(0.6, "short")
