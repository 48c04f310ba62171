"""Cutting keeps what it can, loses nothing it need not, and never exceeds its bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.prompts import prompt
from recollect.providers.embedders.refusals import harmless, retry_after
from recollect.providers.embedders.sizing import batches, head, pieces, sendable, size

texts = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab c. 冲浪。🏄\n")), max_size=300)


@given(texts)
def test_whatever_is_sendable_can_be_sent(text: str) -> None:
    sent = sendable(text)
    assert sent.encode("utf-8").strip()
    assert "\x00" not in sent
    assert size(sent) == len(sent.encode("utf-8"))


@given(texts.map(sendable), st.integers(min_value=4, max_value=100))
def test_a_head_is_a_beginning_within_bounds(text: str, most: int) -> None:
    found = head(text, most)
    assert found
    assert text.startswith(found)
    assert size(found) <= most


@given(texts.map(sendable), st.integers(min_value=4, max_value=100), st.integers(min_value=1, max_value=5))
def test_pieces_are_consecutive(text: str, most: int, count: int) -> None:
    found = pieces(text, most, count)
    assert text.startswith("".join(found))
    assert 1 <= len(found) <= count
    assert len(found) == count or "".join(found) == text
    assert all(0 < size(piece) <= most for piece in found)


@given(st.lists(texts.map(sendable), max_size=40), st.integers(1, 9), st.integers(1, 500))
def test_batches_keep_every_text_in_order(many: list[str], most: int, most_bytes: int) -> None:
    runs = list(batches(many, most, most_bytes))
    assert [text for run in runs for text in run] == many
    assert all(1 <= len(run) <= most for run in runs)
    assert all(len(run) == 1 or sum(map(size, run)) <= most_bytes for run in runs)


def test_a_head_ends_where_a_sentence_or_a_word_does() -> None:
    assert head("One sentence. Another sentence that goes on", 30) == "One sentence. Another "
    assert head("我喜欢冲浪。你呢", 20) == "我喜欢冲浪。"
    assert head("a" * 50, 10) == "a" * 10


def test_pauses_grow_and_stay_bounded() -> None:
    patience = Patience(attempts=4, timeout_s=1, first_wait_s=1.0, longest_wait_s=3.0)
    for attempt, top in ((1, 1.0), (2, 2.0), (3, 3.0)):
        pauses = {patience.pause(attempt, None) or 0.0 for _ in range(50)}
        assert len(pauses) > 1
        assert all(top / 2 <= pause <= top for pause in pauses)
    assert patience.pause(4, None) is None
    assert patience.pause(1, 2.5) == 2.5
    assert patience.pause(1, 3.5) is None
    assert patience.pause(1, float("inf")) is None


def test_retry_after_in_both_forms_and_in_none() -> None:
    assert retry_after("7", 0.0) == 7.0
    assert retry_after("Thu, 01 Jan 1970 00:02:00 GMT", 100.0) == 20.0
    assert retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 100.0) == 0.0
    assert retry_after("-5", 0.0) == 0.0
    assert retry_after("soon", 0.0) is None
    assert retry_after(None, 0.0) is None


def test_only_words_of_the_servers_own_are_harmless() -> None:
    assert harmless("model not found", ["tell me about my appointment", "sk-123"]) == "model not found"
    assert harmless("invalid: My Appointment With Dr. Li", ["my appointment with Dr. Li is at 3"]) == ""
    assert harmless("no such value: 42", ["42"]) == ""


def test_prompts_go_by_the_models_own_name() -> None:
    assert prompt("nomic-embed-text:v1.5", query=True) == "search_query: "
    assert prompt("intfloat/multilingual-e5-small", query=False) == "passage: "
    assert prompt("BAAI/bge-small-en-v1.5", query=False) == ""
    assert prompt("BAAI/bge-small-en-v1.5", query=True).startswith("Represent")
    assert prompt("text-embedding-3-small", query=True) == ""
    assert prompt("bge-m3", query=True) == ""
