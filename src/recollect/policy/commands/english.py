"""How English speakers order their memory about, as data: patterns that must match a whole message.

Named groups: `about` is what it concerns, `n` which of a list, `all` is there when everything is meant.
"""

from __future__ import annotations

import re

from recollect.policy.late import late

PREFIX = re.compile(
    r"(?:(?:(?:i(?:'ve)? changed my mind|on second thoughts?|just so you know|by the way|btw|fyi|one more thing|"
    r"while we're at it|never mind)[\s,:;–—-]+)|"
    r"(?:hey|hi|ok|okay|so|and|now|oh|wait|no(?! more| memor)|sorry|well|actually|just|please|kindly|alright|then|"
    r"for the record)\b"
    r"[\s,.:!-]*)*"
    r"(?:(?:can|could|would|will) (?:you|we|i)(?: please| kindly| just)? |i(?:'d| would) like you to |i want you to |"
    r"i need you to |you (?:can|may|should|must)(?: now)? |let's |let us |please )*"
    r"(?:please |just |kindly )*",
    re.IGNORECASE,
)
POLITELY = re.compile(r".{0,20}?\b(?:can|could|would|will) (?:you|we|i)\b", re.IGNORECASE)
SUFFIX = re.compile(
    r"(?:[\s,]*(?:please|thanks|thank you|thx|for now|now|right now|right away|immediately|for me|again|ok|"
    r"okay|would you|could you|will you|can you|at once|if you can|if possible|for a (?:bit|while|moment|minute|second)))+$",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r"[?!;]\s+\S|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bst)(?<!\bno)(?<!\bmrs)(?<!\bvs)\.\s+\S|"
    r",\s*(?:\w+ ){0,3}(?:said|says)\b|"
    r",\s*(?:what|who|where|when|which|why|how|is|are|do|does|did|can|could|would|should|tell|give|show|"
    r"suggest|recommend|write|explain)\b|\b(?:and|then) (?:also |please |then )*(?:tell|give|show|suggest|recommend|"
    r"write|explain|find|help|make|answer|list|what|how|which|why|where)\b",
    re.IGNORECASE,
)
"""What shows that the message goes on to something that wants an answer."""

_THAT = (
    r"(?:(?:all of |all )?(?:that|this|those|these|them|it)(?: last)?(?: (?:one|thing|memory|fact|note|bit|"
    r"part|entry))?"
    r"|the last (?:one|thing|memory|fact|note|message|entry|bit)(?: i (?:just )?(?:said|told you)| you "
    r"(?:saved|stored))?"
    r"|what i(?:'ve)? (?:just )?(?:said|told you|wrote|mentioned)(?: just now)?"
    r"|what you(?:'ve)? just (?:said|saved|stored|remembered|noted))"
)
_MEMORY = r"(?:(?:from|out of|in) (?:your |the )?memory)"
_ABOUT = r"(?P<about>.{2,120}?)"
_MINE = (
    r"(?P<about>me$|(?:my|our|the fact that|that (?:i|i'm|i've|my|we|our|she|he|they|the)\b|where i|what i|"
    r"how i|who i|when i|what my).{0,120}?)"
)
_SAVED = r"(?:stored|saved|remembered|learned|learnt|noted|kept|recorded|written down|picked up|got)"
_KNOW = rf"(?:know|remember|recall|have(?: {_SAVED})?|{_SAVED})"
_DELETE = r"(?:forget|erase|delete|remove|wipe(?: out)?|clear|drop|scrap|purge|discard|get rid of|throw (?:away|out))"
_NUMBER = r"(?P<n>(?:(?:number|no\.?|#|and|,|the)?\s*(?:\d{1,3}|first|second|third|fourth|fifth|last)(?:\s+one)?\s*)+)"
_THINGS = (
    r"(?:things|anything|everything|stuff|what i (?:say|said|write|tell you)|my (?:messages|words|"
    r"chats))(?: about me| i (?:say|tell you))?"
)
_SINCE = r"(?: from now on| from here on| for now| anymore| any more| any longer| again)?"
_CHAT = r"(?: (?:for|in|during) (?:this|the) (?:chat|conversation|session|talk))?"
_HIDDEN = r"(?:incognito|private)(?: (?:mode|session|chat|conversation))?"
_OWN = (
    r"(?P<about>(?:(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|us)\b|(?:the|this) (?:[\w'-]+ ){1,3}?(?:(?:is|are) now|"
    r"(?:(?:has|have|was|were) )?(?:moved|changed))\b).{2,280}?)"
)
"""A statement of one's own affairs, or that something of the world has changed."""
_REMINDED = (
    r"(?:(?:\s*[,;–—-]+\s*|\s+(?=(?:so|and|please) ))(?:so |and )?(?:please |do )?"
    r"(?:remember|note|save|memori[sz]e|keep in mind) (?:that|this|it))"
)
"""An order of its own, and not the end of "I can't remember that" or "but don't remember that"."""


def _all(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(late(pattern, re.IGNORECASE) for pattern in patterns)


PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    "undo": _all(
        r"(?:take|roll) (?:that|it|this) back",
        r"(?:undo|revert|reverse)(?: (?:that|it|this|the last (?:one|thing|change|action|step|command)|what you just did))?",
    ),
    "why": _all(
        r"why (?:do|did|would) you (?:think|say|believe|assume|claim|suggest|mention)(?: (?:that|so|this|it))",
        r"how (?:do|did|would|could) you (?:know|learn|find out)(?: about)? (?:that|this|it)(?: about me)?",
        r"how (?:do|did|would|could|can) you know (?:that )?(?:i|i'm|i've|my|we|our)\b.{2,80}",
        r"how did you (?:come up with|arrive at|figure out|get to) (?:that|this|it)",
        r"how come you (?:know|think|say) (?:that|this|so)",
        r"where (?:do|did) you (?:get|hear|learn|know|have|read|find) (?:that|this|it)(?: from)?",
        r"where (?:does|did) (?:that|this|it) come from",
        r"what makes you (?:think|say|believe|assume) (?:that|so|this)",
        r"who (?:told|said) (?:you )?(?:that|this|so)(?: to you)?",
        r"(?:what's|what is|what was) (?:your|the) (?:source|basis|evidence|reason)(?: (?:for|of) (?:that|"
        r"this|it|saying (?:that|so)))?",
        r"based on what",
        r"on what (?:basis|grounds|evidence) (?:do|did|would) you (?:say|think|believe|claim) (?:that|so|this)",
        r"what(?:'s| is| was) (?:that|this|it) based on",
    ),
    "incognito_start": _all(
        rf"(?:start|begin|enter|go|go into|switch (?:to|into|on)|turn on|enable|activate|use|open|move to) "
        rf"(?:an? |the )?{_HIDDEN}{_CHAT}",
        rf"(?:turn|switch) (?:the )?{_HIDDEN} on{_CHAT}",
        r"(?:make|keep) (?:this|the|our) (?:chat|conversation|session|talk) (?:incognito|private|off the record)",
        r"(?:this|the|our) (?:chat|conversation|session|talk) (?:should|must|has to|needs to|is to|shall) (?:be|stay|go) "
        r"(?:incognito|private|off the record)",
        rf"incognito(?: mode)?(?: on)?{_CHAT}",
        r"(?:this is |go |we're |we are )?off the record(?: now)?",
        r"(?:i(?:'d| would) like to|i want to) (?:go|be|stay) incognito",
    ),
    "incognito_end": _all(
        rf"(?:stop|end|exit|leave|quit|turn off|switch off|disable|deactivate|close|finish|come out of|"
        rf"get out of) (?:the |this )?{_HIDDEN}{_CHAT}",
        rf"(?:turn|switch) (?:the )?{_HIDDEN} off{_CHAT}",
        r"incognito(?: mode)? off",
        rf"(?:i'm|i am|we're|we are) (?:done|finished|through) (?:with|being) (?:the )?{_HIDDEN}",
        r"(?:we're |we are |go |i'm )?back on (?:the )?record",
    ),
    "memory_off": _all(
        r"(?:turn|switch) (?:your |the |my )?memory(?: feature| function)? off" + _SINCE,
        r"(?:turn|switch) off (?:your |the |my )?memory(?: feature| function)?" + _SINCE,
        r"(?:disable|deactivate|pause|suspend|stop) (?:your |the |my )?memory(?: feature| function)?",
        r"memory off",
        r"no (?:more )?(?:memory|memories|remembering)(?: from (?:here|now) on| any ?more)",
        rf"(?:stop|quit|cease) "
        rf"(?:remembering|saving|storing|memori[sz]ing|recording|noting(?: down)?|logging|collecting|keeping track of|"
        rf"tracking|taking notes(?: (?:of|on))?)(?: {_THINGS})?{_SINCE}",
        rf"(?:don't|do not) (?:remember|save|store|record|keep) {_THINGS}{_SINCE}",
        r"no more remembering(?: things)?",
    ),
    "memory_on": _all(
        r"(?:turn|switch) (?:your |the |my )?memory(?: feature| function)?(?: back)? on" + _SINCE,
        r"(?:turn|switch)(?: back)? on (?:your |the |my )?memory(?: feature| function)?" + _SINCE,
        r"(?:enable|activate|resume|reactivate|re-enable|restart|unpause) (?:your |the |"
        r"my )?memory(?: feature| function)?",
        r"memory(?: back)? on",
        rf"(?:start|resume|begin|go back to) (?:remembering|saving|storing)(?: {_THINGS})?{_SINCE}",
        rf"remember {_THINGS} again",
        r"remember things",
    ),
    "unpin": _all(
        rf"unpin {_THAT}",
        rf"unpin (?:the memory about |what i said about |the one about )?{_ABOUT}",
        r"(?:remove|take off|undo) the pin(?: (?:from|on|of) (?:that|this|it))?",
        r"take the pin off(?: (?:of )?(?:that|this|it))?",
        r"unpin",
        r"(?:this|that|it)(?: one)? (?:doesn't|does not|needn't|no longer needs? to|need not)(?: need to)? (?:be|stay) pinned"
        r"(?: any ?more| any longer)?",
        r"(?:this|that|it)(?: one)? (?:can|may|should) be unpinned",
    ),
    "pin": _all(
        rf"(?:(?:this|that|it)(?: one)?(?:'s| is) (?:very |really |quite |so )?important[,:;]?(?: -)? (?:please |so )*)?"
        rf"pin {_THAT}(?: {_MEMORY}| down)?",
        rf"pin (?:the memory about |the memory of |what i (?:just )?(?:said|told you) about |the one about ){_ABOUT}",
        r"pin (?P<about>my (?!board|wall|map|tweet|post|tab)[\w' -]{2,40})",
        rf"(?:always|forever) (?:remember|keep) {_THAT}",
        rf"(?:make sure (?:you|to) |you must )?never(?: ever)? forget {_THAT}",
        rf"(?:don't|do not)(?: you)?(?: ever)? forget {_THAT}",
        rf"mark {_THAT} as (?:important|pinned)",
        rf"keep {_THAT} (?:pinned|forever|for good|permanently)",
    ),
    "forget": _all(
        r"forget it all",
        rf"forget (?!it\b){_THAT}(?: ever happened)?(?: completely| {_MEMORY}| i (?:said|told you) (?:that|this|so))?",
        rf"{_DELETE} (?:that|this|the|those|these|my)(?: (?:last|latest|previous|newest|first))? "
        rf"(?:memory|memories|note|fact|entry)(?: you (?:just )?{_SAVED})?",
        rf"(?:{_DELETE}|strike|scratch|take) {_THAT} {_MEMORY}",
        rf"{_DELETE} what you(?:'ve)? just (?:saved|stored|remembered|noted)",
        rf"(?:don't|do not) (?:remember|save|store|keep|memori[sz]e) {_THAT}",
        rf"(?:stop remembering|unlearn|unremember|unsave) {_THAT}",
        rf"(?:forget|{_DELETE} (?:the )?(?:memory|note|fact|entry|item|one)) {_NUMBER}",
        rf"{_DELETE} (?:the )?(?P<n>first|second|third|fourth|fifth|last) (?:memory|note|fact|entry|item|one)",
        rf"forget (?P<all>everything|it all|all)(?: (?:that )?(?:you(?:'ve)? (?:ever )?{_KNOW}|i(?:'ve)? "
        rf"(?:ever )?(?:said|told you)))?(?: about (?:me|us))?",
        r"forget (?P<all>me|all about me|everything about me)",
        rf"{_DELETE} (?P<all>(?:all )?(?:of )?(?:your|my|the)?\s?(?:entire |whole )?memor(?:y|ies)(?: (?:of|"
        rf"about) me)?)",
        rf"{_DELETE} (?P<all>everything you {_KNOW} about me)",
        r"(?:reset) (?P<all>(?:your|my|the) memory)",
        rf"{_DELETE} (?:everything|all|anything|whatever|what) (?:(?:that )?you(?:'ve)? {_KNOW} )?(?:about|on|"
        rf"regarding) {_ABOUT}",
        rf"{_DELETE} (?:everything |all |anything |what(?:ever)? )"
        rf"(?:that )?i(?:'ve)? (?:just )?(?:said|told you|mentioned) about {_ABOUT}",
        rf"{_DELETE} (?:the|my|your|all|all the|any) (?:memory|memories|notes?|facts?|things?) (?:about|of|"
        rf"on) {_ABOUT}",
        rf"forget (?:about )?{_MINE}",
        rf"{_DELETE} {_ABOUT} {_MEMORY}",
        rf"stop remembering {_MINE}",
    ),
    "ask": _all(
        rf"what (?:exactly |all |else )?(?:do|can) you (?:still )?(?:remember|recall)(?: (?:about|of|on|"
        rf"regarding|from) {_ABOUT})?",
        r"what (?:exactly |all |else )?do you (?:actually )?know about (?P<about>me|myself|us|my .{2,80}|"
        r"our .{2,80})(?: so far)?",
        rf"what (?:have you|do you have|did you) (?:stored|saved|remembered|learned|learnt|noted|kept|save|"
        rf"store|remember|"
        rf"learn|in (?:your )?memory)(?: (?:about|on|of) {_ABOUT})?(?: so far)?",
        rf"(?:tell|show|remind) me (?:of )?(?:everything|what|all|all that|anything) you "
        rf"(?:still )?(?:remember|recall|have stored|have saved)(?: (?:about|of|on) {_ABOUT})?",
        r"what (?:information|data|details|facts|memories) do you have (?:about|on) (?P<about>me|myself|us|"
        r"my .{2,80}|our .{2,80})",
        r"(?:tell|show|remind) me (?:everything|what|all|all that|of what|of everything) you know about "
        r"(?P<about>me|myself|us|my .{2,80}|our .{2,80})",
        rf"(?:list|show(?: me)?) (?:everything|all|what|all that) you (?:remember|have stored|have saved)(?: "
        rf"(?:about|of|on) {_ABOUT})?",
        r"(?:list|show(?: me)?) (?P<all>(?:all )?(?:of )?(?:my|your|the) memories)",
        rf"(?:list|show(?: me)?) (?:all )?(?:my|your|the) memories (?:about|of|on) {_ABOUT}",
        r"do you (?:still )?(?:remember|recall|know) anything (?:about|of|on) (?P<about>(?:me|my|our|us)\b.{0,80}?)",
        rf"do you (?:still )?(?:remember|recall) anything (?:about|of|on) {_ABOUT}",
        rf"(?:(?:tell|show) me )?what(?:'s| is| do you have| have you got) (?:in|inside) (?:your )?memory(?: (?:about|on|of) "
        rf"{_ABOUT})?",
        rf"what (?:have you|do you have|did you) (?:got|have|keep|kept) (?:on|about) {_ABOUT}(?: {_MEMORY}| on file)",
        rf"(?:list|show(?: me)?|tell me|give me)(?: a (?:list|summary|rundown) of)? (?:everything|all|what|all that|the things) "
        rf"(?:that )?you(?:'ve| have)? {_KNOW}(?: (?:about|of|on) {_ABOUT})?",
        r"which (?:of )?(?P<about>(?:my|our) .{2,60}?) (?:do|can|have) you (?:still )?"
        r"(?:remember(?:ed)?|recall|know|stored|saved)",
        rf"what (?:are|were) the (?:things|facts|details|memories) you(?:'ve| have)? {_KNOW} (?:about|on|of) {_ABOUT}",
        rf"(?:do|did) you (?:have |keep |save |store )(?:anything|something)(?: (?:saved|stored|in memory|noted))? (?:about|on) "
        rf"(?P<about>(?:me|my|our|us)\b.{{0,80}}?)(?: {_MEMORY})?",
        r"what (?:did|have) i (?:already |ever )?(?:tell|told|say|said|mention|mentioned)(?: to)?(?: you)? about "
        r"(?P<about>(?:my|our) .{2,80}|myself|me)",
        rf"what do you still know (?:about|of) {_ABOUT}",
        r"what (?:have you got|do you have) (?:on|about) (?P<about>me|us)",
        rf"what(?:'s| is) (?:{_SAVED}|remembered)(?: in (?:your )?memory)? (?:about|on|of) {_ABOUT}",
        r"(?:do you have |have you got |are there )?any (?:memories|memory|notes) (?:about|of|on) "
        r"(?P<about>(?:me|my|our|us)\b.{0,80}?)",
    ),
    "remember": _all(
        r"(?:remember|memori[sz]e)(?: for (?:me|later|next time|the future))? that (?!time|day|night|summer|"
        r"winter|trip|"
        r"one\b|movie|film|song|book|guy|place|evening|moment)(?P<about>.{3,300})",
        r"(?:remember|memori[sz]e|save|store|note|write(?: this)? down|jot(?: this)? down)(?: (?:this|the following))?(?: for "
        r"(?:me|later))?\s*:\s*(?P<about>.{3,300})",
        r"remember (?P<about>(?:i|i'm|i've|i'd|we|we're|we've) (?!met\b|went|talked|saw|were\b|had\b|used\b).{3,300})",
        r"remember (?P<about>(?:my|our) (?:[\w'-]+ ){1,5}(?:is|are|was|has|have|'s|lives?|works?|likes?|"
        r"starts?|ends?|needs?) .{1,280})",
        r"(?:make|take)(?: me)? a (?:mental )?note(?: that|:| of the fact that|,)\s*(?P<about>.{3,300})",
        r"(?:(?:save|store|keep) the fact|note down|write down|jot down) that (?P<about>.{3,300})",
        r"(?P<about>remember to .{3,280})",
        rf"(?:(?:please )?(?:keep|bear)(?: this)? in mind|for (?:your|future|later) reference|for next time)(?: that|:|,)? "
        rf"{_OWN}(?:{_REMINDED})?",
        rf"(?:please )?(?:note|take note) that {_OWN}",
        rf"{_OWN}{_REMINDED}",
    ),
}

YES = re.compile(
    r"(?:yes|yep|yeah|yup|sure|ok|okay|do it|go ahead|confirm(?:ed)?|of course|absolutely|right|correct|please do)"
    r"(?:[\s,]+(?:yes|please|do it|go ahead|do|i'm sure|i am sure|all of (?:them|it)|all|both|delete (?:it|"
    r"them)|forget (?:it|them|that)))*",
    re.IGNORECASE,
)
NO = re.compile(
    r"(?:no|nope|nah|cancel|stop|don't|do not|never mind|leave it|keep (?:it|them|that|those))"
    r"(?:[\s,]+(?:no|thanks|thank you|don't|do not|keep (?:it|them|that)|leave (?:it|them)|cancel))*",
    re.IGNORECASE,
)
SOME = re.compile(
    r"(?:only |just |forget |delete |yes,? )*(?P<n>(?:(?:number|no\.?|#|and|,|the)?\s*(?:\d{1,3}|first|second|"
    r"third|fourth|fifth|last)(?:\s+one)?\s*)+)",
    re.IGNORECASE,
)
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
