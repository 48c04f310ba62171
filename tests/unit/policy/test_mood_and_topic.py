"""The mood of a turn, what a session is about, and what counts as an echo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.echo import filed, footprints, is_echo
from recollect.policy.emotion import detected
from recollect.policy.topics import topic_of, variables_of

KEY = b"session key"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm so happy today!", "joy"),
        ("I'm not happy with this.", "sadness"),
        ("My grandma passed away.", "sadness"),
        ("This is ridiculous, I'm furious.", "anger"),
        ("I'm worried about the exam.", "fear"),
        ("I can't believe it!", "surprise"),
        ("Thank you so much!", "gratitude"),
        ("The train leaves at nine.", "neutral"),
        ("I'm not worried.", "neutral"),
        ("I was glad, but now I'm so anxious and scared.", "fear"),
        ("今天好开心", "joy"),
        ("我有点担心明天的考试", "fear"),
        ("气死我了", "anger"),
        ("我不开心", "sadness"),
        ("今天心情很好！", "joy"),
        ("最近心情不太好", "sadness"),
        ("I'm in a great mood", "joy"),
        ("明天开会", "neutral"),
        ("", "neutral"),
    ],
)
def test_moods(text: str, expected: str) -> None:
    assert detected(text) == expected


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("My sourdough starter died.", None, "sourdough starter died"),
        ("I'm planning a cycling trip to Norway.", "bread", "cycling trip Norway"),
        ("Thanks!", "bread", "bread"),
        ("Why is that?", "bread", "bread"),
        ("I'm so excited!", "bread", "bread"),
        ("", None, None),
    ],
)
def test_topics(text: str, before: str | None, expected: str | None) -> None:
    assert topic_of(text, before) == expected


def test_variables_hold_what_was_mentioned_latest_first() -> None:
    first = variables_of("I want to visit my sister Ana in Lyon on Monday.", {})
    assert first == {
        "people": ["Ana"],
        "places": ["Lyon"],
        "dates": ["Monday"],
        "goal": "visit my sister Ana in Lyon on Monday",
    }
    assert variables_of("Then on to Rome.", first)["places"] == ["Rome", "Lyon"]
    assert variables_of("ok", first) == {}
    assert variables_of("我想学大提琴", {})["goal"] == "学大提琴"


@pytest.mark.parametrize(
    ("shown", "said", "echo"),
    [
        ("I love sushi", "I love sushi", True),
        ("I love sushi", "Yes, I really like sushi!", True),
        ("I love sushi and ramen. I live in Lyon.", "I live in Lyon", True),
        ("I love sushi", "I hate sushi", False),
        ("I love sushi", "I don't love sushi", False),
        ("I don't eat meat", "I eat meat", False),
        ("I don't eat meat", "Right, I don't eat meat", True),
        ("I live in Lyon", "I live in Berlin", False),
        ("Standup is at 9", "Standup is at 10", False),
        ("Standup is at 9", "Standup is at 9 on Mondays", False),
        ("我很喜欢喝茶和咖啡", "我喜欢喝茶", True),
        ("我喜欢喝茶", "我不喜欢喝茶", False),
        ("我住在上海", "我住在北京", False),
        ("anything", "the", False),
    ],
)
def test_echoes(shown: str, said: str, echo: bool) -> None:
    assert is_echo(said, list(footprints(shown, KEY)), KEY) is echo


def test_the_same_value_under_the_same_key_is_an_echo_however_it_is_put() -> None:
    shown = [filed("home", "Lyon", KEY), filed("taste.sushi", {"opinion": "like", "of": "sushi"}, KEY)]
    assert is_echo("Lyon is where one finds me", shown, KEY, "home", "lyon")
    assert not is_echo("Bonn is where one finds me", shown, KEY, "home", "Bonn")
    assert not is_echo("Lyon it is", shown, KEY, "home", None)
    assert is_echo("x y", shown, KEY, "taste.sushi", {"opinion": "prefer", "of": "sushi"})
    assert not is_echo("x y", shown, KEY, "taste.sushi", {"opinion": "dislike", "of": "sushi"})


@given(st.text(min_size=1, max_size=300))
def test_a_text_is_an_echo_of_itself_in_its_own_session_and_of_nothing_in_another(text: str) -> None:
    marks = list(footprints(text, KEY))
    sentences = [mark for mark in marks if mark]
    assert len(sentences) == len(marks)
    assert not is_echo(text, marks, b"another key")
    assert not is_echo(text, ["not base64!", ""], KEY)
