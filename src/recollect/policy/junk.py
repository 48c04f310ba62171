"""What is said in passing: turns and sentences that hold nothing worth remembering, each with the reason.

Precision comes first. A sentence that is left out here is still kept word for word in its conversation and can be found there;
one that gets in wrongly is shown to a model again and again. So whatever looks like a question, an order to the assistant, a
pasted text or mere politeness is left out, even where it may hold a fact.
"""

from __future__ import annotations

import re
from typing import Literal

Junk = Literal["greeting", "question", "command", "code", "pasted", "hypothetical", "empty"]

LONGEST_TURN = 1500
"""Characters. Nobody types more about themselves in one turn; what is longer was pasted."""
LONGEST_SENTENCE = 320

_GREETING_WORDS = (
    r"hi+|hey+|hello+|yo|hiya|howdy|good (?:morning|afternoon|evening|night)|morning|evening|bye+|goodbye|see you|see "
    r"ya|later|"
    r"thanks?|thank you|thx|ty|cheers|ok+|okay|kk?|sure|yes|yeah+|yep|yup|no|nope|nah|right|exactly|great|cool|nice|"
    r"awesome|"
    r"perfect|wonderful|amazing|lovely|sounds? good|got it|i see|i understand|understood|makes sense|fair enough|no "
    r"problem|"
    r"no worries|you'?re welcome|welcome|please|sorry|haha+|lol|lmao|hmm+|hm+|wow|oh|ah|aha|well|so|alright|all right|"
    r"good|fine|"
    r"indeed|of course|absolutely|definitely|agreed|true|that'?s (?:right|true|correct|great|good|fine|it|all)|"
    r"how are you(?: doing)?(?: today)?|what'?s up|i agree|i'?m (?:good|fine|ok|okay|great|well)|have a (?:good|great|"
    r"nice) \w+|"
    r"take care|talk (?:to you )?(?:soon|later)|congrats|congratulations|there|everyone|all|again|then|so much|very "
    r"much|a lot|"
    r"a bunch|buddy|friend|dude|man|guys|folks|you|too|today|for (?:the|your|all|that)(?: \w+){1,3}"
)
_GREETING = re.compile(rf"(?:(?:{_GREETING_WORDS})\b[\s,.!~:;)(-]*)+", re.IGNORECASE)
_ZH_GREETING = re.compile(
    r"(?:(?:你好|您好|大家好|嗨|哈喽|早上好|早安|早|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|回头见|谢谢你?们?|多谢|感谢|谢了|辛苦了|"
    r"好的?|好吧|行|可以|没问题|没事|没关系|[嗯哦啊哈呵嘿]|是的?|对的?|不是|不用了?|不客气|抱歉|对不起|不好意思|"
    r"明白了?|知道了|懂了|了解|收到|原来如此|真棒|太好了|太棒了|不错|厉害|当然|没错|确实|同意|ok|啦|呀|了|吧|哟|哎)"
    r"[\s，。！？～~、,.!]*)+",
    re.IGNORECASE,
)
_LATIN_LETTER = re.compile(r"[A-Za-z]")
_HAN = re.compile("[\u3400-\u9fff]")

_ASKING = re.compile(
    r"^\W*(?:(?:and|but|so|well|ok|okay|hey|also|or|then|now|btw|by the way|just|please)\b\W*)*"
    r"(?:who|whom|whose|what|what's|whats|(?:when|where)(?! (?:i|i'm|we|we're|he|she|they|it|my|our)\b)|where's|"
    r"which|why|how|how's|is|are|am|was|were|do|does|did|don't|"
    r"doesn't|"
    r"didn't|can|could|would|will|won't|should|shall|may|might|has|have (?:you|we|i|they)|had|isn't|aren't|wasn't|any "
    r"(?:idea|"
    r"ideas|advice|tips|recommendations|suggestions|thoughts|chance)|anything|remind me|wondering|i(?:'m| am|'ve| "
    r"have| was)?"
    r"(?: just| also| been| really)* (?:wonder\w*|curious)|i(?:'d| would) (?:like|love) to (?:know|hear|understand|"
    r"learn more)"
    r"|do you)\b",
    re.IGNORECASE,
)
_ZH_ASKING = re.compile(
    r"[吗呢么][？?。！!～~]*$|什么|怎么|怎样|如何|为什么|为何|为啥|哪[里个些儿位年天种]|几[点个时次岁]|多少|多久|多大|是不是|有没有|"
    r"能不能|可不可以|会不会|要不要|好不好|对不对|谁|请问|想知道|想问"
)
_COMMAND = re.compile(
    r"^\W*(?:(?:and|but|so|well|ok|okay|hey|also|then|now|next|first|finally|just|please|kindly|great|thanks|"
    r"assistant)\b\W*)*"
    r"(?:write|rewrite|translate|summari[sz]e|explain|describe|give|show|tell|list|generate|create|make|draft|compose|"
    r"find|"
    r"search|look up|calculate|compute|convert|compare|suggest|recommend|help|fix|debug|refactor|implement|add|remove|"
    r"delete|"
    r"change|replace|continue|go on|keep going|repeat|redo|try|check|review|analy[sz]e|classify|extract|identify|"
    r"provide|use|"
    r"imagine|pretend|act|play|answer|respond|reply|consider|assume|suppose|let's|let us|design|build|develop|plan|"
    r"outline|"
    r"edit|proofread|paraphrase|shorten|expand|elaborate|discuss|define|solve|complete|fill|turn|set|open|close|run|"
    r"stop|"
    r"start|send|read|print|output|return|format|ignore|forget|do|don't|teach|walk me|break down|think|come up)\b",
    re.IGNORECASE,
)
_TO_ASSISTANT = re.compile(
    r"\b(?:(?:can|could|would|will) you|i(?:'d| would)? (?:want|need|like|love|prefer) (?:you|for you)|help me|"
    r"as an? (?:ai|assistant|language model)|your (?:task|job|role|answer|response|reply|code|suggestions?|help|advice|"
    r"recommendations?|explanation|output|insights?|tips|ideas)|you are (?:an?|the)|you will be|"
    r"i'?(?:d| would) (?:like|love|appreciate))\b",
    re.IGNORECASE,
)
_ZH_COMMAND = re.compile(
    r"^(?:请|麻烦|帮我|帮忙|给我|替我|翻译|总结|概括|解释|介绍|列出|写一?[个篇段首封]|生成|推荐|告诉我|继续|重写|改写|修改|计算|"
    r"分析|比较|查一?下|搜索|想象|假设|假如|扮演|设计|制定|说说|讲讲|提醒我|忘记|忘掉|打开|关闭|停止|开始)"
    r"|[你您](?:能|可以|会|帮|给|觉得|认为|知道|是|说)"
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if (?:i|we|you|my|they|he|she|it)|imagine|suppose|supposing|pretend|let'?s say|hypothetical\w*|for example|"
    r"e\.g\.|"
    r"as if|wish (?:i|we|my)|would have|i would|i'?d (?:be|have|rather not)|in (?:the|a|my) (?:story|novel|game|dream|"
    r"role ?play))\b",
    re.IGNORECASE,
)
_ZH_HYPOTHETICAL = re.compile(r"如果|假如|假设|要是|倘若|万一|比如|例如|想象一?下|的话[，,]|本来想|差点")
_CODE = re.compile(
    r"```|^\s{0,8}(?:def |class |import |from \w+ import|public |private |const |let |var |function |#include|SELECT |"
    r"INSERT |"
    r"UPDATE |CREATE TABLE|<\w+[^>]*>|\{\s*$|\}\s*;?\s*$|return\b.*[;)]|if\s*\(|for\s*\(|while\s*\(|Traceback |\$ \w|"
    r">>> )"
    r"|[;{}]\s*$|=>|::|</\w+>|\w+\([^)]*\);",
    re.MULTILINE,
)
_MARKUP = re.compile(
    r"^\s*(?:>|\||\[|【|(?:助手|用户|assistant|user|ai|bot)\s?[:：]|#{1,6} |[-*•] |\d+[.)] )",
    re.MULTILINE | re.IGNORECASE,
)


def whole_turn(text: str) -> Junk | None:
    """Why a turn as a whole holds nothing to remember, or None."""
    stripped = text.strip()
    if not stripped:
        return "empty"
    if is_small_talk(stripped):
        return "greeting"
    # How it goes on tells no more, and one endless line would take minutes.
    lines = stripped[:LONGEST_TURN].splitlines()
    if "```" in stripped or sum(bool(_CODE.search(line)) for line in lines) * 3 >= max(2, len(lines)):
        return "code"
    marked = sum(bool(_MARKUP.match(line)) for line in lines)
    if len(stripped) > LONGEST_TURN or (len(lines) > 3 and marked * 2 > len(lines)):
        return "pasted"
    return None


def is_small_talk(text: str) -> bool:
    """Greetings, thanks, assent: words that keep a conversation going and say nothing."""
    stripped = text.strip()
    if len(stripped) > 120:
        return False
    if _HAN.search(stripped):
        return _ZH_GREETING.fullmatch(stripped) is not None
    if not _LATIN_LETTER.search(stripped):
        return not any(c.isalnum() for c in stripped)
    return _GREETING.fullmatch(stripped.lstrip(" .,!~")) is not None


def sentence(text: str) -> Junk | None:
    """Why a single sentence is nothing its speaker states about the world, or None."""
    stripped = text.strip()
    if len(stripped) < 3:
        return "empty"
    if is_small_talk(stripped):
        return "greeting"
    if len(stripped) > LONGEST_SENTENCE or _MARKUP.match(stripped):
        return "pasted"
    if _CODE.search(stripped):
        return "code"
    chinese = _HAN.search(stripped) is not None
    if stripped.endswith(("?", "？")) or (_ZH_ASKING if chinese else _ASKING).search(stripped):
        return "question"
    if (
        _ZH_COMMAND.search(stripped) if chinese else _COMMAND.match(stripped) or _TO_ASSISTANT.search(stripped)
    ) is not None:
        return "command"
    return "hypothetical" if (_ZH_HYPOTHETICAL if chinese else _HYPOTHETICAL).search(stripped) else None
