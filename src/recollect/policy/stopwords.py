"""Words that carry no subject, English and Chinese.

They are dropped from queries only: the index keeps every term, so a query made of nothing but such words
("to be or not to be") still finds its text. English entries are written as `policy.text` folds them: "don't"
is `dont`, "I'd" is `i`, so that `id`, `ill` and `shell` remain words. Month names are absent on purpose:
"may" is a month before it is an auxiliary.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again against all also am an and any anyone anything are arent as at be because been
before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont
down during each either else etc ever every few for from further get gets getting give given go goes
going got had hadnt has hasnt have havent having he her here hers herself hey hi him himself his how i
if im in into is isnt it its itself ive just kind let lets like lot lots made make makes many me might
more most much must mustnt my myself need no nor not now of off oh ok okay on once one ones only onto or
other our ours ourselves out over own per please pretty quite rather really said same say says shall
shant she should shouldnt so some someone something sort still such tell than that thats the their
theirs them themselves then there these they theyre thing things this those though through to too under
until up upon us very want wants was wasnt way we well were werent what whatever whats when where which
while who whom whose why will with within without wont would wouldnt yeah yes yet you your youre yours
yourself yourselves youve
"""

# Particles, pronouns, copulas, classifiers and the light verbs that seldom name a subject.
_CHINESE_CHARACTERS = (
    "的了着过地得是在有和与跟同及或而且但就都也还又再才只很太更最不没无别我你您他她它们咱自己这"
    "那哪此其各每某之所以因为于从向对把被让给用到由往比按吗呢吧啊呀哦嗯哈嘛啦哎喂诶么什谁何怎几多少个些样种次位件写说做要想会能可去来"
)

_CHINESE_WORDS = """
一下 一个 一些 一样 不是 为什么 为何 于是 什么 他们 以及 但是 你们 使用 关于 其实
几个 几次 可不可以 可以 可是 告诉 咱们 哪个 哪些 哪位 哪儿 哪种 哪里 因为 多少 大家
她们 如何 如果 它们 对于 就是 已经 应该 怎么 怎么样 怎样 感觉 我们 或者 所以 时候
是不是 是谁 曾经 有没有 来着 正在 比较 没有 然后 特别 的话 真的 知道 而且 能不能 自己
虽然 觉得 认为 记得 请 请问 谁的 还是 这个 这么 这些 这样 这里 进行 通过 那个
那么 那些 那样 那里 需要 非常
"""

ENGLISH = frozenset(_ENGLISH.split())
CHINESE_CHARACTERS = frozenset(_CHINESE_CHARACTERS)
CHINESE_WORDS = frozenset(_CHINESE_WORDS.split())
