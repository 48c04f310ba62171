"""The one text analysis: both stores, the shelf and every query see the same terms.

A term consists of letters, digits and `_` only, all within the Basic Multilingual Plane and at most 64
characters long, so that SQLite's FTS5 (unicode61, tokenchars '_') and a Postgres tsvector literal take it
unchanged:

- English words are folded and stemmed; words of other alphabets are folded;
- scripts written without spaces become characters and character pairs, which find more than segmented words;
- identifiers, addresses, versions and paths (`user_id`, `a@b.co`, `v1.2.3`, `getUserName`) give their parts
  and one joined term, so an exact quote outranks a loose one;
- emoji and everything beyond the Basic Multilingual Plane become hexadecimal terms such as `u1f389`.

Analysis is total: it accepts every `str`, lone surrogates included, and one text always gives the same terms.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from operator import add

from recollect.policy.stems import stem
from recollect.policy.stopwords import CHINESE_CHARACTERS, CHINESE_WORDS, ENGLISH

MAX_TERM = 64

_MARKS = re.compile(
    "[" + "".join(c for c in map(chr, range(0x300, 0xFFFF)) if unicodedata.category(c).startswith("M")) + "]"
)
_ASTRAL = "\U00010000-\U0010ffff"
_UNSPACED = (  # Thai, Lao, Burmese, Khmer, kana, Han, Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
_WORD = rf"[^\W{_UNSPACED}{_ASTRAL}]+"
_TOKEN = re.compile(
    rf"(?<!\w)[a-zA-Z](?:\+\+|\#)(?!\w)"
    rf"|{_WORD}(?:(?:[-.@/:'’\\]|(?<=\d),(?=\d{{3}}(?!\d))){_WORD})*"
    rf"|(?:(?=[{_UNSPACED}])[^\W_])+"
    rf"|[\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff{_ASTRAL}]"
)
_RUN_START = re.compile(f"[{_UNSPACED}]")
_APOSTROPHE = re.compile(r"['’](?:(?:[sdm]|ll|ve|re)(?!\w))?", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FUNCTION = re.compile(
    "|".join(sorted(CHINESE_WORDS, key=len, reverse=True)) + f"|[{''.join(sorted(CHINESE_CHARACTERS))}]"
)
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_CITATION = re.compile(r"\[(?:\d+(?:\s*[-–,]\s*\d+)*|citation needed|source:[^\[\]]*)\]|【[^【】]*】", re.I)


def analyse(text: str) -> list[str]:
    """Every index term of `text`, in reading order."""
    terms: list[str] = []
    for token in _TOKEN.findall(_compatible(text)):
        terms += _token_terms(token)
    return terms


def runs(text: str) -> list[str]:
    """The terms of `text` in stretches that are adjacent wherever a longer text contains it, each joined by spaces.

    A longer run of characters has other pairs than its part, so of unspaced scripts only the characters count.
    """
    found: list[list[str]] = [[]]
    for token in _TOKEN.findall(_compatible(text)):
        if _RUN_START.match(token):
            found += [[*token], []]
        else:
            found[-1] += _token_terms(token)
    return [" ".join(run) for run in found if run]


def query_terms(text: str, or_all: bool = True) -> list[str]:
    """The distinct terms of a query that carry its subject; all of them, unless told otherwise, when none does."""
    kept = [
        term
        for token in _TOKEN.findall(_compatible(text))
        if _bare(token) not in ENGLISH
        for term in _token_terms(token)
        if not _is_function_gram(term)
    ]
    return list(dict.fromkeys(kept or (analyse(text) if or_all else ())))


def subject_terms(text: str) -> list[str]:
    """The terms of `query_terms` that a text about the same subject would hold.

    A pair of characters half of which is a particle ("妈什" of 姑妈什么时候到) belongs to the wording of one question only, and
    so do the characters of function words. English words are the same either way.
    """
    return query_terms(_FUNCTION.sub(" ", _compatible(text)), or_all=False)


def keywords(text: str) -> list[str]:
    """The words a reader would underline, as they are written, in reading order and without repeats."""
    found: dict[str, str] = {}
    for token in _TOKEN.findall(_compatible(text)):
        for word in _segment(token) if _RUN_START.match(token) else [_APOSTROPHE.sub("", token).strip("_")]:
            folded = word.casefold()
            if folded and folded not in ENGLISH | CHINESE_WORDS | CHINESE_CHARACTERS:
                found.setdefault(folded, word)
    return list(found.values())


def normalise(text: str) -> str:
    """The form in which texts are compared: lower case, no links, no citations, single spaces."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return " ".join(_CITATION.sub(" ", _URL.sub(" ", plain)).split())


def _compatible(text: str) -> str:
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKC", text))


def _token_terms(token: str) -> tuple[str, ...]:
    # Long tokens stay out of the cache: its size is counted in entries, so they could fill the memory.
    return _word_terms(token) if len(token) <= MAX_TERM and token < "\u0e00" else _uncached_terms(token)


def _uncached_terms(token: str) -> tuple[str, ...]:
    if _RUN_START.match(token):
        return (*token, *map(add, token, token[1:]))
    if len(token) == 1 and (token > "\uffff" or not token.isalnum()):
        return (f"u{ord(token):x}",)
    return _word_terms.__wrapped__(token)


@lru_cache(maxsize=32768)
def _word_terms(token: str) -> tuple[str, ...]:
    if token[-1] in "+#":
        return _fold(token[0]), _fold(token[0]) + ("_sharp" if token[-1] == "#" else "_pp")
    terms: list[str] = []
    chunks = [chunk for chunk in _SEPARATOR.split(_APOSTROPHE.sub("", token).replace(",", "")) if chunk]
    for chunk in chunks:
        humps = [folded for hump in _HUMP.split(chunk) if (folded := _fold(hump))]
        terms += [_bounded(stem(hump) if hump.isascii() else hump) for hump in humps]
        if len(humps) > 1:
            terms.append(_bounded("".join(humps)))
    if len(chunks) > 1:
        terms.append(_bounded("_".join(filter(None, map(_fold, chunks)))))
    return tuple(terms)


def _fold(word: str) -> str:
    """Case and, in Latin script, accents removed; whatever a term may not hold is dropped."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    latin = folded[0] < "\u0370"
    plain = unicodedata.normalize("NFKD", folded) if latin else unicodedata.normalize("NFKC", folded)
    return "".join(c for c in plain if c.isalnum() and c <= "\uffff")


def _bounded(term: str) -> str:
    if len(term) <= MAX_TERM:
        return term
    return f"{term[: MAX_TERM - 17]}_{blake2b(term.encode(), digest_size=8).hexdigest()}"


def _bare(token: str) -> str:
    return _APOSTROPHE.sub("", token).casefold()


def _is_function_gram(term: str) -> bool:
    """Chinese characters and pairs without a subject of their own."""
    return term >= "\u3400" and (term in CHINESE_WORDS or CHINESE_CHARACTERS.issuperset(term))


def _segment(run: str) -> list[str]:
    import rjieba  # the dictionary takes a tenth of a second to load; only keyword extraction needs it

    return rjieba.cut(run)
