"""What English speakers say of themselves, as data: each rule is a way of putting something, and what it says.

A rule is matched at the beginning of a clause, after filler words. Its group `v` is the value. `key` names what the value is of:
where a person can have only one (a name, a home), a later value replaces the earlier one; where they can have many, the value is
part of the key. Nothing is caught that needs another sentence to be understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.model.analysis import Category
from recollect.policy.late import late

_ADVERBS = (
    r"(?:(?:really|also|absolutely|just|still|generally|actually|definitely|particularly|especially|totally|truly|"
    r"personally|honestly|"
    r"strongly|much|do|now|currently|recently|simply|very much|always|usually|kinda|mostly)\s+)*"
)
_I = rf"(?:i|we)\s+{_ADVERBS}"
_IM = rf"(?:i'?m|i am|we'?re|we are)\s+{_ADVERBS}"
_IVE = rf"(?:i'?ve|i have|we'?ve|we have|i|we)\s+{_ADVERBS}"
_KIN = (
    r"mother|mom|mum|father|dad|parents|sister|brother|son|daughter|wife|husband|partner|fianc[ée]e?|girlfriend|"
    r"boyfriend|best friend|"
    r"friend|boss|manager|cousin|uncle|aunt|niece|nephew|grandmother|grandfather|grandma|grandpa|roommate|kids?|child|"
    r"children|baby|"
    r"twins|dog|cat|puppy|kitten|pet|parrot|rabbit|hamster"
)
_OCCUPATION = (
    r"(?:\w+[- ]){0,3}?(?:engineer|developer|programmer|teacher|nurse|doctor|lawyer|student|accountant|architect|"
    r"artist|baker|barista|"
    r"chef|cook|consultant|counsel+or|dentist|designer|driver|economist|editor|electrician|farmer|firefighter|"
    r"freelancer|gardener|"
    r"journalist|librarian|manager|mechanic|musician|painter|paramedic|pharmacist|photographer|physicist|pilot|"
    r"plumber|policeman|"
    r"professor|psychologist|researcher|sales\w+|scientist|secretary|social worker|soldier|surgeon|therapist|"
    r"translator|tutor|vet|"
    r"veterinarian|waiter|waitress|writer|analyst|intern|carpenter|actor|actress|dancer|singer|banker|chemist|"
    r"biologist|mathematician|"
    r"administrator|entrepreneur|founder|recruiter|marketer|welder|retiree|undergraduate|graduate|postdoc|contractor|"
    r"producer)"
)
_DIET = r"vegan|vegetarian|pescatarian|lactose[- ]intolerant|gluten[- ]free|diabetic|coeliac|celiac|teetotal\w*|kosher|halal"
_PLACE = r"(?P<v>(?:the\s+)?(?-i:[A-Z])[\w.'’-]+(?:[ ,]+(?:of\s+|the\s+)?(?-i:[A-Z])[\w.'’-]+){0,4})"
_NAME = r"(?P<v>(?-i:[A-Z])[\w'’-]+(?:\s+(?-i:[A-Z])[\w'’.-]+){0,2})"
_REST = r"(?P<v>[^.!?;]{2,160})"
_DAYS = r"(?:day|morning|afternoon|evening|night|week|weekend|month|year|spring|summer|autumn|fall|winter|\w{3,6}days?)"
_FROM_NOW_ON = (
    r"(?:please )?(?:(?:from now on|in (?:the )?future|going forward),? (?:please )?(?:always )?|always |(?=never ))"
)
_NO_THING = (
    r"(?:guess|question|point|answer|idea|problem|issue|suggestion|concern|thought|opinion|feeling|goal|mistake|bad|take|turn|first|"
    r"second|next|last|only|favou?rite|code|query|function|text|essay|story|character|prompt|input|output|best|god|goodness|bet|"
    r"understanding|impression|advice|reason|favou?rites|(?:[\w'-]+ ){0,2}(?:problem|question|issue|idea|guess|code|name))"
)
"""What is one's own for as long as one speaks of it."""
_TYPED = (
    r"(?:(?:the |an? )?\d|(?:the |an? )?(?:(?:Dr|Mrs?|Ms|Prof)\. )?(?-i:[A-Z])\w|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|"
    r"next (?:week|month|year|\w+day)|noon|midnight)"
)
"""How a value begins that says which, when or how many: a number, a name, a day."""


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: re.Pattern[str]
    category: Category
    key: str
    """`{v}` is the value, `{a}` the attribute named in the sentence; without either there can be only one."""
    said: str = ""
    """What kind of opinion it is, where it is one."""
    confidence: float = 0.95


def _rule(pattern: str, category: Category, key: str, said: str = "", confidence: float = 0.95) -> Rule:
    return Rule(late(pattern, re.IGNORECASE), category, key, said, confidence)


FILLER = re.compile(
    r"^\W*(?:(?:well|oh|ah|hey|hi|hello|yeah|yes|yep|no|nope|ok|okay|so|and|but|also|actually|anyway|anyways|honestly|"
    r"frankly|basically|by the "
    r"way|btw|fyi|sorry|oops|wait|correction|i (?:mean|meant|misspoke)|that's wrong|"
    r"for your information|just so you know|you know|as (?:i|you) (?:said|mentioned|know)(?: before)?|to "
    r"be honest|tbh|in fact|"
    r"now|then|because|since|though|plus|besides|lately|recently|currently|personally|thanks|thank you|sure|great|"
    r"cool|nice|wow|haha|"
    r"right|exactly|speaking of which|unfortunately|luckily|fortunately|for context|for reference|as for me|these "
    r"days|nowadays|"
    r"at the moment|in my free time|i should mention(?: that)?|i have to (?:say|admit)(?: that)?|i must (?:say|"
    r"admit)(?: that)?|"
    r"(?:i )?(?:think|guess|believe|feel like)(?: that)?)\b[\s,.:;!–-]*)+",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|i (?:guess|think|suppose)|might|not sure|sort of|kind of|kinda|i may|"
    r"apparently|it seems)\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:used to|back when|when i was|as a (?:kid|child|teenager)|years ago|at the time)\b", re.IGNORECASE
)
OVER = re.compile(r"\b(?:no longer|not\b.*\bany ?more|don'?t\b.*\bany ?more|stopped|quit|gave up)\b", re.IGNORECASE)
REMEMBER = re.compile(
    r"^\W*(?:please\s+|also\s+|and\s+|ok(?:ay)?,?\s+|hey,?\s+)*(?:(?:(?:can|could) you |i(?:'d| would) like you to |i "
    r"want you to )?"
    r"(?:(?:please )?(?:remember|note(?: to self)?|keep in mind|bear in mind|make a note|take note|save(?: the fact)?|"
    r"store(?: the fact)?)"
    r"(?: (?:the following|this|for (?:me|later|next time)))?(?: that\b|:)|don'?t (?:ever )?forget(?: that\b|:|,)?(?= "
    r"(?:i|my|we|our|the)\b)))"
    r"\s*(?P<v>.{3,300})$",
    re.IGNORECASE | re.DOTALL,
)
_VAGUE = (
    r"(?!(?:it|that|this|these|those|them|you|your|yours|how|what|when|where|why|who|him|her|both|all|everything|"
    r"anything|nothing|none|for|with|in|on|at|there|together|as|more|less|better|here|by|from|doing that|being able|"
    r"any|some of (?:the|these|those|your)|one|ones|each|either|to (?:know|ask|see|hear|say|think|make sure|add|try|"
    r"get|find|learn more)|"
    r"(?:the|an?|all the|all of the|most of the|some of the) (?:(?:\w+ly |new |great |first |second |third |last |"
    r"other |whole |general )*"
    r"(?:idea|ideas|tips?|suggestions?|way|thought|concept|look|sound|options?|recommendations?|one|ones|fact|advice|"
    r"answer|response|"
    r"examples?|approach|list|plan|story|poem|title|name|details?|emphasis|part|version|point|challenge|feeling|lot))|"
    r"so|too|either)\b)"
)
_OBJECT = rf"{_VAGUE}(?P<v>[^.!?;,]{{2,90}})"

RULES: tuple[Rule, ...] = (
    _rule(
        rf"(?:my (?:full |first |new )?name is|my name's|i changed my name to|call me|"
        rf"i go by|(?:people|friends|everyone|they) calls? me) "
        rf"{_NAME}",
        "fact",
        "name",
    ),
    _rule(
        r"i'?m (?P<v>(?-i:[A-Z])[a-z]+(?:\s+(?-i:[A-Z])[a-z]+)?)(?=\s*$|,| and i\b| from\b)",
        "fact",
        "name",
        confidence=0.9,
    ),
    _rule(rf"{_I}(?:live|reside)s? (?:in|near|at|outside) {_PLACE}", "fact", "home"),
    _rule(rf"{_IM}(?:living|based|residing|settled) (?:in|near|at|out of) {_PLACE}", "fact", "home"),
    _rule(
        rf"{_IVE}(?:moved|relocated)(?: back| out| over| here| house)?(?: from [\w ,'-]+?)? to {_PLACE}", "fact", "home"
    ),
    _rule(rf"{_IM}(?:originally )?from {_PLACE}", "fact", "origin"),
    _rule(r"i (?:was born|grew up) in (?P<v>[^.!?;,]{2,60})", "fact", "origin"),
    _rule(rf"{_I}(?:don'?t|do not|no longer) live (?:in|with|at) (?P<v>[^.!?;,]{{2,60}})", "fact", "home", "over"),
    _rule(rf"{_I}work (?:at|for|with) (?P<v>(?-i:[A-Z])[^.!?;,]{{1,60}}|an? [^.!?;,]{{3,60}})", "fact", "employer"),
    _rule(
        rf"{_I}work (?:as|in) (?!the (?:city|office|same|area|morning|evening)|(?-i:[A-Z]))(?P<v>[^.!?;,]{{3,60}})",
        "fact",
        "occupation",
    ),
    _rule(rf"{_IM}(?:an?|the) (?P<v>{_OCCUPATION})\b(?!'s)(?P<rest>[^.!?;]{{0,80}})", "fact", "occupation"),
    _rule(
        rf"{_IVE}(?:got|started|accepted|landed|took) (?:an?|my|the) (?:new )?(?:job|position|role) (?:at|as|with|in) "
        rf"(?P<v>[^.!?;,]{{2,60}})",
        "fact",
        "employer",
    ),
    _rule(
        rf"{_IVE}left [^.!?;,]{{2,40}} (?:and joined|to join|to work for) (?P<v>(?-i:[A-Z])[^.!?;,]{{1,60}})",
        "fact",
        "employer",
    ),
    _rule(rf"{_I}report to {_NAME}", "fact", "reports_to"),
    _rule(rf"{_IM}(?:an? )?(?P<v>{_DIET})\b", "preference", "diet"),
    _rule(
        rf"{_IM}(?:severely |very |deathly )?(?:allergic|intolerant|sensitive) to (?P<v>[^.!?;]{{2,80}})",
        "fact",
        "allergy.{v}",
    ),
    _rule(
        rf"{_IVE}(?:an? )?(?P<v>(?:\w+ ){{0,2}}(?:allergy|allergies|asthma|diabetes|arthritis|anxiety|adhd|migraines?|"
        rf"insomnia|epilepsy|eczema|dyslexia))\b",
        "fact",
        "health.{v}",
    ),
    _rule(
        rf"my (?:(?:all[- ]time|absolute|personal|current) )?favou?rite (?P<a>[\w' -]{{2,40}}?) (?:is|are|has to be|"
        rf"would be|was) {_VAGUE}(?P<v>[^.!?;]{{2,90}})",
        "preference",
        "favourite.{a}",
    ),
    _rule(
        r"(?P<v>[^.!?;,]{2,60}?) (?:is|are) my (?:(?:all[- ]time|absolute) )?favou?rite (?P<a>[\w' -]{2,40})",
        "preference",
        "favourite.{a}",
    ),
    _rule(
        rf"{_I}(?:don'?t|do not|didn'?t) (?:really |particularly )?(?:like|love|enjoy|care for) {_OBJECT}",
        "preference",
        "taste.{v}",
        "dislike",
    ),
    _rule(
        rf"{_I}(?:hate|dislike|detest|despise|loathe|can'?t stand|cannot stand|avoid) {_OBJECT}",
        "preference",
        "taste.{v}",
        "dislike",
    ),
    _rule(rf"{_I}prefer {_OBJECT}", "preference", "taste.{v}", "prefer"),
    _rule(rf"{_I}(?:love|like|enjoy|adore) {_OBJECT}", "preference", "taste.{v}", "like"),
    _rule(
        rf"{_IM}(?:not (?:really )?(?:into|fond of|a (?:big |huge )?fan of)) {_OBJECT}",
        "preference",
        "taste.{v}",
        "dislike",
    ),
    _rule(
        rf"{_IM}(?:so |very |quite |pretty |really )*(?:into|fond of|passionate about|obsessed with|crazy about|keen "
        rf"on|a (?:big |huge |massive )?fan of) {_OBJECT}",
        "preference",
        "taste.{v}",
        "like",
    ),
    _rule(
        rf"{_I}(?:don'?t|do not|never|can'?t) (?:eat|drink|smoke) (?P<v>[^.!?;,]{{2,60}})",
        "preference",
        "avoids.{v}",
        "dislike",
    ),
    _rule(
        rf"{_I}(?:usually|always|typically|normally|regularly|often|never|rarely|generally|tend to) (?!have to|wonder|"
        rf"need|want|think|thought|forget|find|feel|knew|realized|imagined|heard|been|seen|tried|expected|look "
        rf"forward)(?P<v>[^.!?;]{{4,120}})",
        "pattern",
        "habit.{v}",
    ),
    _rule(
        rf"{_I}(?!(?:go|do|come|meet) (?:a|once|twice|\w+ times)\b|was|had|did|went|hope|think|feel|know|wish|"
        rf"want|need|tried|try|guess|could|would|should|can|will|have been)"
        rf"(?P<v>\w+ [^.!?;,]{{0,70}}\b(?:(?:every|each) (?:other |single )?{_DAYS}|"
        rf"(?:once|twice|[\w-]+ (?:times|days|hours|nights)) (?:a|per) "
        rf"{_DAYS})\b[^.!?;]{{0,40}})",
        "pattern",
        "habit.{v}",
    ),
    _rule(rf"(?:every|each) (?:other |single )?{_DAYS},? (?:i|we) (?P<v>[^.!?;]{{4,120}})", "pattern", "habit.{v}"),
    _rule(
        r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days,? (?:i|we) (?P<v>[^.!?;]{4,120})",
        "pattern",
        "habit.{v}",
    ),
    _rule(
        rf"my (?P<a>{_KIN})(?:'s name is| is (?:called|named)|'s called|'s name was|'s name's|, named|, called) "
        rf"{_NAME}",
        "fact",
        "{a}.name",
    ),
    _rule(
        r"my (?:new |current )?(?P<a>birthday|anniversary|age|height|shoe size|blood type|hometown|address|"
        r"e-?mail(?: address)?|phone "
        r"number|job|profession|occupation|nationality|native language|mother tongue|time ?zone|commute|budget|major|"
        r"zodiac sign|star sign|nickname|degree|car|deadline|salary|rent)(?: is| are|'s)(?: on| in)? "
        r"(?P<v>[^.!?;]{2,120})",
        "fact",
        "{a}",
    ),
    _rule(
        rf"my (?P<a>(?:{_KIN})'s (?:birthday|anniversary|age|job|profession|e-?mail|phone(?: number)?|address|"
        rf"hometown|major|school|nickname))(?: is| was|'s)(?: on| in)? (?P<v>[^.!?;,]{{2,80}})",
        "fact",
        "{a}",
    ),
    _rule(
        rf"my (?P<a>(?:(?:younger|older|little|big|elder|youngest|oldest|late|twin|new|two|three) )?(?:{_KIN})),? "
        rf"(?P<v>(?:(?-i:[A-Z])\w+,? )?(?:is|are|was|works?|lives?|loves?|likes?|hates?|has|have|just|recently|passed|"
        rf"got|moved|turned|studies|plays|prefers|turns|will be)\b(?! (?:so |really |very |also |all |just |always |"
        rf"been |having |getting |doing |being |going |had )*(?:excited|happy|sad|great|amazing|awesome|doing|fine|ok|"
        rf"okay|proud|thrilled|busy|so much|the best|my|a great|such|there|here|coming|trying|looking|a (?:tough|hard|"
        rf"great|rough)|been|pretty|super|helpful|supportive|like)\b)[^.!?;]{{2,140}})",
        "fact",
        "{a}.{v}",
    ),
    _rule(
        rf"{_IVE}(?:an?|two|three|four|five|\d+|no) (?P<v>(?:[\w-]+ ){{0,3}}(?:{_KIN}|siblings|brothers|sisters|sons|"
        rf"daughters|dogs|cats|pets|house|apartment|flat|garden|car|motorcycle|bike|boat|degree|phd|"
        rf"mortgage)\b[^.!?;]{{0,80}})",
        "fact",
        "has.{v}",
    ),
    _rule(rf"{_I}(?:own|drive|ride) (?P<v>an? [^.!?;,]{{3,60}})", "fact", "has.{v}"),
    _rule(
        rf"{_IVE}(?:have )?(?P<v>(?:an? |my )(?:\w+ ){{0,3}}(?:appointment|interview|flight|exam|deadline|wedding|"
        rf"surgery|meeting|reservation|concert)\b[^.!?;]{{0,20}}(?:on|at|in|next|this|tomorrow|"
        rf"tonight)\b[^.!?;]{{0,60}})",
        "fact",
        "event.{v}",
    ),
    _rule(
        rf"{_IVE}(?P<v>(?:just |recently |finally )?(?:graduated|got married|got engaged|got divorced|got promoted|"
        rf"adopted|retired|turned \d+|broke up|had a baby|bought a|was diagnosed|passed my|finished my|enrolled|"
        rf"signed up|quit my)\b[^.!?;]{{0,120}})",
        "fact",
        "event.{v}",
    ),
    _rule(
        rf"{_IM}(?P<v>(?:married|engaged|divorced|single|pregnant|retired|unemployed|self-employed|left-handed|"
        rf"colou?r ?blind|bilingual|adopted|an only child|hard of hearing|an? (?:morning|night|people|cat|dog) person|"
        rf"an? (?:night owl|early (?:bird|riser)|introvert|extrovert)|expecting|\d{{1,3}} years old)\b[^.!?;]{{0,80}})",
        "fact",
        "status.{v}",
    ),
    _rule(
        rf"{_IVE}an? (?P<v>(?:bad|sore|broken|weak|injured|torn|frozen|stiff) (?:back|knee|shoulder|ankle|hip|neck|wrist|leg|"
        rf"arm|foot|heart|stomach|tooth)s?\b[^.!?;]{{0,40}})",
        "fact",
        "health.{v}",
    ),
    _rule(rf"{_I}(?:weigh|am|measure) (?P<v>\d[\d.,]* ?(?:kg|kilos?|lbs?|pounds|stone)\b)", "fact", "weight"),
    _rule(rf"{_I}take (?P<v>\d[\d.,]* ?(?:mg|mcg|ml|g|units)\b(?: of)? [^.!?;,]{{3,60}})", "fact", "medication.{v}"),
    _rule(
        rf"{_I}(?P<v>(?:work|start(?: work)?|finish(?: work)?) (?:from|at|until) \d[^.!?;]{{0,40}})",
        "pattern",
        "hours.{v}",
    ),
    _rule(rf"{_I}use (?P<v>(?:an? |the )?(?-i:[A-Z])(?!PI\b)[^.!?;,]{{1,60}})", "fact", "uses.{v}"),
    _rule(
        rf"{_IM}(?P<v>(?:(?:on (?:holiday|vacation|leave|parental leave|sick leave|maternity leave)|"
        rf"out of (?:the )?office|away)\b"
        rf"[^.!?;]{{0,20}}\b(?:from|until|till|on|next|in|between)|(?:going|flying|travell?ing|driving|moving) to "
        rf"(?-i:[A-Z])\w+[^.!?;]{{0,30}}\b(?:in|on|next|from|for)|(?:meeting|visiting|seeing|marrying) (?-i:[A-Z])\w+"
        rf"[^.!?;]{{0,30}}\b(?:in|on|at|next|tomorrow))\b[^.!?;]{{0,60}})",
        "fact",
        "event.{v}",
    ),
    _rule(r"i'?m (?P<v>(?:1[0-9]|[2-9][0-9]))(?=\s*$|,| and\b)", "fact", "age"),
    _rule(
        rf"{_IM}(?P<v>(?:training for|saving (?:up )?(?:for|to)|learning|studying|preparing for|planning (?:to|on|a|"
        rf"my|our)(?! few\b)|getting (?:married|divorced)|moving to|working towards?|taking (?:a|an|up)|pursuing|"
        rf"building|writing a|expecting)\b[^.!?;]{{3,120}})",
        "fact",
        "doing.{v}",
    ),
    _rule(
        rf"{_I}(?:plan|intend|am going) to (?P<v>(?:learn|move|buy|visit|travel|apply|quit|study|get)\b[^.!?;]{{3,80}})",
        "fact",
        "goal.{v}",
    ),
    _rule(
        rf"my (?:main |long[- ]term |big )?(?:goal|aim|dream|plan|resolution)(?: for [\w ]+)? is (?:to )?{_REST}",
        "fact",
        "goal.{v}",
    ),
    _rule(
        rf"{_I}(?:speak|play|study|studied|majored in|practi[cs]e|collect|volunteer (?:at|for|with)|teach|coach|grow|"
        rf"brew) {_OBJECT}",
        "fact",
        "does.{v}",
    ),
    _rule(
        rf"{_IVE}been (?P<v>(?:working|living|playing|learning|using|studying|practi[cs]ing|married|vegan|vegetarian|"
        rf"running|volunteering|teaching|collecting|doing|dating|training)\b(?! (?:it|them|this|"
        rf"that)\b)[^.!?;]{{1,90}}\b(?:since (?!i\b|it\b|then\b)|for (?:(?:about|over|almost|nearly|around|more than|at "
        rf"least|the (?:past|last)|a (?:few|couple))\s)*(?:\d|an? |one|two|three|four|five|six|seven|eight|nine|ten|"
        rf"twelve|many|several|years|months|weeks|ages))[^.!?;]{{0,40}})",
        "fact",
        "does.{v}",
    ),
    _rule(
        rf"{_FROM_NOW_ON}(?:answer|reply|respond|write|speak|talk)(?: to me| back| everything)* in "
        rf"(?P<v>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?)(?=\s*$|,)",
        "preference",
        "reply_language",
    ),
    _rule(
        rf"{_FROM_NOW_ON}(?P<v>(?:(?:do not|don'?t|never|always) )?(?:answer|reply|respond|write|use|call|"
        rf"give (?:me|us)|keep|include|add|avoid|start|end|format|explain|assume|refer)\b[^.!?;]{{3,120}})",
        "preference",
        "wish.{v}",
    ),
    _rule(
        rf"my (?:new |current )?(?P<a>(?!{_NO_THING}\b)[a-z][\w'-]*(?: [a-z][\w-]*){{0,2}}?) "
        rf"(?:is|are|ends?|starts?|begins?|leaves?|expires?)(?: now)?"
        rf"(?: on| in| at| with| called| named| from| to)* (?P<v>{_TYPED}[^.!?;]{{0,60}})",
        "fact",
        "thing.{a}.{v}",
    ),
)
