"""The English phrases that signs of injection are put together from: who is asked, what to drop, where to put it."""

from __future__ import annotations

THE = r"(?:(?:all|any|every|each|the|your|my|our|these|those|this|that|of|and|other|everything)\s+){0,4}"
EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|past|old|"
    r"system|safety|developer|hidden|current|given)"
)
RULES = (
    r"(?:instruct(?:ion|ed)\w*|prompts?|directives?|directions?|rules?|guidelines?|guardrails?|commands?|orders?|"
    r"constraints?|restrictions?|polic(?:y|ies)|programming|training|safeguards?|messages?|context|text)"
)
DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard(?:ing)?|drop|"
    r"neglect|dismiss|skip|erase|set aside|(?:do not|don't|stop|quit) (?:follow|obey|heed|comply with)(?:ing)?|"
    r"pay no attention to|no longer (?:follow|obey))"
)
REPLY = r"(?:repl(?:y|ies)|responses?|answers?|output|summar(?:y|ies)|next message)"
WORK = (
    rf"(?:{REPLY}|code(?:base)?|solutions?|implementations?|algorithms?|scripts?|programs?|projects?|software|systems?|"
    r"applications?|apps?|frameworks?|workflows?|logic|architecture|design|development|functions?|modules?|approach)"
)
THIS_CODE = (
    r"\b(?:following|subsequent|below|next|provided|attached|this)\s+(?:\w+\s+){0,2}"
    r"(?:code|snippets?|scripts?|functions?|(?:code )?(?:blocks?|excerpts?|segments?|fragments?|lines))\b"
)
PUT = (
    r"(?:add|append|augment|blend|embed|enhance|enrich|fuse|include|incorporate|inject|insert|integrate|interweave|"
    r"introduce|meld|merge|mix|modify|place|prepend|put|sprinkle|supplement|weave|work|alter|tweak|amend|"
    r"finish|conclude|close|begin|start|end|promote|advertise|mention|slip)"
)
SECRET = (
    r"(?:system prompts?|(?:initial|hidden|secret|original|your) (?:instructions|prompts?|rules|guidelines)|api[ _-]?keys?|"
    r"passwords?|credentials?|access tokens?|secret keys?|private keys?|session tokens?|cookies|"
    r"(?:conversation|chat|browsing|search) (?:history|logs?)|(?:private|personal|confidential|sensitive|user(?:'s)?) "
    r"(?:data|info(?:rmation)?|details|files|messages|memories)|(?:all|every(?:thing)?|stored|saved) (?:the |your |its )?"
    r"memor(?:y|ies)|environment variables|credit card|contact list|\.env\b|ssh keys?)"
)
GIVE = (
    r"(?:send|forward|e-?mail|post|upload|leak|transmit|exfiltrate|reveal|print|output|repeat|disclose|dump|"
    r"expose|share|show me|tell me|give me|display|recite|copy|append|encode|submit)"
)
SINK = (
    r"(?:requests\.(?:post|put)|urllib|httpx?\.client|socket\.|\.sendall\(|\.sendto\(|smtplib|sendmail|ftplib|paramiko|"
    r"paho\.mqtt|os\.system|subprocess|os\.remove|os\.rename|shutil|\bexec\(|\beval\(|rm -rf|chmod|systemctl|"
    r"os\.environ|psutil|keyboard|pynput|getpass|cookies?jar|document\.cookie|xmlhttprequest|fetch\(|curl |wget|nohup|"
    r"winreg|ctypes|urlopen|requests\.get)"
)
AI = (
    r"(?:ai|a\.i\.|assistants?|chat ?bots?|(?:large )?language models?|llms?|agents?|models?|bots?|"
    r"chatgpt|gpt|claude|gemini|copilot)"
)
START = r"(?:^|[\n.!?:;*#>\-]\s*|\b(?:seamlessly|harmoniously|then|also|and)\s+)"
SENTENCE = r"(?:^|[\n.!?]\s?)(?:\w{3,16}ly,?\s)?"
NO_ORDER = (  # words that open a statement, a question or a courtesy rather than an order
    r"(?:thank\w*|thanks|please|what|which|who|whom|whose|when|where|why|how|the|this|that|these|those|there|they|she|her|his|"
    r"you|your|our|their|its|it's|can|could|would|will|should|shall|may|might|must|have|has|had|are|was|were|did|does|"
    r"and|but|for|from|with|without|after|before|because|although|while|once|since|until|unless|if|as|based|regarding|"
    r"about|given|according|also|always|never|just|try|explain|justify|practice|limit|yes|"
    r"not|hey|hello|sorry|great|good|nice|some|any|all|one|looking|waiting|hoping|"
    r"[a-z]+ing|[a-z]+ed|appreciate|love|loved|hope|read|got|let|lets|let's|see|i'\w+|we'\w+|you'\w+)\b"
)
IN_YOUR_REPLY = (
    r"(?<!for )(?<!from )(?<!after )(?<!about )(?<!upon )(?<!on )(?<!and )"
    r"\byour (?:reply|response|answer|output|next message)\b"
    r"(?!\s(?:to (?:my|the|this|that|her|his)|is|was|will|has|about|should)\b)"
)
