"""The latest word comes first where one thing is asked for, and nothing is lost or reordered where it isn't."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Hit, Memory, Message, Target
from recollect.policy.latest.asked import latest_first
from recollect.policy.render import context_block

THEN = datetime(2025, 3, 1, tzinfo=UTC)


def said(text: str, day: int, role: str = "user") -> Hit:
    message = Message(
        id=f"{day}", session_id="s", order=day, role=role, content=text, created_at=THEN + timedelta(days=day)
    )
    return Hit(message=message, relevance=0.5, score=1.0)


def known(text: str, day: int) -> Hit:
    memory = Memory(id=f"{day}", content=text, created_at=THEN + timedelta(days=day), updated_at=THEN)
    return Hit(memory=memory, relevance=0.5, score=1.0)


CHANGED = [
    (
        "How many followers do I have on Instagram?",
        "Can you suggest captions for Instagram? By the way, I reached 500 followers last week.",
        "I want more reach on Instagram. By the way, I'm now at 600 followers, which is nice!",
    ),
    (
        "How often do I go to yoga?",
        "I've been doing yoga twice a week, which helps me relax.",
        "I feel better on yoga days, and I go three times a week these days.",
    ),
    (
        "When is my call with the editor?",
        "My call with the editor is on April 21 at 3 PM, what should I prepare?",
        "I worry that moving the call with the editor to April 22 at 11 AM collides with lunch.",
    ),
    (
        "Have I ever used a citation manager?",
        "I use a citation manager for my essays and like it.",
        "I've never used any citation manager, how do I get started?",
    ),
    ("Where is the blue painting hanging now?", "The blue painting hangs over the sofa.", "The blue painting hangs in the hall."),
    ("我表弟现在多大了？", "我表弟今年21岁。", "我表弟今年22岁了。"),
    ("我有多少粉丝？", "我的粉丝有500个了，谢谢大家。", "今天看了一下，我的粉丝现在有600个。"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "before", "after"), CHANGED)
def test_the_latest_word_comes_first_and_the_earlier_one_is_marked(question: str, before: str, after: str) -> None:
    old, new = said(before, 1), said(after, 9)
    for found in ([old, new], [new, old]):
        hits = latest_first(question, found)
        assert [hit.content for hit in hits] == [after, before]
        assert [hit.outdated_by for hit in hits] == [None, new.target]
        assert hits[1].signals["outdated"] == 1.0


@pytest.mark.parametrize(
    "question",
    [
        "How many followers did I have on Instagram originally?",
        "How many followers did I have before the campaign on Instagram?",
        "How many followers do my Instagram accounts have in total?",
        "Can you recommend ways to win Instagram followers?",
    ],
)
def test_who_asks_for_the_past_for_a_sum_or_for_advice_gets_what_was_found_as_it_was(question: str) -> None:
    found = [said(CHANGED[0][1], 1), said(CHANGED[0][2], 9)]
    assert latest_first(question, found, factual="recommend" not in question) == found


@pytest.mark.parametrize(
    ("question", "before", "after"),
    [
        ("How many bikes do I own?", "I own three bikes.", "My train leaves from platform 12 now."),
        ("How many bikes do I own?", "I own three bikes.", "I still own three bikes and love them."),
        ("Where does my sister live?", "My sister lives in Oslo.", "My sister likes strong tea."),
    ],
)
def test_what_is_about_something_else_or_says_the_same_outdates_nothing(question: str, before: str, after: str) -> None:
    found = [said(before, 1), said(after, 9)]
    assert latest_first(question, found) == found


@pytest.mark.parametrize(
    ("question", "before", "after"),
    [
        ("How many people has the Berlin team?", "The Berlin team has 8 people", "The Paris team has 5 people"),
        ("How old am I?", "I'm 34 years old", "Tom is 29 years old"),
        ("我几岁？", "我今年三十岁", "小李今年二十八岁"),
        ("How many slots has rack 3?", "Rack 3 has 12 slots", "Rack 4 has 20 slots"),
        ("Do I eat beef?", "I don't eat beef", "My cousin asked whether I eat beef"),
        ("How tall is my colleague?", "My cousin is 167 cm tall.", "My colleague is 161 cm tall."),
        ("When is my sister's birthday?", "My brother's birthday is on May 3.", "My sister's birthday is on June 9."),
        ("我老板的电话是多少？", "我姑姑的电话是13900010002。", "我老板的电话是13900030004。"),
        ("我表弟现在多大了？", "我表弟今年21岁。", "我表弟的生日是7月15号。"),
        ("我妈妈的电话是多少？", "我妈妈的电话是13900010002。", "我妈妈今年61岁了。"),
    ],
)
def test_another_team_another_person_and_a_mere_question_outdate_nothing(
    question: str, before: str, after: str
) -> None:
    found = [said(before, 1), said(after, 9)]
    assert latest_first(question, found) == found


def test_one_voice_does_not_outdate_another() -> None:
    question, before, after = CHANGED[0]
    found = [said(before, 1), said(after, 9, role="assistant")]
    assert latest_first(question, found) == found


def test_of_memories_that_may_not_both_be_true_the_later_comes_first() -> None:
    old, other, new = known("I meet Ana at 9", 1), known("The sea is deep", 2), known("I meet Ana at 10", 3)
    hits = latest_first("What is on today?", [old, other, new], disputed={frozenset({"1", "3"})})
    assert [hit.content for hit in hits] == ["I meet Ana at 10", "I meet Ana at 9", "The sea is deep"]
    assert [hit.outdated_by for hit in hits] == [None, Target("memory", "3"), None]


def test_what_is_liked_is_not_outdated_by_what_is_liked_too() -> None:
    hits = [known("I like tea", 1), known("I like coffee", 3)]
    assert latest_first("Do I like tea?", hits, disputed={frozenset({"1", "3"})}) == hits


@given(
    st.lists(st.sampled_from([text for _, *texts in CHANGED for text in texts]), max_size=8),
    st.sampled_from([question for question, *_ in CHANGED]),
    st.randoms(use_true_random=False),
)
def test_nothing_is_lost_and_every_mark_points_forward(texts: list[str], question: str, random: object) -> None:
    found = [said(text, day) for day, text in enumerate(texts)]
    random.shuffle(found)  # type: ignore[attr-defined]
    hits = latest_first(question, found)
    assert sorted(hit.target.id for hit in hits) == sorted(hit.target.id for hit in found)
    places = {hit.target: place for place, hit in enumerate(hits)}
    for hit in hits:
        if hit.outdated_by is not None:
            assert int(hit.outdated_by.id) > int(hit.target.id)
            assert places[hit.outdated_by] < places[hit.target] or _also_outdated(hits, hit.outdated_by)


def _also_outdated(hits: list[Hit], target: Target) -> bool:
    return next(hit for hit in hits if hit.target == target).outdated_by is not None


def test_a_model_is_told_which_word_is_the_later_one() -> None:
    question, before, after = CHANGED[0]
    lines = context_block(latest_first(question, [said(before, 1), said(after, 9)]), 2000).text.splitlines()
    shown = [line for line in lines if line.startswith("- [")]
    assert shown[0].startswith("- [m2] 2025-03-02 message from user, may be outdated by [m1]:")
    assert shown[1].startswith("- [m1] 2025-03-10 message from user:")
