"""The same sentence with another value, and states that shut each other out: what replaces, what is asked about, what stays."""

from __future__ import annotations

import pytest

from recollect.policy.conflicts import Reading, reading, ruled

REPLACES = [
    ("The standup is at 9:30 on weekdays", "The standup is at 10 on weekdays"),
    ("On weekdays the standup is at 9:30", "The standup is at 10 on weekdays"),
    ("The meeting room is 4B", "The meeting room is 5C"),
    (
        "Our weekly sync happens every Tuesday at 3 pm in room 7",
        "Our weekly sync happens every Friday at 3 pm in room 7",
    ),
    ("Our landlord is Mr. Abel since May", "Our landlord is Ms. Crane since May"),
    ("The scanner is on the second floor", "The scanner is on the third floor"),
    ("The audit is scheduled for July 2", "The audit is scheduled for July 9"),
    ("I am single", "I got married last week"),
    ("I'm unemployed", "I found a job at a bakery"),
    ("I don't smoke", "I took up smoking"),
    ("会议室在4B", "会议室在5C"),
    ("寒假的门禁是十点半", "寒假的门禁是十一点"),
    ("我们的周会每周二下午三点在7号会议室", "我们的周会每周三下午三点在7号会议室"),
    ("我单身", "我上周结婚了"),
]
ASKED = [
    ("I take the bus at 7:15", "I take the bus at 17:40"),
    ("The train to Ghent leaves at 8:04", "The train to Ghent leaves at 8:34"),
    ("The invoice is 210 euros for March", "The invoice is 230 euros for April"),
    ("The parcel is with Mrs. Abel", "The parcel is with Mr. Crane"),
    ("My sauna evening is on Mondays at 8", "My sauna evening is on Thursdays at 8"),
    ("I am renting a flat", "I bought a house"),
    ("公司每周一开会", "公司每周三开会"),
]
BOTH_STAND = [
    ("The parcel number 0 is in hall 4", "The parcel number 1 is in hall 5"),
    ("The concert on May 4 is in hall 2", "The concert on May 9 is in hall 3"),
    ("The library closes at 18:00 on Fridays", "The library closes at 14:00 on Saturdays"),
    ("The standup is at 9 on Mondays", "The standup is at 10 on Tuesdays"),
    ("The standup is at 10 on weekdays", "The standup is at 10:00 on weekdays"),
    ("My blood pressure was 130 this morning", "My blood pressure was 125 this morning"),
    ("I am single", "My sister got married last week"),
    ("I got divorced in March", "I am single"),
    ("I am single", "I dreamed that I got married"),
    ("I am married", "I got married in 2009"),
    ("12号柜子坏了", "15号柜子坏了"),
    ("周一的站会是九点半", "周五的站会是十点"),
    ("我抽烟", "我爸戒烟了"),
]
NO_SLOT = [
    ("The temperature today is 18", "The temperature today is 22"),
    ("我赶六点半的火车", "我赶八点十分的火车"),
    ("[来电] 10:00", "[来电] 10:15"),
    ("The first draft is 12 pages", "The second draft is 14 pages"),
]


@pytest.mark.parametrize(("old", "new"), REPLACES)
def test_another_value_of_one_thing_replaces_the_first(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) == "replaces"


@pytest.mark.parametrize(("old", "new"), ASKED)
def test_what_may_be_so_twice_is_asked_about(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) == "unsure"


@pytest.mark.parametrize(("old", "new"), BOTH_STAND)
def test_what_tells_of_another_thing_or_day_changes_nothing(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) is None


@pytest.mark.parametrize(("old", "new"), REPLACES + ASKED)
def test_they_find_each_other_by_a_slot(old: str, new: str) -> None:
    """Or a rule that is right would never be asked."""
    assert _slots(reading(old)) & _slots(reading(new))


@pytest.mark.parametrize(("old", "new"), NO_SLOT)
def test_what_names_another_thing_fills_another_slot(old: str, new: str) -> None:
    assert not _slots(reading(old)) & _slots(reading(new))


@pytest.mark.parametrize(("text", "_"), REPLACES + ASKED + BOTH_STAND)
def test_what_is_told_twice_contradicts_nothing(text: str, _: str) -> None:
    assert ruled(reading(text), reading(text)) is None


def _slots(read: Reading) -> set[str]:
    return {each.slot for each in read.said}
