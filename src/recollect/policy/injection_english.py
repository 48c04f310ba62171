"""The signs of injection in English, in code and in the marks that models are spoken to with."""

from __future__ import annotations

from recollect.policy.injection_signs import Sign, sign

_THE = r"(?:(?:all|any|every|each|the|your|my|our|these|those|this|that|of|and|other|everything)\s+){0,4}"
_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|past|old|"
    r"system|safety|developer|hidden|current|given)"
)
_RULES = (
    r"(?:instruct(?:ion|ed)\w*|prompts?|directives?|directions?|rules?|guidelines?|guardrails?|commands?|orders?|"
    r"constraints?|restrictions?|polic(?:y|ies)|programming|training|safeguards?|messages?|context|text)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard(?:ing)?|drop|"
    r"neglect|dismiss|skip|erase|set aside|(?:do not|don't|stop|quit) (?:follow|obey|heed|comply with)(?:ing)?|"
    r"pay no attention to|no longer (?:follow|obey))"
)
_REPLY = r"(?:repl(?:y|ies)|responses?|answers?|output|summar(?:y|ies)|next message)"
_WORK = (
    rf"(?:{_REPLY}|code(?:base)?|solutions?|implementations?|algorithms?|scripts?|programs?|projects?|software|systems?|"
    r"applications?|apps?|frameworks?|workflows?|logic|architecture|design|development|functions?|modules?|approach)"
)
_THIS_CODE = (
    r"\b(?:following|subsequent|below|next|provided|attached|this)\s+(?:\w+\s+){0,2}"
    r"(?:code|snippets?|scripts?|functions?|(?:code )?(?:blocks?|excerpts?|segments?|fragments?|lines))\b"
)
_PUT = (
    r"(?:add|append|augment|blend|embed|enhance|enrich|fuse|include|incorporate|inject|insert|integrate|interweave|"
    r"introduce|meld|merge|mix|modify|place|prepend|put|sprinkle|supplement|weave|work|alter|tweak|amend|"
    r"finish|conclude|close|begin|start|end|promote|advertise|mention|slip)"
)
_SECRET = (
    r"(?:system prompts?|(?:initial|hidden|secret|original|your) (?:instructions|prompts?|rules|guidelines)|api[ _-]?keys?|"
    r"passwords?|credentials?|access tokens?|secret keys?|private keys?|session tokens?|cookies|"
    r"(?:conversation|chat|browsing|search) (?:history|logs?)|(?:private|personal|confidential|sensitive|user(?:'s)?) "
    r"(?:data|info(?:rmation)?|details|files|messages|memories)|(?:all|every(?:thing)?|stored|saved) (?:the |your |its )?"
    r"memor(?:y|ies)|environment variables|credit card|contact list|\.env\b|ssh keys?)"
)
_GIVE = (
    r"(?:send|forward|e-?mail|post|upload|leak|transmit|exfiltrate|reveal|print|output|repeat|disclose|dump|"
    r"expose|share|show me|tell me|give me|display|recite|copy|append|encode|submit)"
)
_SINK = (
    r"(?:requests\.(?:post|put)|urllib|httpx?\.client|socket\.|\.sendall\(|\.sendto\(|smtplib|sendmail|ftplib|paramiko|"
    r"paho\.mqtt|os\.system|subprocess|os\.remove|os\.rename|shutil|\bexec\(|\beval\(|rm -rf|chmod|systemctl|"
    r"os\.environ|psutil|keyboard|pynput|getpass|cookies?jar|document\.cookie|xmlhttprequest|fetch\(|curl |wget|nohup|"
    r"winreg|ctypes|urlopen|requests\.get)"
)
_AI = (
    r"(?:ai|a\.i\.|assistants?|chat ?bots?|(?:large )?language models?|llms?|agents?|models?|bots?|"
    r"chatgpt|gpt|claude|gemini|copilot)"
)
_START = r"(?:^|[\n.!?:;*#>\-]\s*|\b(?:seamlessly|harmoniously|then|also|and)\s+)"
_SENTENCE = r"(?:^|[\n.!?]\s?)(?:\w{3,16}ly,?\s)?"
_NO_ORDER = (  # words that open a statement, a question or a courtesy rather than an order
    r"(?:thank\w*|thanks|please|what|which|who|whom|whose|when|where|why|how|the|this|that|these|those|there|they|she|her|his|"
    r"you|your|our|their|its|it's|can|could|would|will|should|shall|may|might|must|have|has|had|are|was|were|did|does|"
    r"and|but|for|from|with|without|after|before|because|although|while|once|since|until|unless|if|as|based|regarding|"
    r"about|given|according|also|always|never|just|try|explain|justify|practice|limit|yes|"
    r"not|hey|hello|sorry|great|good|nice|some|any|all|one|looking|waiting|hoping|"
    r"[a-z]+ing|[a-z]+ed|appreciate|love|loved|hope|read|got|let|lets|let's|see|i'\w+|we'\w+|you'\w+)\b"
)
_IN_YOUR_REPLY = (
    r"(?<!for )(?<!from )(?<!after )(?<!about )(?<!upon )(?<!on )(?<!and )"
    r"\byour (?:reply|response|answer|output|next message)\b"
    r"(?!\s(?:to (?:my|the|this|that|her|his)|is|was|will|has|about|should)\b)"
)

ENGLISH: tuple[Sign, ...] = (
    # Orders to drop earlier orders.
    sign(
        "override",
        0.75,
        rf"\b{_DROP}\s+{_THE}{_EARLIER}\s+(?:\w+\s+){{0,3}}?{_RULES}\b",
    ),
    sign(
        "override",
        0.6,
        rf"\b{_DROP}\s+(?:all |any )?(?:of )?(?:your|the assistant's) {_RULES}\b",
    ),
    sign(
        "override",
        0.6,
        rf"\b{_DROP}\s+{_THE}(?:what|everything|anything|all)\b[^.\n]{{0,24}}\b(?:told|said|above|before|"
        rf"know|given)\b",
    ),
    sign(
        "override",
        0.6,
        rf"\b{_DROP}\s+{_THE}{_RULES}\s+(?:above|before|given|you (?:were|have)|so far)\b",
    ),
    sign(
        "new-orders",
        0.4,
        r"\b(?:new|updated|real|actual|revised|true|following) (?:system )?(?:instructions?|task|"
        r"directives?|orders?|prompt)\s*(?::|are\b|is\b|from\b)",
    ),
    sign(
        "new-orders",
        0.35,
        r"\binstead,? (?:you (?:must|should|will|are)|do the following|just (?:say|reply|output|write)|"
        r"(?:output|respond|reply|print|execute|say)\b)",
    ),
    # Orders for all times to come.
    sign(
        "standing",
        0.3,
        r"\bfrom (?:now|this (?:point|moment)) on(?:wards?)?,?\s+(?:you|always|never|respond|reply|answer|"
        r"act|ignore|every)\b",
    ),
    sign(
        "standing",
        0.35,
        rf"\bin (?:all|every|any)(?: of)?(?: your)? (?:future|subsequent|following|"
        rf"later) (?:\w+ )?(?:{_REPLY}|conversations?|chats?|sessions?|interactions?)",
    ),
    sign(
        "standing",
        0.35,
        r"\b(?:save|store|write|add|commit|record) (?:this|the following|it) (?:in|to|into) (?:your |the |"
        r"long[- ]term )+memory\b",
    ),
    # Another role for the reader.
    sign(
        "role",
        0.4,
        r"\byou are (?:now|no longer|actually)\s+(?:a|an|the|in|my|bound|dan\b|free|not|going|under|"
        r"restricted|subject)\b",
    ),
    sign(
        "role",
        0.4,
        r"\b(?:act|behave|respond|operate|answer|pose) as (?:if you (?:were|are|have)|though you|"
        r"an? (?:unrestricted|unfiltered|uncensored|evil|different|rogue|root|administrator|developer))",
    ),
    sign(
        "role",
        0.3,
        r"\bpretend (?:that )?(?:you(?:'re| are| have)|to be (?:an? )?(?:unrestricted|evil|the system|"
        r"admin\w*|developer))",
    ),
    sign(
        "role",
        0.5,
        r"\b(?:god|dan|jailbreak|sudo|unrestricted) mode\b[^.\n]{0,20}\b(?:on|enabled?|activated?|unlocked|active)\b|"
        r"\b(?:enable|activate|enter|switch to) (?:god|dan|jailbreak|sudo|unrestricted) mode\b",
    ),
    sign(
        "role",
        0.25,
        r"\b(?:developer|debug|admin|root|maintenance) mode\b[^.\n]{0,20}\b(?:on|enabled?|activated?|unlocked|active)\b|"
        r"\b(?:enable|activate|enter|switch to) (?:developer|debug|admin|root|maintenance) mode\b",
    ),
    # A voice that is not the text's own.
    sign(
        "voice",
        0.4,
        r"(?:^|\n)\s*[\[(<*#\-=_ ]{0,6}(?:system|developer|admin(?:istrator)?)(?: (?:prompt|message|note|"
        r"notice|override|alert|instruction)s?)?[\])>*#\-=_ ]{0,6}\s*[:：]",
    ),
    sign(
        "voice",
        0.6,
        r"<\|\s*(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|"
        r"eot_id)\s*\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    ),
    sign(
        "voice",
        0.3,
        r"(?:^|\n)\s*#{1,6}\s*(?:system|instructions?|new instructions?|prompt|override)"
        r"\b\s*[:：]?\s*(?:\n|$)",
    ),
    sign(
        "voice",
        0.5,
        r"</?(?:system|developer|instructions?|system[-_](?:prompt|message|reminder)|admin)"
        r"\b[^>\n]{0,60}>",
    ),
    sign(
        "voice",
        0.45,
        r"\b(?:this is|message from|by order of|on behalf of|authori[sz]ed by) (?:your|"
        r"the) (?:system administrators?|developers?|creators?|admin(?:istrator)?s?|system|openai|"
        r"anthropic|security team)\b",
    ),
    # An end that is not the end.
    sign(
        "delimiter",
        0.5,
        r"[-=_*#~<\[({]{2,8}\s*/?(?:end|begin|start|close|stop)(?:\s+of)?(?:\s+(?:the|"
        r"this))?[ _-](?:\w+[ _-]){0,2}(?:context|documents?|data|memor(?:y|ies)|prompt|instructions?|"
        r"input|system|conversation|results?|email)\b",
    ),
    sign(
        "delimiter",
        0.5,
        r"</\s*(?:\w+[-_])?(?:context|documents?|data|memor(?:y|ies)|user|tool(?:[-_]results?)?|results?|"
        r"untrusted|input|quote|reference|conversation|recollect)(?:[-_]\w+)?\s*>",
    ),
    sign(
        "delimiter",
        0.4,
        r"\b(?:end of (?:the )?(?:context|document|data|memory|user input|memories))\b[^\n]{0,12}(?:\n|$)",
    ),
    # The reader is a machine, and is spoken to.
    sign(
        "machine",
        0.4,
        rf"\b(?:attention|dear|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|"
        rf"important (?:for|to)|notice to|warning to)[,:]?\s+(?:all |any |the |every |"
        rf"other )?(?:\w+ )?{_AI}\b",
    ),
    sign(
        "machine",
        0.45,
        rf"\b(?:if|as|since|because) you(?:'re| are) (?:an? |the )(?:\w+ )?{_AI}\b",
    ),
    sign(
        "machine",
        0.4,
        rf"\b(?:any|every|the|all|whichever) {_AI}(?: \w+)? (?:reading|processing|summari[sz]ing|parsing|"
        rf"handling|that (?:reads?|process\w*|sees?)|who (?:reads?|sees?)|must|shall)\b",
    ),
    # A trap that waits for its moment.
    sign(
        "trigger",
        0.35,
        r"\b(?:when|whenever|if|once|as soon as|every time|each time|next time|after)\s+(?:you(?:'ve|"
        r" have)?|the assistant|the model|the ai)\s+(?:see|read|receive|process|retrieve|encounter|recall|"
        r"find|load|access|summari[sz]e)\w*\s+(?:this|these|the following|the above|it)\b",
    ),
    sign(
        "trigger",
        0.3,
        r"\b(?:when|whenever|if|every time|each time|next time)\s+(?:the user|a user|users|anyone|someone|"
        r"somebody|they|asked)\b[^.\n]{0,60},?\s+(?:you (?:must|should|will|have to)|always|never|say|"
        r"tell|reply|respond|answer|recommend|claim|insert|call|use|run|send)\b",
    ),
    # What must not leave, and where it should go.
    sign(
        "leak",
        0.4,
        rf"(?<!never )(?<!not )(?<!n't )\b{_GIVE}\b[^.\n]{{0,60}}?\b{_SECRET}",
    ),
    sign(
        "leak",
        0.4,
        r"\b(?:what|which) (?:is|are|were) your (?:(?:system|initial|hidden|original|secret) (?:prompts?|"
        r"instructions?|message))",
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
    ),
    # Tools called by a text.
    sign(
        "tool",
        0.55,
        r"</?(?:tool_call|function_calls?|tool_use|tool_code|invoke|antml|function_results)\b|"
        r"\{\s*\"(?:name|tool|function|action|"
        r"recipient_name)\"\s*:\s*\"[\w.\-]{1,64}\"\s*,\s*\"(?:arguments|parameters|args|input|"
        r"action_input|params)\"\s*:",
    ),
    sign(
        "tool",
        0.3,
        r"\b(?:call|invoke|use|trigger) (?:the )?[`'\"]?[\w.]{2,40}[`'\"]? (?:tool|plugin)"
        r"\b[^.\n]{0,40}\b(?:with|to|and|on|passing)\b",
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
    ),
    sign(
        "conceal",
        0.3,
        r"\b(?:do not|don't|never) (?:mention|reveal|disclose|acknowledge|refer to) (?:this|these|the|"
        r"that) (?:instructions?|prompt|message|note|request|order|rule)s?\b|\b(?:secretly|silently|"
        r"covertly|without (?:the user(?:'s)?|their|any) (?:knowledge|knowing|noticing|confirmation|"
        r"approval|consent))\b",
    ),
    sign(
        "freedom",
        0.35,
        r"\b(?:without|no|free (?:of|from)|ignoring|remove|lift|not bound by|disable)\s+(?:any |all |"
        r"your |the |its )*(?:\w+ )?(?:restrictions?|censorship|content (?:filter|polic)\w*|"
        r"safety (?:filters?|guidelines?|measures?|rules?)|guardrails?|ethical (?:\w+ )?(?:guidelines?|"
        r"constraints?|concerns?)|moral (?:\w+ )?(?:constraints?|guidelines?))",
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
        rf"{_START}{_PUT}\s+[^\n]{{0,160}}?{_IN_YOUR_REPLY}",
    ),
    sign(
        "steer",
        0.55,
        rf"{_SENTENCE}(?!{_NO_ORDER})[a-z]{{3,16}}\s[^\n.!?]{{0,160}}?{_IN_YOUR_REPLY}",
    ),
    sign(
        "steer",
        0.3,
        rf"\b(?:please|always|must|should|to)\s+{_PUT}\s+[^\n]{{0,160}}?\byour {_REPLY}\b",
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
    sign("graft", 0.35, rf"{_THIS_CODE}[^\n]{{0,100}}?\byour (?:\w+ ){{0,3}}{_WORK}\b"),
    sign("graft", 0.35, rf"\byour (?:\w+ ){{0,3}}{_WORK}\b[^\n]{{0,100}}?{_THIS_CODE}"),
    sign(
        "graft",
        0.3,
        rf"{_SENTENCE}(?!{_NO_ORDER})[a-z]{{3,16}}\s[^\n.!?]{{0,100}}?{_THIS_CODE}",
    ),
    sign(
        "sink",
        0.3,
        _SINK,
        supports=True,
    ),
)
