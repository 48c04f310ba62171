"""Things that were so and are otherwise now, each with the question that only the later one answers.

Whoever finds by meaning alone can't tell the two apart: they are about the same. The set is small and our own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    before: str
    since: str
    question: str


CHANGES = [
    Change("My dentist is on Hill Street.", "My dentist has moved to Station Road.", "Where is my dentist?"),
    Change("The team lunch is on Tuesdays.", "The team lunch is now on Thursdays.", "Which day is the team lunch?"),
    Change("I work at a bakery.", "I work at a flower shop now.", "Where do I work?"),
    Change("My favourite tea is Earl Grey.", "My favourite tea is jasmine these days.", "What is my favourite tea?"),
    Change("The rent is 900 euros a month.", "The rent is 980 euros a month now.", "How high is the rent?"),
    Change("I live in Porto.", "I moved to Ghent last week.", "Which city do I live in?"),
    Change("My train leaves at 7:40.", "My train now leaves at 7:55.", "When does my train leave?"),
    Change("I drive a blue hatchback.", "I drive a grey estate car now.", "Which car do I drive?"),
    Change("I drink two coffees a day.", "I no longer drink coffee.", "How many coffees do I drink a day?"),
    Change("My phone number ends in 318.", "My phone number ends in 774 now.", "What does my phone number end in?"),
    Change("The choir meets in the town hall.", "The choir now meets in the library.", "Where does the choir meet?"),
    Change("My sister studies law.", "My sister studies physics now.", "What does my sister study?"),
    Change("我住在成都。", "我搬到了杭州。", "我住在哪个城市？"),
    Change("我最喜欢的水果是苹果。", "我现在最喜欢的水果是芒果。", "我最喜欢什么水果？"),
    Change("周会在上午九点。", "周会改到上午十点了。", "周会是几点？"),
    Change("我在银行上班。", "我现在在学校上班。", "我在哪里上班？"),
    Change("我的手机号尾号是2015。", "我的手机号尾号现在是6688。", "我的手机号尾号是多少？"),
    Change("我每天跑步三公里。", "我现在每天跑步五公里。", "我每天跑多少公里？"),
    Change("女儿在学钢琴。", "女儿现在改学小提琴了。", "女儿在学什么乐器？"),
    Change("健身房的密码柜在二楼。", "健身房的密码柜现在在一楼。", "健身房的密码柜在几楼？"),
]


def latest_first(found: list[str], change: Change) -> bool:
    """Whether the later one was found, and before the earlier one if that came along at all."""
    if change.since not in found:
        return False
    return change.before not in found or found.index(change.since) < found.index(change.before)
