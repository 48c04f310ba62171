"""The parts of the chaos bench on their own: what it draws, what it writes down, what it finds wrong, and how it hits."""

from __future__ import annotations

import asyncio
import json
import signal
from itertools import islice
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from bench.chaos.blows import LONG_FROZEN_S, Kind, blows
from bench.chaos.deployment import LEASE_S
from bench.chaos.gauges import Look, growth
from bench.chaos.ledger import Fate, Ledger
from bench.chaos.parts import Ours, provider
from bench.chaos.people import KEPT, Answer, Books, Errors, Somebody, understood
from bench.chaos.provider import DIMENSIONS, vector
from bench.report import Row

DECK = {"postgres": (Kind.KILLED, Kind.FROZEN), "redis": (Kind.EMPTIED,), "api": (Kind.RESTARTED,)}


def test_the_same_seed_draws_the_same_blows_and_every_deck_has_each_once() -> None:
    drawn = [*islice(blows(7, DECK), 12)]
    assert drawn == [*islice(blows(7, DECK), 12)]
    assert drawn != [*islice(blows(8, DECK), 12)]
    cards = sorted((part, kind) for part, kinds in DECK.items() for kind in kinds)
    for start in (0, 4, 8):
        assert sorted((blow.part, blow.kind) for blow in drawn[start : start + 4]) == cards
    assert {blow.held_s == 0 for blow in drawn if blow.kind is Kind.EMPTIED} == {True}
    with pytest.raises(ValueError, match="nothing to hit"):
        next(blows(1, {}))


def test_a_long_freeze_outlasts_a_claim() -> None:
    frozen = {blow.held_s for blow in islice(blows(1, {"worker": (Kind.FROZEN,)}), 200)}
    assert max(frozen) == LONG_FROZEN_S > LEASE_S


def test_the_ledger_tells_what_is_lost_doubled_and_back() -> None:
    ledger = Ledger()
    fates = {
        "kept": Fate.KEPT,
        "lost": Fate.KEPT,
        "twice": Fate.KEPT,
        "bare": Fate.KEPT,
        "refused": Fate.REFUSED,
        "refused and there": Fate.REFUSED,
        "forgotten": Fate.FORGOTTEN,
        "forgotten and back": Fate.FORGOTTEN,
        "leaving": Fate.LEAVING,
    }
    for text, fate in fates.items():
        ledger.asked(text)
        ledger.settle(text, fate)
    for text in ("unknown", "unknown and there", "unknown, twice"):
        ledger.asked(text)
    there = ["kept", "twice", "twice", "bare", "refused and there", "forgotten and back", "unknown and there"]
    there += ["unknown, twice"] * 2 + ["nobody wrote this"]
    found = ledger.judge(there, set(there) - {"bare"})
    assert found.lost == ["lost"]
    assert found.doubled == ["twice", "unknown, twice"]
    assert found.returned == ["refused and there", "forgotten and back"]
    assert found.strange == ["nobody wrote this"]
    assert found.unembedded == ["bare"]
    assert (found.acknowledged, found.forgotten, found.unknown) == (7, 2, 4)
    assert not found.clean
    assert Ledger({"a": Fate.KEPT, "b": Fate.UNKNOWN}).judge(["a"], ["a"]).clean


@pytest.mark.parametrize(
    ("status", "told", "kind", "unknown"),
    [
        (201, {"id": "1"}, "", False),
        (503, {"error": {"code": "unavailable", "details": {}}}, "503", False),
        (503, {"error": {"code": "unavailable", "details": {"outcome": "unknown"}}}, "503 unknown", True),
        (503, {"detail": "somebody else's words"}, "503 by whom?", True),
        (500, {"error": {"code": "broken"}}, "500", True),
        (404, {"error": {"code": "not_found"}}, "404", False),
    ],
)
def test_an_answer_is_understood(status: int, told: object, kind: str, unknown: bool) -> None:
    found = understood(status, json.dumps(told).encode())
    assert (found.kind, found.unknown) == (kind, unknown)


def test_only_what_is_promised_is_no_error() -> None:
    errors = Errors(lambda server, since, kind: server == 1)
    for kind in ("503", "503 unknown", "500", "404", "503 by whom?"):
        errors.note("write", Answer(kind), 0, 0.0)
    for server in (0, 1):
        errors.note("ask", Answer("hung up"), server, 0.0)
    assert dict(errors.promised) == {"write: 503": 1, "write: 503 unknown": 1, "ask: hung up": 1}
    assert dict(errors.broken) == {"write: 500": 1, "write: 404": 1, "write: 503 by whom?": 1, "ask: hung up": 1}
    assert len(errors.examples) == 4


def test_growth_is_judged_where_the_process_is_the_same() -> None:
    assert growth("api", [Look(1, 100.0, 30), Look(1, 120.0, 40)])["flat"] is True
    assert growth("api", [Look(1, 100.0, 30), Look(1, 140.0, 30)])["flat"] is False
    assert growth("api", [Look(1, 100.0, 30), Look(1, 100.0, 90)])["flat"] is False
    assert growth("api", [Look(1, 100.0, 30), Look(2, 300.0, 90)])["flat"] is None
    assert growth("api", [Look(1, 100.0, 30, 20), Look(1, 100.0, 30, 60)])["flat"] is False


def _grown(*megabytes: float) -> Row:
    return growth("api", [Look(1, each, 30) for each in megabytes])


def test_what_levels_off_is_told_from_what_goes_on() -> None:
    filled = _grown(100, *(100 + min(each, 20) for each in range(60)), 120)
    assert (filled["thirds_mb"], filled["flat"]) == ("110/120/120", True)
    leaking = _grown(100, *(100 + each / 2 for each in range(60)), 118)
    assert (leaking["thirds_mb"], leaking["flat"]) == ("105/115/125", False), "however little that was so far"
    assert _grown(100, *(100 + each / 20 for each in range(60)), 103)["flat"] is True
    assert _grown(100, 101, 120)["thirds_mb"] == "", "too few looks to tell"


class Unsteady:
    """A server that forgets to answer the first time it is asked for anything, though it did it, as one that is killed does."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.seen: set[tuple[bytes, bytes]] = set()
        self.asked = 0
        self.visits: set[asyncio.Task[None] | None] = set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits.add(asyncio.current_task())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), 0)
                body = await reader.readexactly(size)
                answer = self._done(head.split(b"\r\n", 1)[0], body)
                if answer is None:
                    break
                told = json.dumps(answer[1]).encode()
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (answer[0], len(told)) + told)
        except asyncio.IncompleteReadError:
            pass
        writer.close()
        await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])

    def _done(self, line: bytes, body: bytes) -> tuple[int, object] | None:
        first, again = (line, body) not in self.seen, line.startswith(b"DELETE")
        self.seen.add((line, body))
        if b"search" in line:
            return 200, {"hits": []}
        if again:
            known = self.texts.pop(line.split(b"/")[3].split()[0].decode(), None)
            return None if first else (200 if known else 404, {})
        text = json.loads(body).get("text", "")
        id = next((id for id, known in self.texts.items() if known == text), str(self.asked))
        self.asked += 1
        self.texts[id] = text
        return None if first else (200, {"id": id})


async def test_somebody_asks_again_for_what_nobody_answered_and_forgets_to_stay_the_same() -> None:
    unsteady = Unsteady()
    server = await asyncio.start_server(unsteady, "127.0.0.1", 0)
    books = Books(Errors(lambda server, since, kind: True))
    somebody = Somebody("ana", [server.sockets[0].getsockname()[1]], books, seed=1)
    somebody.pause_s = 0.0
    async with server:
        await somebody.move_in()
        rounds = iter([False] * 8)
        await somebody.live(0.001, lambda: next(rounds, True))
        await Somebody("guest", [server.sockets[0].getsockname()[1]], books, seed=2).visit(lambda: False)
        await asyncio.wait([visit for visit in unsteady.visits if visit is not None])
    fates = [*books.memories.fates.values()]
    assert fates.count(Fate.KEPT) + fates.count(Fate.LEAVING) >= KEPT
    assert not books.errors.broken
    stored = [text for text in unsteady.texts.values() if text]
    assert books.memories.judge(stored, stored).clean
    assert books.errors.promised["write: hung up"] >= KEPT


def _answers(port: int, within_s: float = 60.0) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=within_s):
            return True
    except (URLError, OSError):
        return False


def test_a_part_is_killed_frozen_and_brought_back_at_the_same_place() -> None:
    part, port = provider()
    part.start()
    try:
        first = part.pid
        part.signal(signal.SIGSTOP)
        assert not _answers(port, within_s=0.5)
        part.signal(signal.SIGCONT)
        part.kill()
        assert not _answers(port)
        part.start()
        assert _answers(port)
        assert part.pid != first
        part.end()
        assert not _answers(port)
    finally:
        part.close()
    assert part.orphans == 0
    assert not part.folder.exists()


def test_a_child_that_outlives_its_parent_is_counted_and_ended() -> None:
    script = (
        "import subprocess, sys, time; subprocess.Popen(['sleep', '600']); print('there', flush=True); time.sleep(600)"
    )
    part = Ours("parent", ["-c", script], {}, lambda said: "there" in said)
    part.patience_s = 0.2
    part.start()
    try:
        part.kill()
        assert part.orphans == 1
    finally:
        part.close()


def test_texts_that_share_words_lie_near_each_other() -> None:
    one, near, far = vector("the red boat"), vector("the red boat left"), vector("人 quite another matter")

    def cosine(other: list[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert len(one) == DIMENSIONS
    assert cosine(near) > cosine(far)
