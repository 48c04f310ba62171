"""The mood of a turn, by its words: a small lexicon, with what turns a word around taken into account.

Most turns have none, and `neutral` is the honest answer for them. The strongest feeling wins; of equals, the one named last.
"""

from __future__ import annotations

import re

from recollect.model.analysis import Emotion

_READ = 1500
_WORDS: dict[Emotion, str] = {
    "joy": (
        r"happy|glad|excited|thrilled|delighted|overjoyed|ecstatic|can'?t wait|so proud|proud of|pleased|yay|woohoo|"
        r"wonderful|fantastic|"
        r"awesome|amazing|love it|best day|having fun|cheerful|relieved|"
        r"(?:good|great) mood|feel(?:ing)? (?:great|good)|开心|高兴|快乐|幸福|激动|兴奋|太好了|太棒了|"
        r"棒极了|期待|满足|"
        r"欣慰|自豪|心情(?:真|很|特别|非常|超级?|挺|太|也)*(?:好|不错|愉快|舒畅)|好开森|哈哈哈+|😀|😄|😊|🎉|🥳|❤"
    ),
    "sadness": (
        r"sad|unhappy|depressed|heartbroken|miserable|lonely|grieving|crying|cried|miss (?:him|her|them|you)|"
        r"devastated|disappointed|"
        r"down lately|feeling down|passed away|hopeless|gutted|"
        r"难过|伤心|悲伤|心情(?:真|很|特别|非常|超级?|挺|太|也)*(?:不(?:太|怎么|是很)?好|差|糟|低落|沉重)|沮丧|失落|失望|孤独|寂寞|想哭|哭了|心碎|郁闷|绝望|去世|😢|😭|💔"
    ),
    "anger": (
        r"angry|furious|annoyed|annoying|irritated|frustrated|frustrating|mad at|pissed|outraged|fed up|sick of|hate "
        r"this|ridiculous|"
        r"unacceptable|生气|愤怒|气死|恼火|烦死|烦人|讨厌死|受够了|火大|抓狂|岂有此理|😠|😡|🤬"
    ),
    "fear": (
        r"afraid|scared|terrified|worried|worrying|anxious|anxiety|nervous|panicking|panic|stressed|overwhelmed|"
        r"dreading|frightened|"
        r"害怕|担心|焦虑|紧张|恐惧|不安|恐慌|忧虑|压力(?:很|好|太)?大|发愁|怕|😨|😰|😱"
    ),
    "surprise": (
        r"surprised|shocked|astonished|stunned|can'?t believe|unbelievable|no way|oh my god|omg|wow|unexpected(?:ly)?|"
        r"惊讶|吃惊|震惊|没想到|不敢相信|意外|居然|竟然|天哪|天啊|哇|😲|😮|🤯"
    ),
    "gratitude": (
        r"thank you so much|thanks so much|thanks a lot|many thanks|so grateful|grateful|thankful|appreciate it|"
        r"really appreciate|"
        r"非常感谢|太感谢|感激|谢谢你(?:们)?|多谢|感恩|🙏"
    ),
}
_NOT = (
    r"(?:not|n'?t|never|no longer|hardly|isn'?t|wasn'?t|不|没有?|别|不再|并不|不太|不是很)"
    r"(?:\s+(?:\w+\s+)?|(?:太|很|怎么|那么)?)"
)
_STRONG = re.compile(
    r"(?:so|very|really|extremely|super|incredibly|"
    r"absolutely|totally|非常|特别|超级?|太|十分|极其|好)\s*$",
    re.IGNORECASE,
)
_LEXICON: tuple[tuple[Emotion, re.Pattern[str]], ...] = tuple(
    (emotion, re.compile(rf"(?P<not>{_NOT})?(?:(?<![A-Za-z])(?:{words})(?![A-Za-z]))", re.IGNORECASE))
    for emotion, words in _WORDS.items()
)
_TURNED: dict[Emotion, Emotion] = {"joy": "sadness"}
"""What the denial of a feeling says; denying the others says nothing."""


def detected(text: str) -> Emotion:
    read = text[:_READ]
    weights: dict[Emotion, tuple[float, int]] = {}
    for emotion, pattern in _LEXICON:
        for match in pattern.finditer(read):
            felt: Emotion | None = _TURNED.get(emotion) if match["not"] else emotion
            if felt is None:
                continue
            strength = 1.5 if _STRONG.search(read[max(0, match.start() - 12) : match.start()]) else 1.0
            before = weights.get(felt, (0.0, 0))[0]
            weights[felt] = (before + strength, match.start())
    return max(weights, key=lambda felt: weights[felt]) if weights else "neutral"
