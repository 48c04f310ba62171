"""The lexical leg: any term matches, prefixes match, text is data, filters hold, the expired never appear."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from recollect.model import Filter, MemoryType
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, ANY, HOSTILE, T0, at, entry, found_ids, lexical, of, shelve

SHELF = (
    entry("a", "tea green", created_at=at(0), type="fact", tags=("x",), theme="food"),
    entry("b", "tea black", created_at=at(1), type="preference", tags=("x", "y"), theme="food", session_id="s1"),
    entry("c", "tea", created_at=at(2), type="note", tags=("z",), theme="work", session_id="s2"),
    entry("d", "tea", kind="message", created_at=at(3), session_id="s1", tags=("x",)),
    entry("e", "tea", kind="message", created_at=at(4), session_id="s2"),
    entry("f", "tea", created_at=at(5), expires_at=at(60)),
)

FILTERS = [
    (Filter(), "abcdef"),
    (Filter(kinds=("memory",)), "abcf"),
    (Filter(kinds=("message",)), "de"),
    (Filter(kinds=()), "abcdef"),
    (Filter(types=(MemoryType.FACT,)), "af"),
    (Filter(types=(MemoryType.FACT, MemoryType.NOTE)), "acf"),
    (Filter(types=(MemoryType.FACT,), kinds=("message",)), ""),
    (Filter(tags=("x",)), "abd"),
    (Filter(tags=("y", "z")), "bc"),
    (Filter(tags=("X",)), ""),
    (Filter(themes=("food",)), "ab"),
    (Filter(themes=("food", "work")), "abc"),
    (Filter(sessions=("s1",)), "bd"),
    (Filter(sessions=("s1", "s2")), "bcde"),
    (Filter(since=at(2)), "cdef"),
    (Filter(until=at(2)), "ab"),
    (Filter(since=at(1), until=at(4)), "bcd"),
    (Filter(tags=("x",), sessions=("s1",), kinds=("memory",), themes=("food",), since=at(1)), "b"),
]


async def matching(store: Store, *terms: str) -> set[str]:
    return set(found_ids(await lexical(store, ANA, *terms)))


async def test_any_of_the_terms_may_match(store: Store) -> None:
    await shelve(store, ANA, entry("a", "green tea"), entry("b", "black coffee"), entry("c", "water"))
    assert await matching(store, "tea") == {"a"}
    assert await matching(store, "tea", "coffee") == {"a", "b"}
    assert await matching(store, "tea", "tea") == {"a"}
    assert await matching(store, "milk") == set()
    assert await matching(store, "te") == set()
    assert await matching(store) == set()


async def test_a_star_makes_a_prefix(store: Store) -> None:
    await shelve(store, ANA, entry("a", "teapot"), entry("b", "tea"), entry("c", "steam"), entry("d", "绿茶"))
    assert await matching(store, "tea*") == {"a", "b"}
    assert await matching(store, "teap*") == {"a"}
    assert await matching(store, "绿*", "stea*") == {"c", "d"}
    assert await matching(store, "teapots*") == set()


async def test_words_parted_by_a_space_are_a_phrase(store: Store) -> None:
    await shelve(
        store,
        ANA,
        entry("side", "annual budget review"),
        entry("apart", "annual review budget"),
        entry("amid", "the annual budget review again"),
        entry("twice", "tea annual budget tea budget review"),
        entry("han", "年 度 预 算 年度 度预 预算"),
    )
    assert await matching(store, "annual budget review") == {"side", "amid"}
    assert await matching(store, "annual budget") == {"side", "amid", "twice"}
    assert await matching(store, "budget annual") == set()
    assert await matching(store, "review budget", "tea") == {"apart", "twice"}
    assert await matching(store, "年 度 预 算") == {"han"}
    assert await matching(store, "度 预", "annual review budget absent") == {"han"}


async def test_what_is_not_quite_a_phrase_matches_nothing(store: Store) -> None:
    await shelve(store, ANA, entry("a", "green tea leaves"))
    for strange in (
        "green  tea",
        " green tea",
        "green tea ",
        "green tea*",
        "green* tea",
        "green\ttea",
        "green <-> tea",
    ):
        assert await matching(store, strange) == set(), strange


async def test_terms_of_every_script_match_exactly(store: Store) -> None:
    terms = [
        "tea",
        "绿",
        "绿茶",
        "茶",
        "чай",
        "τσάι",
        "chá",
        "u1f375",
        "user_id",
        "_x",
        "v1_2_3",
        "2025",
        "ñ",
        "شاي",
        "ชา",
    ]
    await shelve(store, ANA, *(entry(f"m{n}", term) for n, term in enumerate(terms)))
    for number, term in enumerate(terms):
        assert await matching(store, term) == {f"m{number}"}, term


async def test_accents_are_part_of_a_term(store: Store) -> None:
    await shelve(store, ANA, entry("plain", "resume"), entry("accented", "resumé"))
    assert await matching(store, "resume") == {"plain"}
    assert await matching(store, "resumé") == {"accented"}


async def test_more_and_rarer_matches_rank_higher_and_scores_are_positive(store: Store) -> None:
    filler = [entry(f"f{n}", "tea water bread salt") for n in range(8)]
    await shelve(store, ANA, *filler, entry("both", "tea saffron bread salt"), entry("one", "milk saffron bread salt"))
    found = await lexical(store, ANA, "tea", "saffron")
    assert found[0].target.id == "both"
    assert all(each.score > 0 and math.isfinite(each.score) for each in found)
    assert all(one.score >= other.score for one, other in itertools.pairwise(found))


async def test_ties_break_by_kind_and_id_and_the_limit_keeps_the_best(store: Store) -> None:
    await shelve(
        store, ANA, *(entry(id, "tea") for id in ("c", "a", "b")), *(entry(id, "tea", "message") for id in "ba")
    )
    found = [each.target for each in await lexical(store, ANA, "tea")]
    assert found == [*of("memory", "a", "b", "c"), *of("message", "a", "b")]
    assert [each.target for each in await lexical(store, ANA, "tea", limit=2)] == found[:2]


async def test_filters(store: Store) -> None:
    await shelve(store, ANA, *SHELF)
    for filter, expected in FILTERS:
        found = await lexical(store, ANA, "tea", filter=filter)
        assert sorted(found_ids(found)) == list(expected), filter


async def test_a_filter_does_not_cost_results_that_pass_it(store: Store) -> None:
    await shelve(
        store, ANA, *(entry(f"m{n:03}", "tea tea") for n in range(60)), entry("z", "tea water salt", tags=("x",))
    )
    assert found_ids(await lexical(store, ANA, "tea", filter=Filter(tags=("x",)), limit=1)) == ["z"]


async def test_the_expired_never_match(store: Store) -> None:
    await shelve(store, ANA, *SHELF)
    for now, there in ((at(59), True), (at(60), False), (at(61), False)):
        assert ("f" in found_ids(await lexical(store, ANA, "tea", now=now))) is there


async def test_matches_follow_the_entry(store: Store) -> None:
    await shelve(store, ANA, entry("a", "tea"), entry("b", "tea"))
    await store.write(ANA, lambda tx: tx.index.put([entry("a", "coffee")]))
    assert await matching(store, "tea") == {"b"}
    assert await matching(store, "coffee") == {"a"}
    await store.write(ANA, lambda tx: tx.index.drop(of("memory", "b")))
    assert await matching(store, "tea") == set()


async def test_frequencies_count_entries_not_occurrences(store: Store) -> None:
    await shelve(store, ANA, entry("a", "tea tea milk"), entry("b", "tea", "message"), entry("c", "teapot"))

    def work(tx: Tx) -> list[int]:
        found = tx.index.frequencies(["tea", "milk", "absent", "茶"])
        return [found.get(term, 0) for term in ("tea", "milk", "absent", "茶")]

    assert await store.read(ANA, work) == [2, 1, 0, 0]
    await store.write(ANA, lambda tx: tx.index.drop(of("memory", "a")))
    assert await store.read(ANA, work) == [1, 0, 0, 0]
    assert dict(await store.read(ANA, lambda tx: tx.index.frequencies([]))) == {}


@pytest.mark.parametrize("limit", [1, 100])
async def test_hostile_terms_in_a_query_match_nothing_and_spoil_nothing(store: Store, limit: int) -> None:
    await shelve(store, ANA, entry("a", "tea drop memories null"), entry("b", "milk"))
    strange = [
        *HOSTILE,
        "",
        "*",
        "**",
        "te*a",
        " tea",
        "tea ",
        "te a",
        '"tea"',
        "tea)",
        "(",
        "tea:*",
        "\n",
        "a-b",
        "`",
        "&",
        "!",
    ]

    def work(tx: Tx) -> None:
        for text in strange:
            for term in (text, text + "*"):
                if term not in ("NULL", "NULL*"):  # a word like any other
                    assert found_ids(tx.index.lexical([term], ANY, T0, limit)) == [], term
                    assert found_ids(tx.index.lexical([term, "milk"], ANY, T0, limit)) == ["b"], term
            assert tx.index.frequencies([text]).get(text, 0) == 0 or text == "NULL"

    await store.read(ANA, work)


async def test_keywords_of_query_languages_are_words(store: Store) -> None:
    words = ["and", "or", "not", "near", "null", "select", "match", "rank"]
    await shelve(store, ANA, *(entry(word, word) for word in words))
    for word in words:
        assert await matching(store, word) == {word}


async def test_hostile_terms_in_an_entry_are_dropped_and_the_rest_is_found(store: Store) -> None:
    unfit = [text for text in HOSTILE if not text.isidentifier()]
    shelf = [replace(entry(f"m{n}"), terms=(text, f"clean{n}", text)) for n, text in enumerate(unfit)]
    await shelve(store, ANA, *shelf)
    for number in range(len(unfit)):
        assert await matching(store, f"clean{number}") == {f"m{number}"}
    assert await matching(store, "drop*", "memories*", "1*", "tea*", "x*") == set()


async def test_hostile_filter_values_match_only_themselves(store: Store) -> None:
    shelf = [entry(f"m{n}", "tea", tags=(t,), theme=t, session_id=t) for n, t in enumerate(HOSTILE)]
    await shelve(store, ANA, *shelf, entry("plain", "tea"))

    def work(tx: Tx) -> None:
        for number, text in enumerate(HOSTILE):
            for filter in (Filter(tags=(text,)), Filter(themes=(text,)), Filter(sessions=(text, "no"))):
                assert found_ids(tx.index.lexical(["tea"], filter, T0, 9)) == [f"m{number}"]

    await store.read(ANA, work)


async def test_many_terms_at_once(store: Store) -> None:
    await shelve(store, ANA, entry("a", "tea"))
    assert await matching(store, *(f"absent{n}" for n in range(300)), "tea") == {"a"}
