"""Follow-ups: which questions lean on the conversation, what they lean on, and that the others are left alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.policy.followup import MOST, expand, understood
from recollect.policy.followup.leaning import LEANS, leaning
from recollect.policy.followup.topics import REACH, phrases
from recollect.policy.question import prepare
from recollect.policy.text import analyse

UNRELATED = ("Which films did Ingmar Bergman shoot on Fårö?", "Persona and Shame, among others.", "他后来去了慕尼黑。")


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "What did I pay for the bicycle repair?",
        "When did Ana visit her mother?",
        "Why did Tom say he was tired?",
        "When did I buy the car and how much did it cost?",
        "Which city did Priya's brother move to after his exam?",
        "What did I plan for this weekend?",
        "Which book that I read last year had a blue cover?",
        "How long does it take to walk to my office?",
        "Is there a vegetarian restaurant near the Lisbon office?",
        "What is osmosis?",
        "Ana: How are you?\nBot: Fine.\nAna: What about it?",
        "我妈妈的生日是哪一天？",
        "王芳去年在杭州参加了哪场比赛？",
        "我上个月在超市一共花了多少钱？",
        "表哥在哪个城市工作？",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(text: str) -> None:
    expanded = expand(text, UNRELATED)
    assert expanded.leaning < LEANS
    assert expanded.text == text
    assert expanded.terms == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("And in May?", "opening"),
        ("What about her sister?", "opening"),
        ("in Berlin?", "fragment"),
        ("Where did he grow up?", "pronoun:he"),
        ("When did I buy it?", "pronoun:it"),
        ("Why did Elon start it?", "pronoun:it"),
        ("Did Ana call her?", "pronoun:her"),
        ("Was that expensive?", "demonstrative"),
        ("How did this project end?", "demonstrative"),
        ("How much was the second one?", "pick"),
        ("Who else came along?", "more"),
        ("Why?", "bare"),
        ("What happened to the boat?", "thin"),
        ("那第二个呢？", "pick"),
        ("她住在哪里？", "pronoun"),
        ("上海呢？", "fragment"),
        ("为什么？", "thin"),
        ("这部电影好看吗", "pronoun"),
    ],
)
def test_a_follow_up_leans(text: str, reason: str) -> None:
    cue = leaning(text)
    assert cue.strength >= LEANS
    assert cue.reason == reason


@pytest.mark.parametrize(
    ("history", "text", "added"),
    [
        (["How much did I spend on groceries in April?", "412 euros."], "And in May?", {"spend", "groceri"}),
        (["Where does Emma Larsson live?", "In Uppsala."], "What about her sister?", {"emma", "larsson"}),
        (["Who painted the Night Watch?", "Rembrandt did, in 1642."], "Where is it now?", {"night", "watch"}),
        (
            ["Tell me about the Kodiak hiking trail.", "It is steep.", "How long is it?", "Nine miles."],
            "Is it open in winter?",
            {"kodiak", "hike", "trail"},
        ),
        (
            ["User: Who is Scooter Libby?", "Assistant: A lawyer.", "User: Was Libby a judge?"],
            "Where did he study?",
            {"scooter"},
        ),
        (["你看过流浪地球吗", "看过"], "它好看吗", {"地球"}),
        (["王芳在哪里上班", "在一家医院"], "她结婚了吗", {"王芳"}),
        (["北京的天气怎么样", "很热"], "上海呢？", {"天气"}),
    ],
)
def test_what_it_leans_on_is_added(history: list[str], text: str, added: set[str]) -> None:
    expanded = expand(text, history)
    assert added <= set(expanded.terms)
    assert expanded.text.endswith(f": {text}")


def test_a_new_time_replaces_the_old_one() -> None:
    assert "april" not in expand("And in May?", ["How much did I spend on groceries in April?"]).terms
    assert "april" in expand("And on books?", ["How much did I spend on groceries in April?"]).terms


def test_the_old_answer_does_not_answer_anew() -> None:
    history = ["How much did I spend on groceries in April?", "412 euros."]
    assert "412" not in expand("And in May?", history).terms
    assert "流浪" in "".join(expand("那第二个呢？", ["推荐两部电影", "三体和流浪地球"]).terms)


def test_a_new_topic_outweighs_an_old_one() -> None:
    history = ["What is the Eiffel Tower made of?", "Iron.", "Who is Marie Curie?", "A physicist."]
    assert expand("When was she born?", history).terms[:2] == ("mari", "curi")


def test_only_the_last_turns_are_read() -> None:
    history = ["Who is Zebulon Quist?", *["Fine."] * REACH]
    assert "zebulon" not in expand("Where does he live?", history).terms
    assert "zebulon" in expand("Where does he live?", history[:REACH]).terms


def test_a_part_of_a_name_counts_for_the_whole() -> None:
    found = {phrase.text: phrase for phrase in phrases(["Who is Scooter Libby?", "He knew Libby well."])}
    assert found["Scooter Libby"].turns == {0, 1}
    assert "Libby" not in found


def test_without_a_conversation_nothing_is_added() -> None:
    assert expand("And in May?", []).terms == ()
    assert expand("And in May?", []).text == "And in May?"


def test_a_follow_up_is_about_whom_the_conversation_was() -> None:
    now = datetime(2024, 6, 15, tzinfo=UTC)
    question = understood(
        "Did she like it?", ["What did Melanie paint in March?", "A sunrise."], now, ["melanie", "ana"]
    )
    assert question.speakers == {"melanie"}
    assert "paint" in question.terms
    assert (question.text, question.kind) == ("Did she like it?", "factual")


def test_advice_in_the_conversation_makes_no_advice_of_the_question() -> None:
    history = ["Can you recommend tips for Lisbon?"]
    assert understood("Where is it?", history).kind == "factual"
    assert understood("Where do I live?", history) == prepare("Where do I live?")


@given(st.text(), st.lists(st.text(), max_size=4))
@example("\ud800他呢", ["\udfff王芳\x00", "Ana\ud800 Larsson"])
@example("And it?", [":", "'s", "’", "A: ", "。"])
def test_every_text_is_read_and_always_the_same_way(text: str, history: list[str]) -> None:
    expanded = expand(text, history)
    assert expanded == expand(text, tuple(history))
    assert 0 <= expanded.leaning <= 1
    assert expanded.text.endswith(text)
    assert set(expanded.terms).isdisjoint(analyse(text))
    if expanded.leaning < LEANS:
        assert (expanded.text, expanded.terms) == (text, ())


@given(st.lists(st.sampled_from(["Ana Lund", "Where is the harbour?", "王芳喜欢画画", "Why?", "It was"]), max_size=20))
def test_the_addition_is_small(history: list[str]) -> None:
    expanded = expand("And then?", history)
    before = expanded.text.removesuffix("And then?")
    assert before.count(", ") < MOST
