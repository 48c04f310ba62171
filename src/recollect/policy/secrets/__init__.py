"""Secrets that people paste: keys, tokens, private keys, cards, passwords, PINs and one-time codes, in English and Chinese.

A memory that keeps one shows it to every later prompt, export and backup. So they are looked for before anything is stored. A
false alarm costs a word of somebody's memory, so nothing is taken for a secret by a single sign: a key has its issuer's prefix
or a name before it and looks random, a card number passes its checksum, a password is told as one and isn't a part of speech.

What is not seen: a secret that nothing names ("use correct horse battery staple"), and one split over several messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from recollect.policy import spans
from recollect.policy.secrets.shapes import (
    AWS_SECRET,
    BEARER,
    CARD_ISSUERS,
    CARD_SHAPES,
    DIGITS,
    ISSUED_KEYS,
    JWT,
    NAMED_KEY,
    ONE_TIME,
    PASSWORD_BARE,
    PASSWORD_CHINESE,
    PASSWORD_IN_URL,
    PASSWORD_OF_WORDS,
    PASSWORD_OPTION,
    PASSWORD_SET,
    PASSWORD_TOLD,
    PEM_BEGIN,
    PEM_BODY,
    PEM_END,
    PIN,
    SECRET_NAME,
    are_mere_words,
    is_stand_in,
    looks_random,
)
from recollect.policy.spans import Finding

MARKERS = {
    "private_key": "[private key removed]",
    "api_key": "[API key removed]",
    "token": "[token removed]",
    "card": "[card number removed]",
    "password": "[password removed]",
    "pin": "[PIN removed]",
    "one_time_code": "[one-time code removed]",
}
"""What stands in place of each kind, those that matter most first."""

LONGEST_PEM = 32 * 1024
_KINDS = tuple(MARKERS)


def findings(text: str) -> tuple[Finding, ...]:
    """The secrets in a text, in its order, none overlapping another."""
    lower = text.lower()
    found = [each for marks, find in _FAMILIES if any(mark in lower for mark in marks) for each in find(text)]
    found += _cards(text)
    return spans.joined(found, _KINDS) if found else ()


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with a readable marker in place of every secret, and the kinds found. Masking again changes nothing."""
    return spans.masked(text, findings, MARKERS)


def is_secret_name(name: str) -> bool:
    """Whether what is kept under this name is a secret by its name alone: `wifi_password`, `apiKey`, `支付密码`."""
    return SECRET_NAME.search(name[-64:]) is not None


def is_told(value: str) -> bool:
    """Whether a value under such a name is the secret itself, and not a placeholder or a word about it."""
    return 3 <= len(value) <= 4096 and not is_stand_in(value)


def _issued(text: str) -> Iterator[Finding]:
    amazon = False
    for mark, key in ISSUED_KEYS:
        if mark in text:
            for match in key.finditer(text):
                if _is_issued(match[0]):
                    amazon = amazon or mark in {"AKIA", "ASIA"}
                    yield Finding("api_key", *match.span())
    # Half of a pair has no prefix: only beside the other half is it known for what it is.
    for match in AWS_SECRET.finditer(text) if amazon else ():
        if looks_random(match[0], 4.0):
            yield Finding("api_key", *match.span())


def _is_issued(key: str) -> bool:
    """A placeholder (`sk-xxxx…`, `sk-your-key-here`) has the prefix but nothing random after it."""
    return looks_random(key, 2.5) or (len(key) == 20 and key.isupper())


def _tokens(text: str) -> Iterator[Finding]:
    for match in JWT.finditer(text):
        yield Finding("token", *match.span())


def _bearers(text: str) -> Iterator[Finding]:
    for match in BEARER.finditer(text):
        if looks_random(match[1]):
            yield Finding("token", *match.span(1))


def _private_keys(text: str) -> Iterator[Finding]:
    ends = PEM_END.finditer(text)
    end, done = next(ends, None), 0
    for begin in PEM_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while end is not None and end.start() < begin.end():
            end = next(ends, None)
        near = end if end is not None and end.end() - begin.end() <= LONGEST_PEM else None
        # One that was cut off goes as far as it goes.
        rest = near or PEM_BODY.match(text, begin.end(), begin.end() + LONGEST_PEM)
        if rest is not None:
            done = rest.end()
            yield Finding("private_key", begin.start(), done)


def _named_keys(text: str) -> Iterator[Finding]:
    for match in NAMED_KEY.finditer(text):
        value = match[1].rstrip(".")
        if looks_random(value, 4.0) or (looks_random(value) and not is_stand_in(value)):
            yield Finding("api_key", match.start(1), match.start(1) + len(value))


def _cards(text: str) -> Iterator[Finding]:
    for run in DIGITS.finditer(text):
        if run.end() - run.start() >= 13 and (span := _card_in(text, run.start(), run.end())):
            yield Finding("card", *span)


def _card_in(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a card number stands in a run of digits: by itself, or before a date and a check code."""
    if end - start > 64 or _is_part(text, start, end):
        return None
    groups = re.findall(r"[0-9]+", text[start:end])
    while groups and len(groups[0]) < 4:
        start += len(groups.pop(0)) + 1
    sizes = tuple(map(len, groups))
    for shape in ((size,) for size in sizes[:1]) if sizes and sizes[0] >= 13 else CARD_SHAPES:
        count = len(shape)
        number = "".join(groups[:count])
        rest_is_short = all(size < 4 for size in sizes[count:])
        if sizes[:count] == shape and rest_is_short and CARD_ISSUERS.fullmatch(number) and _luhn(number):
            return start, start + len(number) + count - 1
    return None


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether the digits belong to something longer: an identifier, an amount, a fraction."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    glued = any(c.isascii() and (c.isalnum() or c == "_") for c in (before[-1:], after[:1]) if c)
    return glued or bool(re.fullmatch(r"[0-9][.,]", before) or re.fullmatch(r"[.,][0-9]", after))


def _luhn(number: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2])
    return len(set(number)) > 1 and (sum(map(int, number[-1::-2])) + sum(doubled)) % 10 == 0


def _passwords(text: str) -> Iterator[Finding]:
    for match in PASSWORD_SET.finditer(text):
        yield from _told(text, match, _is_set)
    for match in PASSWORD_TOLD.finditer(text):
        yield from _told(text, match, _is_said)
    for match in PASSWORD_BARE.finditer(text):
        value, start = (match[1] or match[2]).rstrip(".:!?"), match.start(1) if match[1] else match.start(2)
        if _is_unmistakable(value) and not text.startswith("(", start + len(value)):
            yield Finding("password", start, start + len(value))


def _phrases(text: str) -> Iterator[Finding]:
    for match in PASSWORD_OF_WORDS.finditer(text):
        if not are_mere_words(match[1]):
            yield Finding("password", *match.span(1))


def _told(text: str, match: re.Match[str], is_one: Callable[[str, str], bool]) -> Iterator[Finding]:
    """The password of a match, if it is one: in quotes as it stands there, else without the sentence's own full stop."""
    if match[1] is not None:
        if not is_stand_in(match[1]) and (match[1].count(" ") < 2 or not are_mere_words(match[1])):
            yield Finding("password", *match.span(1))
        return
    value = match[2].rstrip(".:：…")
    word, end = value.rstrip("!?！？"), match.start(2) + len(value)
    called = text.startswith("(", end)  # a function that makes one
    if len(word) >= 3 and not called and not is_stand_in(word) and is_one(word, text[end : end + 8]):
        yield Finding("password", match.start(2), end)


def _is_set(value: str, rest: str) -> bool:
    """After `password:` anything that mixes signs, or one word with nothing after it on its line."""
    return _mixes(value) or (value.isascii() and value.isalnum() and bool(re.match(r"[.;,\"']?\s*(?:\n|$)", rest)))


def _is_said(value: str, rest: str) -> bool:
    """After `password is` the language itself goes on too often: only what no sentence holds, or the sentence's last word."""
    if _mixes(value):
        return True
    ends = re.match(r"[.!]?(?:\s*$|\s*\n|[.!]\s)", rest)
    return bool(ends) and value.isascii() and value.isalpha() and not re.search(r"(?:ed|ing|ly|able|ible)$", value)


def _mixes(value: str) -> bool:
    """Letters with digits, or signs among them, as words have not: `hunter2`, `Tr0ub4dor&3`, `123456`."""
    if not value.isascii():
        return False
    digits, letters = any(c.isdigit() for c in value), any(c.isalpha() for c in value)
    if digits:
        return letters or len(value) >= 4
    return bool(re.search(r"[!@#$%^&*+~|?]", value[:-1])) and letters


def _is_unmistakable(value: str) -> bool:
    """Nothing but the word stands before it, so it must look like nothing else: letters and digits, and no name of a method."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return (
        mixed
        and len(value) >= 6
        and value.isascii()
        and not re.search(r"[=/\\{}\[\]|:_]", value)
        and not is_stand_in(value)
    )


def _chinese_passwords(text: str) -> Iterator[Finding]:
    for match in PASSWORD_CHINESE.finditer(text):
        value = match[1].rstrip(".!?:)")
        told = match.start(1) - match.start() > 2  # a word such as 是 stands between
        alone = not value.isalpha() or not text[match.start(1) + len(value) : match.end(1) + 1].isalpha()
        long_enough = len(value) >= (4 if told else 6)
        if long_enough and alone and not is_stand_in(value) and (told or any(c.isdigit() for c in value)):
            yield Finding("password", match.start(1), match.start(1) + len(value))


def _url_passwords(text: str) -> Iterator[Finding]:
    for match in PASSWORD_IN_URL.finditer(text):
        if not is_stand_in(match[1]):
            yield Finding("password", *match.span(1))


def _option_passwords(text: str) -> Iterator[Finding]:
    for match in PASSWORD_OPTION.finditer(text):
        if not is_stand_in(match[1]):
            yield Finding("password", *match.span(1))


def _pins(text: str) -> Iterator[Finding]:
    for match in PIN.finditer(text):
        assert match.lastindex is not None
        yield Finding("pin", *match.span(match.lastindex))


def _one_time_codes(text: str) -> Iterator[Finding]:
    for match in ONE_TIME.finditer(text):
        assert match.lastindex is not None
        yield Finding("one_time_code", *match.span(match.lastindex))


_FAMILIES: Sequence[tuple[Sequence[str], Callable[[str], Iterator[Finding]]]] = (
    (tuple({mark.lower() for mark, _ in ISSUED_KEYS}), _issued),
    (("eyj",), _tokens),
    (("bearer ", "authorization"), _bearers),
    (("private key",), _private_keys),
    (("key", "secret", "token", "密钥", "秘钥", "令牌"), _named_keys),
    (("pass", "pwd", "pw", "psw", "kennwort", "contraseña"), _passwords),
    (("password", "phrase", "words", "mnemonic", "助记词"), _phrases),
    (("-u ",), _option_passwords),
    (("密码", "密碼", "口令", "通行码"), _chinese_passwords),
    (("://",), _url_passwords),
    (("pin", "cvv", "cvc", "安全码"), _pins),
    (("code", "otp", "passcode", "one-time", "one time", "验证码", "驗證碼", "校验码", "动态码"), _one_time_codes),
)
"""Each kind with the marks (in lower case) without which it can't be there: most texts have none, and cost no more than this."""
