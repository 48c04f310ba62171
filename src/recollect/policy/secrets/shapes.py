"""How secrets look: the prefixes that issuers put before their keys, the names people give them, and what only looks like one.

Every pattern begins at a mark that is rare in prose, and every repetition is bounded or ends at its own boundary, so that finding
stays linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log2

_EDGE = r"(?<![A-Za-z0-9_-])"
_MORE = r"(?![A-Za-z0-9_-])"

ISSUED = (  # (what must be in the text, the key itself)
    ("sk-", r"sk-[A-Za-z0-9_-]{20,512}"),  # OpenAI, Anthropic, DeepSeek, OpenRouter
    ("AKIA", r"AKIA[A-Z0-9]{16}" + _MORE),
    ("ASIA", r"ASIA[A-Z0-9]{16}" + _MORE),
    ("gh", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,255}"),
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
    ("xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    ("AIza", r"AIza[A-Za-z0-9_-]{35}"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,512}"),
    ("GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,64}"),
    ("_live_", r"(?:sk|rk)_live_[A-Za-z0-9]{16,255}"),  # Stripe
    ("_test_", r"(?:sk|rk)_test_[A-Za-z0-9]{16,255}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/]{20,255}"),
    ("rk_", r"rk_[A-Za-z0-9_-]{20,255}"),  # ours
    ("npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-", r"pypi-[A-Za-z0-9_-]{50,512}"),
    ("hf_", r"hf_[A-Za-z0-9]{30,64}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{30,128}"),
    ("xai-", r"xai-[A-Za-z0-9]{30,128}"),
    ("nvapi-", r"nvapi-[A-Za-z0-9_-]{30,128}"),
    ("SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("shp", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("dop_v1_", r"dop_v1_[a-f0-9]{64}"),
    ("LTAI", r"LTAI[A-Za-z0-9]{12,24}" + _MORE),  # Alibaba Cloud
    ("AKID", r"AKID[A-Za-z0-9]{13,40}" + _MORE),  # Tencent Cloud
    (":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),  # Telegram bots
    ("hooks.slack.com", r"hooks\.slack\.com/services/[A-Z0-9]{6,16}/[A-Z0-9]{6,16}/[A-Za-z0-9]{16,40}"),
)
ISSUED_KEYS = tuple((mark, re.compile(_EDGE + key)) for mark, key in ISSUED)

AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
JWT = re.compile(_EDGE + r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,1024}")
BEARER = re.compile(
    r"(?i)\b(?:bearer\s{1,4}|authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:basic|token)\s{1,4})([\w.~+/=-]{16,2048})"
)

PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = re.compile(r"(?:(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{16,128})+")

_IS = r"[\"'`]?\]?\s{0,4}(?:=>|:=|[:=：＝]|\bis\b:?|是|为)\s{0,4}"
_QUOTE = r"[\"'`“‘「『《]?"
NAMED_KEY = re.compile(
    r"(?i)(?:(?:api|access|secret|auth|private|client|account|subscription|encryption|signing|app|master|shared|session|refresh|"
    r"webhook|deploy|bot|service)[\s_-]?(?:access[\s_-]?)?(?:key|secret|token)|(?<![a-z])(?:secret|token)|密钥|秘钥|令牌)"
    + _IS
    + _QUOTE
    + r"([A-Za-z0-9+/_.~=-]{16,512})"
)

_WORD = r"(?:pass(?:word|wd|code|phrase|wort)|kennwort|pwd|contraseña|mot de passe)"
_VALUE = r"([^\s\"'`“”‘’「」『』《》,，。；;、<>()（）]{3,128})"
_QUOTED = r"[\"'`“‘「『《]([^\"'`“”‘’「」『』《》\n]{3,128})[\"'`”’」』》]"
PASSWORD_SET = re.compile(  # password: x, "pwd": "x", PASSWORD=x
    rf"(?i){_WORD}[\"'`]?\]?\s{{0,4}}(?:=>|:=|[:=：＝])\s{{0,4}}(?:{_QUOTED}|{_VALUE})"
)
PASSWORD_TOLD = re.compile(  # my password for the router is x
    rf"(?i)(?<![a-z]){_WORD}(?:\s(?:for|to|of|at|on|in)\s[^.,;:\n\"'“”]{{1,40}}?)?\s(?:is|was|will be|became|=|"
    rf"(?:is |was |has been )?(?:now|set to|changed to|reset to))(?:\s(?:now|still|set to|changed to|simply|just))?:?\s"
    rf"(?:{_QUOTED}|{_VALUE})"
)
PASSWORD_BARE = re.compile(  # --password x, changed my password to x
    rf"(?i)(?<![a-z_]){_WORD}(?:\s(?:to|as))?\s{{1,2}}{_QUOTE}{_VALUE}|(?<![a-z_])(?:pw|psw|pass)(?:\s(?:is|was)|\s?[:=])\s?{_QUOTE}{_VALUE}"
)
PASSWORD_OF_WORDS = re.compile(
    r"(?i)(?:pass(?:word|phrase)|(?:seed|recovery|backup)\s(?:phrase|words)|mnemonic|助记词)(?:\s(?:is|are)|\s?[:：=]|是|为)\s{0,2}"
    + _QUOTE
    + r"((?:[a-z]{3,10}[ ,]{1,2}){3,23}[a-z]{3,10})(?![a-z])"
)
PASSWORD_OPTION = re.compile(r"(?<![\w-])-u\s?[\"']?[\w.@-]{1,64}:([^\s\"']{3,128})")
PASSWORD_CHINESE = re.compile(
    r"(?:密码|密碼|口令|通行码)(?:已经|现在|目前|都|就|也|还|仍|依然)?"
    r"(?:(?:是|为|為|叫|设为|设置为|設為|改成|改为|设成|换成)了?|[:：=＝]){0,2}"
    r"\s{0,2}[\"'“‘「『]?([\x21\x23-\x26\x28-\x2b\x2d-\x3a\x3c-\x7e]{4,64})"
)
PASSWORD_IN_URL = re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/@\"'<>]{3,128})@(?=[\w.\[-])")
PIN = re.compile(
    r"(?i)\bpin\s?[:=]\s?([0-9]{4})(?![0-9])|pin码(?:是|为|：|:)?\s?([0-9]{4,8})(?![0-9])|"
    r"(?:\b(?:cvv2?|cvc2?)(?:\s(?:code|number))?(?:\sis)?|安全码是?)\s?[:：=]?\s?([0-9]{3,4})(?![0-9])|"
    r"\b(?:my|our|his|her|the|atm|card|sim|phone|door|gate|alarm|safe|bank)\s(?:\w{1,12}\s){0,2}?pin(?:\s(?:code|number))?"
    r"(?:\s(?:for|to|of|at|on)\s[^.,;:\n]{1,30}?)?\s?(?:is|was|[:=])\s?([0-9]{4,8})(?![0-9])"
)
_CODE_NAME = r"(?:verification|security|one[- ]time|log[- ]?in|sign[- ]?in|authentication|access|2fa|two[- ]factor)"
ONE_TIME = re.compile(
    rf"(?i)\b(?:{_CODE_NAME}\s(?:pass)?(?:code|password|pin)|otp(?:\scode)?)(?:\s(?:is|was)|\s?[:：])\s?"
    r"([0-9]{3}[- ][0-9]{3}|[0-9]{4,8})(?![0-9])"
    rf"|(?<![0-9])([0-9]{{3}}[- ][0-9]{{3}}|[0-9]{{4,8}}) is your (?:\w{{1,20}} ){{0,3}}(?:{_CODE_NAME} )?(?:code|otp)\b"
    r"|(?:验证码|驗證碼|校验码|动态码)(?:是|为|：|:)?\s?[\"'“【\[]?([0-9]{4,8})(?![0-9])"
)

DIGITS = re.compile(r"[0-9]+(?:[ -][0-9]+)*")
CARD_SHAPES = ((4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (6, 13))
CARD_ISSUERS = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12}|35(?:2[89]|[3-8][0-9])[0-9]{12}"
    r"|62[0-9]{14,17}"
)

SECRET_NAME = re.compile(
    rf"(?i)(?:^|[\s_.-]|(?<=[a-z])(?=[A-Z])){_WORD}$|(?:^|[\s_.-])pin$|密码$|密碼$|口令$|密钥$|"
    r"(?:^|[\s_.-])(?:api|access|secret|auth|private|client|encryption|signing|session|refresh)[\s_.-]?(?:key|secret|token)$|"
    r"(?:^|[\s_.-])secret$"
)

_NOT_SAID = frozenset(
    """a an and are at be been by can for from has have in is it its kept my never no none not now null of ok on only or our
    required optional string str text varchar char int true false undefined nil the this that these those to too very was
    will with would you your strong weak wrong incorrect correct expired secure safe unique long short simple complex easy
    hard invalid valid needed necessary compromised leaked stolen private secret saved stored reset changed forgotten set
    empty blank missing different same again also always still just so really pretty quite more less something anything
    being case important essential here there where what when how why which who hidden visible encrypted hashed shared
    password passwd passcode passphrase pwd pass user username admin1 hash token value field input example sample test
    protected sent used written printed longer shorter stronger weaker better worse good bad great fine okay visible about
    like at least minimum maximum between usually often sometimes one two three four both either neither any all some each
    incorrect. mismatch match matches matched rejected accepted denied disabled enabled locked unlocked updated verified
    generated created provided entered typed remembered known unknown lost found gone up out over under old new""".split()
)
_STAND_IN = re.compile(
    r"(?i)^(?:[*x•._#?-]+|[<\[{$%].*|.*\$\{.*|.*[>\]})]|your[-_ ]?.*|[a-z_]*pass(?:word)?[a-z_]*[0-9]?|.*_here|.*placeholder.*|"
    r"changeme|redacted|(?:v|sha|md|base|oauth|argon|pbkdf|utf|aes|rsa|http|ipv)-?[0-9].*|.*example.*|.*removed.*|[a-z_]+\.[a-z_.]+|[a-z_]+\[.*|self\..*|os\.environ.*|process\.env.*)$"
)
_OF_SPEECH = frozenset(
    """the and are must your you please enter least password for with that this should will can not have has was but from what
    when then than they it's use using very too more long short make made just only also been being which who how""".split()
)


def entropy(text: str) -> float:
    """Bits a character, as the text's own letters are spread."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values()) if size else 0.0


def looks_random(key: str, least: float = 3.2) -> bool:
    """Whether nobody would have written this as a name: letters and digits mixed, evenly spread, not words joined by hyphens."""
    if not any(c.isdigit() for c in key) or not any(c.isalpha() for c in key) or entropy(key) < least:
        return False
    parts = re.split(r"[-_./=+~]", key)
    mixed = (part for part in parts if part and not part.isdigit() and not part.isalpha())
    return any(len(part) >= 6 for part in mixed) or sum(map(len, mixed)) >= len(key) / 2


def is_stand_in(value: str) -> bool:
    """A word that stands where a password would: a placeholder, a variable, a part of speech."""
    return value.casefold().rstrip(".!?:") in _NOT_SAID or bool(_STAND_IN.match(value))


def are_mere_words(value: str) -> bool:
    """Whether several words make a sentence and not a phrase to open something with."""
    return not _OF_SPEECH.isdisjoint(re.split(r"[ ,]+", value.casefold()))
