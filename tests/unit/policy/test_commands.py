"""Commands are told from talk: every phrase of the table, and what each command concerns."""

from __future__ import annotations

import pytest

from recollect.policy.commands import KINDS, Answer, answer_in, command_in
from tests.unit.policy.commands_said import LATER, SAID, SINCE

PHRASES = [(kind, text) for table in (SAID, LATER, SINCE) for kind, said in table.items() for text in said]


def read_as(text: str) -> str:
    found = command_in(text)
    return found.kind if found else "none"


def test_the_table_is_large_and_knows_every_command() -> None:
    assert len(PHRASES) >= 500
    assert {kind for kind, _ in PHRASES} == {*KINDS, "none"}
    assert len({text for _, text in PHRASES}) == len(PHRASES)


@pytest.mark.parametrize(("kind", "text"), PHRASES)
def test_a_phrase_is_read_as_what_it_is(kind: str, text: str) -> None:
    assert read_as(text) == kind


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What do you remember about my sister?", "my sister"),
        ("Forget that I live in Berlin", "that I live in Berlin"),
        ("Delete everything you remember about Tom", "Tom"),
        ("remember I'm allergic to peanuts", "I'm allergic to peanuts"),
        ("Please remember: the gate code is on the fridge", "the gate code is on the fridge"),
        ("Remember to use metric units", "Remember to use metric units"),
        ("忘掉关于我前任的事", "我前任"),
        ("请记住：我对花生过敏", "我对花生过敏"),
        ("关于里斯本旅行你记得什么", "里斯本旅行"),
        ("Forget that.", None),
        ("忘掉这个", None),
    ],
)
def test_what_a_command_concerns(text: str, about: str | None) -> None:
    found = command_in(text)
    assert found is not None
    assert (found.about, found.everything) == (about, False)


@pytest.mark.parametrize(
    "text", ["What do you know about me?", "wipe your memory", "Forget everything you know about me", "清空你的记忆"]
)
def test_everything_is_everything(text: str) -> None:
    found = command_in(text)
    assert found is not None
    assert (found.about, found.everything) == (None, True)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("Forget number 2", (2,)), ("forget 1 and 3", (1, 3)), ("forget the second one", (2,)), ("忘掉第二条", (2,))],
)
def test_numbers_are_read(text: str, numbers: tuple[int, ...]) -> None:
    found = command_in(text)
    assert found is not None
    assert found.numbers == numbers


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes", Answer(True)),
        ("yes, please do it", Answer(True)),
        ("go ahead!", Answer(True)),
        ("no thanks", Answer(False)),
        ("cancel", Answer(False)),
        ("2", Answer(True, (2,))),
        ("only 1 and 3", Answer(True, (1, 3))),
        ("是的", Answer(True)),
        ("算了", Answer(False)),
        ("第二条", Answer(True, (2,))),
        ("yes but what about the trip?", None),
        ("no idea", None),
        ("I have 3 sisters", None),
    ],
)
def test_answers_to_a_question(text: str, answer: Answer | None) -> None:
    assert answer_in(text) == answer


def test_case_spacing_and_signs_are_clothes() -> None:
    for text in ("  FORGET   THAT!!! ", "“Forget that.”".strip("“”"), "Forget\nthat", "forget that…"):
        assert read_as(text) == "forget"


def test_long_texts_are_no_commands_and_cost_nothing() -> None:
    assert command_in("forget that " * 5000) is None
    assert command_in("a" * 399 + "!") is None
    assert answer_in("yes " * 5000) is None
