"""Reading a question: its kind, whom it names, and what is left to search for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.question import QuestionKind, prepare

NOW = datetime(2024, 6, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did we meet?", "factual"),
        ("where do I live", "factual"),
        ("我妈妈叫什么名字", "factual"),
        ("Can you recommend a restaurant nearby?", "advice"),
        ("周末去哪里玩，有什么推荐？", "advice"),
        ("I just came back from the doctor.", "statement"),
        ("今天下雨了", "statement"),
        ("I turned it down because I hate the idea of moving again.", "statement"),
        ("I could use some ideas for the garden.", "advice"),
        ("Recommend a thriller.", "advice"),
        ("What did Ana recommend to you?", "factual"),
        ("医生上个月给出了什么建议？", "factual"),
        ("What approach did you recommend for the report?", "advice"),  # of the assistant: long, found by its meaning
        ("Who knew that baking bread would be so calming?", "statement"),
        ("When the letter came, I put it on the shelf unopened.", "statement"),
        ("When is the standup.", "factual"),
        ('the note with "annual budget review"', "factual"),
        ('My boss says that I am "less available" now, and I am trying to find out whether I mind that.', "statement"),
        ("Ana: How are you?\nAssistant: Fine.\nAna: I want to go out.", "dialogue"),
    ],
)
def test_kind(text: str, kind: QuestionKind) -> None:
    assert prepare(text, NOW).kind == kind


@pytest.mark.parametrize(
    ("text", "speakers", "embedded"),
    [
        ("When did Ana move?", {"ana"}, "When did I move?"),
        ("What is ana's job?", {"ana"}, "What is my job?"),
        ("What is Anas job?", {"ana"}, "What is I job?"),
        ("Why did Melani cry?", {"melanie ross"}, "Why did I cry?"),
        ("When did Anna move?", set(), "When did Anna move?"),
        ("Is banana bread good?", set(), "Is banana bread good?"),
        ("王芳喜欢什么？", {"王芳"}, "我喜欢什么？"),
    ],
)
def test_names(text: str, speakers: set[str], embedded: str) -> None:
    question = prepare(text, NOW, ["ana", "melanie ross", "王芳"])
    assert question.speakers == speakers
    assert question.texts == (embedded,)


def test_names_are_no_search_terms_unless_nothing_else_is() -> None:
    assert prepare("When did Ana move?", NOW, ["ana"]).terms == ("move",)
    assert prepare("Ana", NOW, ["ana"]).terms == ("ana",)


def test_a_dialogue_is_searched_by_the_part_of_the_user() -> None:
    question = prepare("Ana: I lost my keys.\nAssistant: Check the kitchen.", NOW)
    assert "key" in question.terms
    assert "kitchen" not in question.terms
    assert question.texts == (question.text, "I lost my keys.")


@pytest.mark.parametrize(
    ("text", "so"),
    [("What did you recommend for dinner?", True), ("你上次推荐的书是什么", True), ("What did I eat?", False)],
)
def test_what_the_assistant_said(text: str, so: bool) -> None:
    assert prepare(text, NOW).of_the_assistant is so


def test_time_needs_a_now() -> None:
    assert prepare("yesterday", NOW).windows
    assert not prepare("yesterday").windows


@given(st.text(max_size=80), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_can_be_asked(text: str, speakers: list[str]) -> None:
    assert prepare(text, NOW, speakers).texts


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Can you recommend some good films for me?", "I like or dislike good films"),
        ("How can I learn chess?", "I like or dislike learn chess"),
        ("What are some must-see places in Rome?", "I like or dislike must-see places in Rome"),
    ],
)
def test_advice_is_also_embedded_as_taste(text: str, told: str) -> None:
    assert prepare(text, NOW).texts == (text, told)


def test_only_advice_in_english_is_embedded_twice() -> None:
    for text in ("When did we meet?", "I like chess.", "周末去哪里玩，有什么推荐？", "Any tips?"):
        assert prepare(text, NOW).texts == (text,)


def test_a_speaker_and_the_colon_stand_on_one_line() -> None:
    """Else every line of an empty page would be looked through to its end for one."""
    assert prepare("Ann : hi there\nBob : hello you").kind == "dialogue"
    assert prepare("Ann\n: hi there\nBob\n: hello you").kind != "dialogue"
    assert prepare("\t \n" * 2700).kind != "dialogue"
