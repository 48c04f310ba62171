"""What a text says once its disguises are off.

`visible` is for showing: nothing stays that a reader cannot see or that moves what they see. `plain` is for judging: look-alike
letters, leetspeak and s p a c e d words are read as meant. `payloads` are texts carried inside the text in another encoding.
All of them are total, and linear in the length of the text.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

MOST_PAYLOADS = 16
LONGEST_PAYLOAD = 8192

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]{0,2048}(?:\x07|\x1b\\|\x9c)"  # titles and links
    r"|\x1b[ -/]*[0-~]"
)
_BREAK = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"  # signs that enclose others
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb"  # zero width, direction, fillers
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors and tags, both able to carry whole sentences
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\ue000-\uf8ff\U000f0000-\U0010ffff]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SMUGGLED = re.compile(  # unseen characters where no script needs them: inside Latin words, or turning the direction
    "[a-zA-Z][\u200b-\u200d\u2060\ufeff\xad\u180e]+[a-zA-Z]|[\u202d\u202e]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}"
)

_LOOK_ALIKES = str.maketrans("авекмнорстухіјѕԁԛԝһӏαεικνορτυχϲ", "abekmhopctyxijsdqwhlaeiknoptuxc")
_MIXED = re.compile(r"\b(?=\w*[a-z])(?=\w*[\u0370-\u052f])\w{1,64}\b")
_LEET = str.maketrans("013457", "oieast")
_LEETED = re.compile(r"\b(?=\w{0,20}[a-z])(?=\w{0,20}[013457])[a-z013457]{4,24}\b")
_SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*][^\W\d_]){2,}(?![^\W_])")

_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n[\n ]*")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){16,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}|[\w.+-]){12,}")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}| ){8,}")
_ESCAPE = re.compile(r"\\[ux]([0-9a-fA-F]{4}|[0-9a-fA-F]{2})")
_ROTATED = re.compile(r"\b(?:vtaber|vafgehpgvbaf?|flfgrz cebzcg)\b", re.IGNORECASE)
_REVERSED = re.compile(r"\b(?:erongi|snoitcurtsni|tpmorp metsys)\b", re.IGNORECASE)


def visible(text: str) -> str:
    """`text` as a person would see it on paper. Line breaks of every kind become a newline, tabs a space."""
    if text.isascii() and text.isprintable():
        return text
    shown = _BREAK.sub("\n", _TERMINAL.sub("", text)).replace("\t", " ")
    return _SURROGATE.sub("\ufffd", _UNSEEN.sub("", shown))


def is_smuggling(text: str) -> bool:
    """Whether characters nobody sees stand where only a disguise needs them."""
    return not text.isascii() and bool(_SMUGGLED.search(text) or _TAGS.search(text))


def plain(text: str) -> str:
    """`text` in the one form that signs are looked for in: lower case, disguises off, lines kept."""
    shown = html.unescape(visible(text))
    if not shown.isascii():
        shown = unicodedata.normalize("NFKC", visible(shown))
    folded = shown.casefold()
    if not folded.isascii():
        folded = _MIXED.sub(lambda word: word[0].translate(_LOOK_ALIKES), folded)
    folded = _SPACED.sub(lambda run: re.sub(r"[ .\-_*]", "", run[0]), folded)
    folded = _LEETED.sub(lambda word: word[0].translate(_LEET), folded)
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", folded))


def payloads(text: str) -> Iterator[str]:
    """Readable texts carried in another encoding, at most a handful and of bounded size."""
    found = 0
    for payload in _decoded(text):
        if payload and _is_readable(payload):
            yield payload[:LONGEST_PAYLOAD]
            found += 1
            if found == MOST_PAYLOADS:
                return


def _decoded(text: str) -> Iterator[str]:
    for tags in _TAGS.finditer(text):
        yield "".join(chr(ord(c) - 0xE0000) for c in tags[0])
    for run in _BASE64.finditer(text):
        yield _from_base64(run[0][:LONGEST_PAYLOAD])
    for run in _HEX.finditer(text):
        digits = re.sub(r"[ :]", "", run[0])[:LONGEST_PAYLOAD]
        yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "ignore")
    for run in _PERCENT.finditer(text) if text.count("%") >= 4 else ():
        if run[0].count("%") >= 4:
            yield unquote(run[0][:LONGEST_PAYLOAD])
    for run in _ESCAPES.finditer(text):
        yield _ESCAPE.sub(lambda code: chr(int(code[1], 16)), run[0][:LONGEST_PAYLOAD])
    if _ROTATED.search(text):
        yield codecs.encode(text[:LONGEST_PAYLOAD], "rot13")
    if _REVERSED.search(text):
        yield text[:LONGEST_PAYLOAD][::-1]


def _from_base64(run: str) -> str:
    letters = run.rstrip("=").replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) // 4 * 4] if len(letters) % 4 == 1 else letters
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4)).decode("utf-8", "ignore")
    except binascii.Error:
        return ""


def _is_readable(text: str) -> bool:
    told = sum(c.isprintable() or c.isspace() for c in text)
    return len(text) >= 8 and told > 0.9 * len(text)
