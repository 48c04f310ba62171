"""The signs of injection in English, in code and in the marks that models are spoken to with."""

from __future__ import annotations

from recollect.policy.injection.phrases import (
    AI,
    DROP,
    EARLIER,
    GIVE,
    IN_YOUR_REPLY,
    NO_ORDER,
    PUT,
    REPLY,
    RULES,
    SECRET,
    SENTENCE,
    SINK,
    START,
    THE,
    THIS_CODE,
    WORK,
)
from recollect.policy.injection.signs import Sign, sign

DROPS = (
    "ignor|disregard|forget|overrid|bypass|discard|drop|neglect|"
    "dismiss|skip|erase|follow|obey|heed|comply|set aside|no attention"
)
CODES = "code|snippet|script|function|block|excerpt|segment|fragment|lines"
REPLIES = "your repl|your response|your answer|your output|your next message"
NEVER = "do not|don't|never|without"
MODES = " mode"

ENGLISH: tuple[Sign, ...] = (
    # Orders to drop earlier orders.
    sign(
        "override",
        0.75,
        rf"\b{DROP}\s+{THE}{EARLIER}\s+(?:\w+\s+){{0,3}}?{RULES}\b",
        needs=DROPS,
    ),
    sign(
        "override",
        0.6,
        rf"\b{DROP}\s+(?:all |any )?(?:of )?(?:your|the assistant's) {RULES}\b",
        needs=DROPS,
    ),
    sign(
        "override",
        0.6,
        rf"\b{DROP}\s+{THE}(?:what|everything|anything|all)\b[^.\n]{{0,24}}\b(?:told|said|above|before|"
        rf"know|given)\b",
        needs=DROPS,
    ),
    sign(
        "override",
        0.6,
        rf"\b{DROP}\s+{THE}{RULES}\s+(?:above|before|given|you (?:were|have)|so far)\b",
        needs=DROPS,
    ),
    sign(
        "new-orders",
        0.4,
        r"\b(?:new|updated|real|actual|revised|true|following) (?:system )?(?:instructions?|task|"
        r"directives?|orders?|prompt)\s*(?::|are\b|is\b|from\b)",
        needs="instruction|task|directive|order|prompt",
    ),
    sign(
        "new-orders",
        0.35,
        r"\binstead,? (?:you (?:must|should|will|are)|do the following|just (?:say|reply|output|write)|"
        r"(?:output|respond|reply|print|execute|say)\b)",
        needs="instead",
    ),
    # Orders for all times to come.
    sign(
        "standing",
        0.3,
        r"\bfrom (?:now|this (?:point|moment)) on(?:wards?)?,?\s+(?:you|always|never|respond|reply|answer|"
        r"act|ignore|every)\b",
        needs="from now on|from this ",
    ),
    sign(
        "standing",
        0.35,
        rf"\bin (?:all|every|any)(?: of)?(?: your)? (?:future|subsequent|following|"
        rf"later) (?:\w+ )?(?:{REPLY}|conversations?|chats?|sessions?|interactions?)",
        needs="future|subsequent|following|later",
    ),
    sign(
        "standing",
        0.35,
        r"\b(?:save|store|write|add|commit|record) (?:this|the following|it) (?:in|to|into) (?:your |the |"
        r"long[- ]term )+memory\b",
        needs="memory",
    ),
    # Another role for the reader.
    sign(
        "role",
        0.4,
        r"\byou are (?:now|no longer|actually)\s+(?:a|an|the|in|my|bound|dan\b|free|not|going|under|"
        r"restricted|subject)\b",
        needs="you are ",
    ),
    sign(
        "role",
        0.4,
        r"\b(?:act|behave|respond|operate|answer|pose) as (?:if you (?:were|are|have)|though you|"
        r"an? (?:unrestricted|unfiltered|uncensored|evil|different|rogue|root|administrator|developer))",
        needs=(
            "as if you |as though you|unrestricted|unfiltered|uncensored|evil|different|rogue|root|"
            "administrator|developer"
        ),
    ),
    sign(
        "role",
        0.3,
        r"\bpretend (?:that )?(?:you(?:'re| are| have)|to be (?:an? )?(?:unrestricted|evil|the system|"
        r"admin\w*|developer))",
        needs="pretend",
    ),
    sign(
        "role",
        0.5,
        r"\b(?:god|dan|jailbreak|sudo|unrestricted) mode\b[^.\n]{0,20}\b(?:on|enabled?|activated?|unlocked|active)\b|"
        r"\b(?:enable|activate|enter|switch to) (?:god|dan|jailbreak|sudo|unrestricted) mode\b",
        needs=MODES,
    ),
    sign(
        "role",
        0.25,
        r"\b(?:developer|debug|admin|root|maintenance) mode\b[^.\n]{0,20}\b(?:on|enabled?|activated?|unlocked|active)\b|"
        r"\b(?:enable|activate|enter|switch to) (?:developer|debug|admin|root|maintenance) mode\b",
        needs=MODES,
    ),
    # A voice that is not the text's own.
    sign(
        "voice",
        0.4,
        r"(?:^|\n)\s*[\[(<*#\-=_ ]{0,6}(?:system|developer|admin(?:istrator)?)(?: (?:prompt|message|note|"
        r"notice|override|alert|instruction)s?)?[\])>*#\-=_ ]{0,6}\s*[:：]",
        needs="system|developer|admin",
    ),
    sign(
        "voice",
        0.6,
        r"<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|"
        r"eot_id)\s*\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
        needs="<|inst]",
    ),
    sign(
        "voice",
        0.3,
        r"(?:^|\n)\s*#{1,6}\s*(?:system|instructions?|new instructions?|prompt|override)"
        r"\b\s*[:：]?\s*(?:\n|$)",
        needs="#",
    ),
    sign(
        "voice",
        0.5,
        r"</?(?:system|developer|instructions?|system[-_](?:prompt|message|reminder)|admin)"
        r"\b[^>\n]{0,60}>",
        needs="<",
    ),
    sign(
        "voice",
        0.45,
        r"\b(?:this is|message from|by order of|on behalf of|authori[sz]ed by) (?:your|"
        r"the) (?:system administrators?|developers?|creators?|admin(?:istrator)?s?|system|openai|"
        r"anthropic|security team)\b",
        needs="system|admin|developer|creator|openai|anthropic|security team",
    ),
    # An end that is not the end.
    sign(
        "delimiter",
        0.5,
        r"[-=_*#~<\[({]{2,8}\s*/?(?:end|begin|start|close|stop)(?:\s+of)?(?:\s+(?:the|"
        r"this))?[ _-](?:\w+[ _-]){0,2}(?:context|documents?|data|memor(?:y|ies)|prompt|instructions?|"
        r"input|system|conversation|results?|email)\b",
        needs="context|document|data|memor|prompt|instruction|input|system|conversation|result|email",
    ),
    sign(
        "delimiter",
        0.5,
        r"</\s*(?:\w+[-_])?(?:context|documents?|data|memor(?:y|ies)|user|tool(?:[-_]results?)?|results?|"
        r"untrusted|input|quote|reference|conversation|recollect)(?:[-_]\w+)?\s*>",
        needs="</",
    ),
    sign(
        "delimiter",
        0.4,
        r"\b(?:end of (?:the )?(?:context|document|data|memory|user input|memories))\b[^\n]{0,12}(?:\n|$)",
        needs="end of ",
    ),
    # The reader is a machine, and is spoken to.
    sign(
        "machine",
        0.4,
        rf"\b(?:attention|dear|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|"
        rf"important (?:for|to)|notice to|warning to)[,:]?\s+(?:all |any |the |every |"
        rf"other )?(?:\w+ )?{AI}\b",
        needs="attention|dear|note|message|instruction|important|notice|warning",
    ),
    sign(
        "machine",
        0.45,
        rf"\b(?:if|as|since|because) you(?:'re| are) (?:an? |the )(?:\w+ )?{AI}\b",
        needs="you're a|you are a|you're the|you are the",
    ),
    sign(
        "machine",
        0.4,
        rf"\b(?:any|every|the|all|whichever) {AI}(?: \w+)? (?:reading|processing|summari[sz]ing|parsing|"
        rf"handling|that (?:reads?|process\w*|sees?)|who (?:reads?|sees?)|must|shall)\b",
        needs=(
            "reading|processing|summari|parsing|handling|must|shall|that read|that process|that see|who read|who see"
        ),
    ),
    # A trap that waits for its moment.
    sign(
        "trigger",
        0.35,
        r"\b(?:when|whenever|if|once|as soon as|every time|each time|next time|after)\s+(?:you(?:'ve|"
        r" have)?|the assistant|the model|the ai)\s+(?:see|read|receive|process|retrieve|encounter|recall|"
        r"find|load|access|summari[sz]e)\w*\s+(?:this|these|the following|the above|it)\b",
        needs="see|read|receive|process|retrieve|encounter|recall|find|load|access|summari",
    ),
    sign(
        "trigger",
        0.3,
        r"\b(?:when|whenever|if|every time|each time|next time)\s+(?:the user|a user|users|anyone|someone|"
        r"somebody|they|asked)\b[^.\n]{0,60},?\s+(?:you (?:must|should|will|have to)|always|never|say|"
        r"tell|reply|respond|answer|recommend|claim|insert|call|use|run|send)\b",
        needs="user|anyone|someone|somebody|they|asked",
    ),
    # What must not leave, and where it should go.
    sign(
        "leak",
        0.4,
        rf"(?<!never )(?<!not )(?<!n't )\b{GIVE}\b[^.\n]{{0,60}}?\b{SECRET}",
        needs=(
            "send|forward|mail|post|upload|leak|transmit|exfiltrate|reveal|print|output|repeat|disclose|"
            "dump|expose|share|display|recite|copy|append|encode|submit|show me|tell me|give me"
        ),
    ),
    sign(
        "leak",
        0.4,
        r"\b(?:what|which) (?:is|are|were) your (?:(?:system|initial|hidden|original|secret) (?:prompts?|"
        r"instructions?|message))",
        needs="is your |are your |were your ",
    ),
    sign(
        "address",
        0.25,
        r"\bto\s+(?:\w+\s+){0,3}(?:https?://|[\w.+-]{1,64}@[\w-]{1,64}\.\w)",
        supports=True,
    ),
    sign(
        "beacon",
        0.5,
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}(?:\?|=|%7b|\{|\[|<)[^)\n]{0,200}\)?",
        needs="![",
    ),
    # Tools called by a text.
    sign(
        "tool",
        0.55,
        r"</?(?:tool_call|function_calls?|tool_use|tool_code|invoke|antml|function_results)\b|"
        r"\{\s*\"(?:name|tool|function|action|"
        r"recipient_name)\"\s*:\s*\"[\w.\-]{1,64}\"\s*,\s*\"(?:arguments|parameters|args|input|"
        r"action_input|params)\"\s*:",
        needs="<|{",
    ),
    sign(
        "tool",
        0.3,
        r"\b(?:call|invoke|use|trigger) (?:the )?[`'\"]?[\w.]{2,40}[`'\"]? (?:tool|plugin)"
        r"\b[^.\n]{0,40}\b(?:with|to|and|on|passing)\b",
        needs=" tool| plugin",
    ),
    sign(
        "shell",
        0.2,
        r"\b(?:run|execute|type|paste|enter) (?:the|this|these|following|below| )+(?:shell |terminal |"
        r"bash |powershell |system )?commands?\b[^.\n]{0,40}[:`]|\bcurl\s[^\n|]{1,200}\|\s*(?:ba)?sh\b|"
        r"\brm -rf\s+[/~]",
        supports=True,
    ),
    sign(
        "tool",
        0.45,
        r"\b(?:delete|erase|wipe|purge|remove|forget|overwrite) (?:all |every |everything |the |of |"
        r"user's |stored |your |saved )+(?:memor(?:y|ies)|records?|conversations?|files|data(?:base)?|"
        r"history)\b[^.\n]{0,60}\b(?:now|immediately|silently|without|at once|first)\b|\bmemory\.(?:add|"
        r"update|delete)\s*\(",
        needs="delete|erase|wipe|purge|remove|forget|overwrite|memory.",
    ),
    # What the user must not notice.
    sign(
        "conceal",
        0.45,
        r"\b(?:do not|don't|never|must not|without)\s+(?:ever )?(?:tell|mention|inform|reveal|alert|"
        r"notify|disclos|warn|let|show|ask|explain|acknowledg|telling|mentioning|informing|revealing|"
        r"alerting|notifying|asking)\w*\s+(?:(?:this|it|that|anything|these|about|any|of|to|instructions?|"
        r"the fact)\s+){0,4}(?:the |a |your |any )?(?:users?|humans?|anyone|anybody|owner|operator|"
        r"person)\b",
        needs=f"{NEVER}|must not",
    ),
    sign(
        "conceal",
        0.3,
        r"\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|refer to) (?:this|these|the|"
        r"that) (?:instructions?|prompt|message|note|request|order|rule)s?\b|\b(?:secretly|silently|"
        r"covertly|without (?:the user(?:'s)?|their|any) (?:knowledge|knowing|noticing|confirmation|"
        r"approval|consent))\b",
        needs=f"{NEVER}|secretly|silently|covertly",
    ),
    sign(
        "freedom",
        0.35,
        r"\b(?:without|no|free (?:of|from)|ignoring|remove|lift|not bound by|disable)\s+(?:any |all |"
        r"your |the |its )*(?:\w+ )?(?:restrictions?|censorship|content (?:filter|polic)\w*|"
        r"safety (?:filters?|guidelines?|measures?|rules?)|guardrails?|ethical (?:\w+ )?(?:guidelines?|"
        r"constraints?|concerns?)|moral (?:\w+ )?(?:constraints?|guidelines?))",
        needs="restriction|censorship|content|safety|guardrail|ethical|moral",
    ),
    sign(
        "pressure",
        0.12,
        r"\byou (?:must|have to|are (?:required|obliged|ordered|commanded) to)\b|\b(?:mandatory|"
        r"imperative|immediately|at all costs|highest priority|top priority|no matter what|strictly)\b|"
        r"(?:^|\n)\W{0,4}(?:important|urgent|critical|attention|warning)\W{0,4}[:!：]",
        supports=True,
    ),
    # The reply bent to someone else's ends.
    sign(
        "steer",
        0.55,
        rf"{START}{PUT}\s+[^\n]{{0,160}}?{IN_YOUR_REPLY}",
        needs=REPLIES,
    ),
    sign(
        "steer",
        0.55,
        rf"{SENTENCE}(?!{NO_ORDER})[a-z]{{3,16}}\s[^\n.!?]{{0,160}}?{IN_YOUR_REPLY}",
        needs=REPLIES,
    ),
    sign(
        "steer",
        0.3,
        rf"\b(?:please|always|must|should|to)\s+{PUT}\s+[^\n]{{0,160}}?\byour {REPLY}\b",
        needs=f"{REPLIES}|your summar",
    ),
    sign(
        "lure",
        0.2,
        r"\b(?:www\.|https?://|[\w-]{1,64}\.(?:com|net|org|io)\b)|[\w.+-]{1,64}@[\w-]{1,64}\.\w",
        supports=True,
    ),
    sign(
        "deceit",
        0.25,
        r"\b(?:isn't|is not|aren't|not) (?:actually )?(?:true|real|legitimate)\b|\b(?:fake|false|phishing|"
        r"scam|virus|malware|trojan|ransomware|misleading|fabricated|disguised)\b",
        supports=True,
    ),
    # Code to be carried along.
    sign("graft", 0.35, rf"{THIS_CODE}[^\n]{{0,100}}?\byour (?:\w+ ){{0,3}}{WORK}\b", needs=CODES),
    sign("graft", 0.35, rf"\byour (?:\w+ ){{0,3}}{WORK}\b[^\n]{{0,100}}?{THIS_CODE}", needs=CODES),
    sign(
        "graft",
        0.3,
        rf"{SENTENCE}(?!{NO_ORDER})[a-z]{{3,16}}\s[^\n.!?]{{0,100}}?{THIS_CODE}",
        needs=CODES,
    ),
    sign(
        "sink",
        0.3,
        SINK,
        supports=True,
    ),
)
