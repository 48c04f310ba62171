"""Personal details are found by their form and checksum; other numbers stay; no text takes long."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.pii import MARKERS, masked

FOUND = [
    ("email", "write to ana.lima+news@mail.example.org.", "ana.lima+news@mail.example.org"),
    ("email", "邮箱是li_wei@qq.com，谢谢", "li_wei@qq.com"),
    ("phone", "call +49 30 901820 tomorrow", "+49 30 901820"),
    ("phone", "ring +1 (415) 555-2671", "+1 (415) 555-2671"),
    ("phone", "+44 20 7946 0958", "+44 20 7946 0958"),
    ("phone", "her number: (415) 555-2671", "(415) 555-2671"),
    ("phone", "415-555-2671", "415-555-2671"),
    ("phone", "我的手机号是13812345678。", "13812345678"),
    ("phone", "打138 1234 5678找他", "138 1234 5678"),
    ("phone", "+86 13812345678", "+86 13812345678"),
    ("phone", "my phone number is 030 901820", "030 901820"),
    ("phone", "座机：010-62345678", "010-62345678"),
    ("national_id", "身份证11010519491231002X", "11010519491231002X"),
    ("national_id", "SSN 078-05-1120", "078-05-1120"),
    ("iban", "pay to DE89 3704 0044 0532 0130 00 please", "DE89 3704 0044 0532 0130 00"),
    ("iban", "GB82WEST12345698765432", "GB82WEST12345698765432"),
    ("ip_address", "the server 192.168.10.4 is down", "192.168.10.4"),
    ("ip_address", "at 2001:db8::8a2e:370:7334 now", "2001:db8::8a2e:370:7334"),
]
HARMLESS = [
    "we met in 2024 and 2025, room 415, at 10:30:15",
    "order 138123456789012",
    "version 1.2.3.4 of the app",
    "chapter 1.2.3.4.5",
    "999.1.1.1 is none",
    "身份证110105194912310021",
    "DE89 3704 0044 0532 0130 01",
    "3.14159265358979",
    "2024-03-15 09:30",
    "costs 1,234,567.89",
    "std::vector and a::b",
    "a@b, @ana, foo@bar",
    "population 1400000000",
    "000-12-3456",
    "score 10-12-13, 21-15",
    "see 12:34:56",
    "app.run(host='0.0.0.0') and open http://127.0.0.1:5000 or [::1]",
]


@pytest.mark.parametrize(("kind", "text", "detail"), FOUND)
def test_details_go_and_nothing_else(kind: str, text: str, detail: str) -> None:
    assert masked(text) == (text.replace(detail, MARKERS[kind]), (kind,))


@pytest.mark.parametrize("text", HARMLESS)
def test_other_numbers_stay(text: str) -> None:
    assert masked(text) == (text, ())


PIECES = st.sampled_from(
    [*(text for _, text, _ in FOUND), *MARKERS.values(), "@", ".", ":", "+", "-", " ", "\n", "1", "电话"]
)


@given(st.lists(PIECES | st.text(max_size=6) | st.text(string.printable, max_size=8), max_size=12).map("".join))
def test_masking_again_changes_nothing(text: str) -> None:
    once, _ = masked(text)
    assert masked(once) == (once, ())


ENDLESS = [
    "1",
    "1 ",
    "1-",
    "+1",
    "+1 ",
    "a",
    "a.",
    "a@",
    "a@b.",
    "a-",
    "a@a-",
    "(",
    "1.",
    "1.1.1.1.",
    ":",
    "a:",
    "AA11",
    "AA11 ",
]


@pytest.mark.parametrize("piece", [*ENDLESS, "电话", "phone 1", "138", "078-05-", "110105194912310", "0", "00", "::1 "])
def test_a_megabyte_of_anything_takes_no_time_to_speak_of(piece: str) -> None:
    text = (piece * (1024 * 1024 // len(piece) + 1))[: 1024 * 1024]
    before = time.process_time()
    masked(text)
    spent = time.process_time() - before
    assert spent < 5.0, f"{spent:.2f} s"
