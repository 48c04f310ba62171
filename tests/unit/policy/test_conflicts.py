"""Which of two sentences stays: read from their own words, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.conflicts import judged, question, reading, ruled, statements

REPLACES = [
    ("The standup is at 9", "The standup is at 10"),
    ("standup is at 9", "standup moved to 10"),
    ("The standup is at 9am", "Standup has been moved to 10:30am"),
    ("I live in Paris", "I moved to Berlin"),
    ("I live in Paris", "I now live in Berlin"),
    ("My favourite colour is blue", "My favorite colour is green"),
    ("My favourite colour is blue", "My favourite colour is now green"),
    ("I like tea", "I don't like tea anymore"),
    ("I like tea", "I don't like tea"),
    ("I hate tea", "I love tea"),
    ("I have 3 cats", "I have 4 cats"),
    ("I work at Google", "I joined Meta"),
    ("I work at Google", "I work at Meta now"),
    ("My boss is Ana", "My boss is Bo"),
    ("My car is red", "My car is blue"),
    ("The deadline is March 3", "The deadline is March 10"),
    ("The deadline is Friday", "The deadline has been extended to Monday"),
    ("I am vegetarian", "I'm no longer vegetarian"),
    ("I am vegetarian", "I am not vegetarian"),
    ("I am 30", "I am 31 years old"),
    ("My rent is $900", "My rent is $950"),
    ("I go to yoga two times a week", "I go to yoga three times a week"),
    ("the meeting is at 3pm", "the meeting is at 4pm"),
    ("I prefer tea over coffee", "I prefer coffee over tea"),
    ("My phone number is 555-1234567", "My phone number is 555-7654321"),
    ("My name is Ana", "Call me Anna"),
    ("I drink coffee", "I stopped drinking coffee"),
    ("We use Redis", "We don't use Redis"),
    ("The office is in Paris", "The office is in Berlin"),
    ("The server runs on port 8080", "The server runs on port 9090"),
    ("我住在巴黎", "我搬到柏林了"),
    ("我住在北京", "我现在住在上海"),
    ("例会是9点", "例会改到10点了"),
    ("例会在周一上午9点", "例会改到周二上午10点"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
    ("我最喜欢的颜色是蓝色", "我现在最喜欢的颜色是绿色"),
    ("I like tea better than coffee", "I like coffee better than tea"),
    ("我喜欢茶", "我不喜欢茶"),
    ("我喜欢茶", "我不再喜欢茶了"),
    ("我有三只猫", "我有四只猫"),
    ("我在谷歌工作", "我在微软上班"),
    ("我在谷歌工作", "我跳槽到微软了"),
    ("我的老板是李明", "我的老板是王芳"),
    ("我今年30岁", "我31岁了"),
    ("李婷婷的身高是164cm", "李婷婷的身高是165cm"),
    ("我叫小明", "我叫小红"),
    ("我的电话是13800000000", "我的电话是13900000000"),
    ("My sister lives in Rome", "My sister moved to Oslo"),
    ("Remember that the wifi password is tea", "the wifi password is coffee"),
    ("I live in Paris", "I've just moved to Rome"),
    ("My boss is Ana", "My new boss is Bo"),
    ("The pro plan costs $20 a month", "The pro plan costs $25 a month"),
    ("Gas is $3.50 a gallon", "Gas is $3.80 a gallon"),
    ("The default branch is master", "The default branch is main"),
    ("My GP is Dr. Ahmed", "My GP is Dr. Larsen"),
    ("我吃素", "我现在又吃肉了"),
    ("Bug 4711 is open", "Bug 4711 is fixed"),
    ("PR #12 is waiting for review", "PR #12 was merged"),
    ("The flag new_checkout is off", "The flag new_checkout is on"),
    ("Tom owns the billing service", "Nadia now owns the billing service"),
    ("小王负责前端", "前端现在由小张负责"),
    ("服务器部署在阿里云", "服务器迁移到腾讯云了"),
    ("deadline 是 6 月 1 日", "deadline 延到 6 月 8 日"),
    ("我表弟今年21岁", "我的表弟今年22岁了"),
    ("我妈妈的电话号码是13900010002", "我妈妈的联系电话是13900030004"),
    ("我老婆叫小芳", "我的老婆叫小红"),
    ("我在谷歌上班", "我跳槽去了字节跳动"),
    ("My favorite color is blue", "My favourite colour is green"),
    ("I work at Google", "I got a new job at OpenAI"),
]
UNSURE = [
    ("I like tea", "I like coffee"),
    ("I have a meeting at 9", "I have a meeting at 10"),
    ("My friend is Ana", "My friend is Bo"),
    ("I live in Paris. I have two cats.", "I moved to Berlin"),
    ("我喜欢茶", "我喜欢咖啡"),
    ("I like green tea", "I like black tea"),
    ("My sister is Ana", "My sister is Bo"),
    ("Meeting at 9", "Meeting at 10"),
    ("Tom owns the billing service", "Nadia owns the billing service"),
]
BOTH_TRUE = [
    ("the parcel number 0 is in the hall", "the parcel number 1 is in the hall"),
    ("Version 2.1 is stable", "Version 2.2 is stable"),
    ("Ticket 4812 is closed", "Ticket 4813 is open"),
    ("I live in Paris", "I moved to the marketing team"),
    ("The meeting with Ana is at 9", "The meeting with Bo is at 10"),
    ("I work at Google", "I also work at a cafe"),
    ("My car is red", "My car is fast"),
    ("I ran 5 km", "I ran 6 km"),
    ("I met Ana at 9", "I met Ana at 10"),
    ("The standup is at 9", "The standup is at 9am"),
    ("I live in Berlin", "I live in Berlin, Germany"),
    ("I have a dog", "I have two dogs"),
    ("我住的小区叫绿洲家园", "我住的小区叫阳光花园"),
    ("我昨天去了北京", "我昨天去了上海"),
    ("我喜欢在早上喝乌龙茶", "我喜欢在下午喝咖啡"),
    ("I like pytest better than unittest", "I like bar charts better than pie charts"),
    ("US election", "us election"),
    ("see https://a.example/1", "see https://a.example/2"),
    ("Ana lives in Rome", "Bo lives in Oslo"),
    ("I used to live in Paris", "I live in Berlin"),
    ("I live in Paris", "I used to live in Rome"),
    ("I lived in Paris in 2010", "I live in Berlin"),
    ("I'm allergic to nuts", "I'm allergic to milk"),
    ("The pro plan costs $20 a month", "The team plan costs $45 a month"),
    ("Version 2.0 ships in June", "Version 2.1 ships in August"),
    ("The flag new_checkout is off", "The flag dark_theme is on"),
    ("The shop is open", "The shop is closed on Mondays"),
    ("Tom owns the billing service", "Tom owns the search service"),
    ("小王负责前端", "小张负责后端"),
    ("I want to buy a bike", "I want to sell my car"),
    ("我打算十月去日本", "我打算学钢琴"),
    ("我表弟今年21岁", "我堂弟今年22岁"),
    ("我的电话是01055550102", "我的手机号码是13900030004"),
    ("我妈妈的电话是13900010002", "我舅妈的电话是13900030004"),
    ("我的猫叫年糕", "我的狗叫豆包"),
]


@pytest.mark.parametrize(("old", "new"), REPLACES)
def test_a_new_value_replaces_the_old_one(old: str, new: str) -> None:
    assert judged(statements(new), statements(old)) == "replaces"


@pytest.mark.parametrize(("old", "new"), UNSURE)
def test_where_there_may_be_several_somebody_is_asked(old: str, new: str) -> None:
    assert judged(statements(new), statements(old)) == "unsure"


@pytest.mark.parametrize(("old", "new"), BOTH_TRUE)
def test_what_is_about_something_else_is_left_alone(old: str, new: str) -> None:
    assert judged(statements(new), statements(old)) is None


@pytest.mark.parametrize(("text", "_"), REPLACES + UNSURE + BOTH_TRUE)
def test_nothing_contradicts_itself(text: str, _: str) -> None:
    assert judged(statements(text), statements(text)) is None


CHANGES = [
    ("My watch is a Garmin", "I sold the Garmin and wear a Casio"),
    ("I have a Netflix subscription", "I cancelled my Netflix subscription"),
    ("I plan to learn Spanish", "I gave up on learning Spanish"),
    ("I'm meeting Anna on Friday", "The meeting with Anna is cancelled"),
    ("我打算十月去日本", "我十月不去日本了"),
    ("The report is due on the 10th", "The due date of the report is now the 17th"),
    ("My gym costs 35 euros a month", "My gym went up to 42 euros a month"),
    ("We are meeting the architect on Tuesday", "The meeting with the architect got bumped to Thursday"),
    ("The default branch is master", "We renamed the default branch to main"),
    ("我的房租是3500", "房租涨到3800了"),
    ("我开一辆本田", "我把本田卖了，换了一辆丰田"),
    ("我每周跑步两次", "我每周跑步四次"),
    ("我抽烟", "我戒烟半年了"),
]
PERHAPS = [
    ("I weigh 82 kilos", "I'm down to 76 kilos"),
    ("Our cat is called Biscuit", "We renamed our cat Waffles"),
    ("孩子上小学二年级", "孩子升三年级了"),
]
APART = [
    ("I'm meeting Anna on Friday", "The meeting with Bob is cancelled"),
    ("My sister is planning a party", "My party is called off"),
    ("I plan to learn Spanish", "I plan to learn Greek now"),
    ("I drive a Corolla", "My neighbour traded in his Corolla for a Golf"),
    ("The standup is at 9", "The retro has been moved to 10"),
    ("I'm allergic to peanuts", "I'm no longer allergic to cats"),
    ("The kitchen budget is 8,000", "We raised the bathroom budget to 5,000"),
    ("My phone is a Pixel 6", "My phone now has a cracked screen"),
    ("I smoke", "I won't quit smoking"),
    ("My wife is pregnant", "My wife is Swedish"),
    ("My boss is strict", "My boss is Ana"),
    ("My phone is broken", "My phone is a Pixel"),
    ("我妈妈是博士毕业的", "我妈妈是做老师的"),
    ("我表弟在山东青岛上班", "我表弟在译通翻译公司上班"),
    ("我特别喜欢茶", "我特喜欢茶"),
    ("我表哥的生日是5月20号", "我表哥的生日是五月二十日"),
    ("一班有40人", "二班有38人"),
    ("周三有瑜伽课", "周五有瑜伽课"),
    ("Version 2.1 is stable", "Version 2.2 is stable now"),
    ("Gate 4 opens at 9", "Gate 5 now opens at 10"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_news_about_the_same_thing_replaces_what_no_slot_knows(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) == "replaces"


@pytest.mark.parametrize(("old", "new"), PERHAPS)
def test_news_that_may_be_about_it_is_asked_about(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) == "unsure"


@pytest.mark.parametrize(("old", "new"), [*APART, *BOTH_TRUE])
def test_what_speaks_of_a_change_elsewhere_changes_nothing_here(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) is None


@pytest.mark.parametrize(("text", "_"), CHANGES + PERHAPS + APART)
def test_no_news_contradicts_itself(text: str, _: str) -> None:
    assert ruled(reading(text), reading(text)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My phone number is 555-1234.", "My work phone number is now 555-9999."),
        ("I live in Berlin.", "I now live in Munich during the summer."),
        ("My email is a@b.org", "My private email is now c@d.org"),
    ],
)
def test_what_says_which_or_when_may_stand_beside_what_does_not(old: str, new: str) -> None:
    assert ruled(reading(new), reading(old)) == "unsure"


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_of_a_text_with_two_facts_nothing_is_replaced(old: str, new: str) -> None:
    assert ruled(reading(new), reading(f"{old}. The sea is deep.")) != "replaces"


def test_the_question_is_asked_in_the_language_of_what_was_said() -> None:
    assert "还是" in question("我喜欢咖啡", ["我喜欢茶"])
    asked = question("I like coffee", ["I like tea", "x" * 500])
    assert "“I like coffee”" in asked
    assert "…" in asked
    assert len(asked) < 400


@given(st.text(max_size=300))
def test_every_text_can_be_read(text: str) -> None:
    reading(text)


@pytest.mark.parametrize(
    "filler", ["is at " * 20_000, "my " * 50_000, "我在" * 50_000, "a's " * 30_000, "moved to 1 " * 10_000]
)
def test_no_text_takes_long(filler: str) -> None:
    reading(filler)
    reading(filler[:150])
