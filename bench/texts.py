"""Texts to measure with: made up, deterministic, with the word frequencies of real notes, in English and some Chinese."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

PEOPLE = ["Ana", "Bo", "Chen", "Dana", "Emil", "Farah", "Goran", "Hana", "Ines", "Jun"]
DEEDS = [
    "met", "called", "wrote to", "had lunch with", "argued with", "borrowed a book from", "planned a trip with",
    "played chess with", "watched a film with", "fixed the bicycle of",
]  # fmt: skip
THINGS = [
    "the budget", "a new flat", "the garden", "the tax return", "an old camera", "the school play", "a dentist visit",
    "the leaking roof", "a job offer", "the summer holiday", "a piano lesson", "the blue car", "a marathon",
]  # fmt: skip
PLACES = ["Lisbon", "Oslo", "the office", "the library", "Chengdu", "a café by the river", "the station", "Kyoto"]
TAILS = [
    "and it took longer than expected", "and we will talk again on {day}", "because of {number} missing pages",
    "which cost {number} euros", "before the rain started", "and nobody was angry", "as agreed on {day}",
]  # fmt: skip
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
CHINESE = [
    "我今天和{who}讨论了{n}号的会议安排", "{who}推荐我去成都吃火锅，花了{n}元", "周末打算和{who}一起爬山",
    "妈妈提醒我{n}号之前交房租", "我更喜欢早上跑步，大约{n}分钟",
]  # fmt: skip


def note(random: Random, number: int) -> str:
    """One note. Every text carries a word of its own, as real notes do."""
    if number % 8 == 7:
        text = random.choice(CHINESE).format(who=random.choice(PEOPLE), n=random.randint(1, 500))
        return f"{text}（{_rare(number)}）"
    tail = random.choice(TAILS).format(day=random.choice(DAYS), number=random.randint(2, 999))
    return (
        f"I {random.choice(DEEDS)} {random.choice(PEOPLE)} about {random.choice(THINGS)} in {random.choice(PLACES)} "
        f"{tail}, file {_rare(number)}."
    )


def notes(count: int, seed: int = 7) -> Iterator[str]:
    random = Random(seed)
    for number in range(count):
        yield note(random, number)


def questions(count: int, seed: int = 11) -> Iterator[str]:
    random = Random(seed)
    for number in range(count):
        if number % 8 == 7:
            yield f"我和{random.choice(PEOPLE)}讨论了什么安排？"
        else:
            yield f"What did {random.choice(PEOPLE)} say about {random.choice(THINGS)} in {random.choice(PLACES)}?"


def _rare(number: int) -> str:
    letters = "bcdfghjklmnpqrst"
    return "".join(letters[(number * 2654435761 >> shift) & 15] for shift in range(0, 28, 4))
