"""Details that point at a person: e-mail addresses, phone numbers, national ids, bank accounts, IP addresses.

They are masked only where a setting asks for it: a memory of one's own people is meant to know their numbers. What has a checksum
must pass it. A phone number needs its country code, a form that only phone numbers have, or a word before it that says so; a bare
row of digits is an order, a year or an amount far more often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from recollect.policy import spans
from recollect.policy.spans import Finding

MARKERS = {
    "national_id": "[national id removed]",
    "iban": "[bank account removed]",
    "email": "[e-mail address removed]",
    "phone": "[phone number removed]",
    "ip_address": "[IP address removed]",
}
_KINDS = tuple(MARKERS)

_LEFT, _RIGHT = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+-](?:\.?[A-Za-z0-9_%+-]){0,63}@(?:[A-Za-z0-9](?:-{0,4}[A-Za-z0-9]){0,62}\.){1,6}[A-Za-z]{2,24}"
    r"(?![A-Za-z0-9])"
)
_CHINESE_ID = re.compile(
    r"(?<![A-Za-z0-9_.-])[1-9][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9][0-9]{3}[0-9Xx]" + _RIGHT
)
_SSN = re.compile(r"(?<![A-Za-z0-9_.-])(?!000|666|9)[0-9]{3}([- ])(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![A-Za-z0-9_-])")
_IBAN = re.compile(_LEFT + r"[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?" + _RIGHT)
_IPV4 = re.compile(r"(?<![A-Za-z0-9_.-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9_-]|\.[0-9])")
_IPV6 = re.compile(r"(?<![A-Za-z0-9_:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![A-Za-z0-9_:])")
_MOBILE = re.compile(
    r"(?<![A-Za-z0-9_.+-])(?:(?:\+|00)?86[ -]?)?1[3-9][0-9](?:[0-9]{8}|([ -])[0-9]{4}\1[0-9]{4})(?![A-Za-z0-9_-]|[.][0-9])"
)
_ABROAD = re.compile(
    r"(?<![A-Za-z0-9_.+])(?<![0-9][ -])(?:\+|00)(?!0)[0-9]{1,3}[ .-]?(?:\([0-9]{1,5}\)[ .-]?)?"
    r"[0-9]{1,5}(?:[ ./-]?[0-9]{2,5}){1,5}" + _RIGHT
)
_AMERICAN = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[.-]|[2-9][0-9]{2}([.-])[2-9][0-9]{2}\1)[0-9]{4}(?![A-Za-z0-9_-])"
)
_CALLED = re.compile(
    r"(?i)(?:\b(?:phone|mobile|cell|tel|telephone|fax|whatsapp)(?:\s(?:number|no\.?))?(?:\s(?:is|was))?\s?[:.]?\s?|"
    r"(?:电话|手机号?|座机|联系方式|号码)(?:是|为|：|:)?\s?)(\(?[0-9](?:[ ()./-]{0,2}[0-9]){6,14})(?![A-Za-z0-9_])"
)


def findings(text: str) -> tuple[Finding, ...]:
    """The personal details in a text, in its order, none overlapping another."""
    found: list[Finding] = []
    if "@" in text:
        found += (Finding("email", *match.span()) for match in _EMAIL.finditer(text))
    if _has_digits(text):
        found += [*_national_ids(text), *_accounts(text), *_phones(text)]
    if "." in text or ":" in text:
        found += _addresses(text)
    return spans.joined(found, _KINDS) if found else ()


def masked(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with a readable marker in place of every such detail, and the kinds found. Masking again changes nothing."""
    return spans.masked(text, findings, MARKERS)


_SEVEN = re.compile(r"[0-9](?:[^0-9\n]{0,3}[0-9]){6}")


def _has_digits(text: str) -> bool:
    """Whether enough digits stand together for any of the numbers looked for."""
    return _SEVEN.search(text) is not None


def _national_ids(text: str) -> Iterator[Finding]:
    for match in _CHINESE_ID.finditer(text):
        if _chinese_checksum(match[0]):
            yield Finding("national_id", *match.span())
    for match in _SSN.finditer(text):
        # With spaces it may be any three numbers in a row; with hyphens nothing else is written like it.
        if match[1] == "-" or re.search(
            r"(?i)\b(?:ssn|social security)\b", text[max(0, match.start() - 40) : match.start()]
        ):
            yield Finding("national_id", *match.span())


def _chinese_checksum(number: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    rest = sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False)) % 11
    return number[17].upper() == "10X98765432"[rest]


def _accounts(text: str) -> Iterator[Finding]:
    for match in _IBAN.finditer(text):
        # Words in capitals may follow the number, so it is tried without its last groups too.
        end = match.end()
        while end - match.start() >= 15:
            number = text[match.start() : end].replace(" ", "")
            if 15 <= len(number) <= 34 and _iban_checksum(number):
                yield Finding("iban", match.start(), end)
                break
            end = text.rfind(" ", match.start(), end)


def _iban_checksum(number: str) -> bool:
    return int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1


def _phones(text: str) -> Iterator[Finding]:
    for pattern in (_MOBILE, _ABROAD, _AMERICAN):
        for match in pattern.finditer(text):
            if 7 <= sum(c.isdigit() for c in match[0]) <= 17:
                yield Finding("phone", *match.span())
    for match in _CALLED.finditer(text):
        yield Finding("phone", *match.span(1))


def _addresses(text: str) -> Iterator[Finding]:
    for match in _IPV4.finditer(text):
        if _is_address(match[0], IPv4Address) and not re.search(
            r"(?i)\bv(?:er(?:sion)?)?\.? ?$", text[max(0, match.start() - 10) : match.start()]
        ):
            yield Finding("ip_address", *match.span())
    if text.count(":") >= 2:
        for match in _IPV6.finditer(text):
            if len(match[0]) > 4 and not match[0].isdecimal() and _is_address(match[0], IPv6Address):
                yield Finding("ip_address", *match.span())


def _is_address(text: str, kind: type[IPv4Address] | type[IPv6Address]) -> bool:
    """Whether it is an address, and of a machine somewhere: `127.0.0.1` and `0.0.0.0` are anybody's."""
    try:
        address = kind(text)
    except AddressValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
