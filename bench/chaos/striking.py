"""One blow after another: hit a part, hold it, bring it back, and measure how long it takes until all is well again.

All is well when a memory is stored through every server and the last of them has its embedding. What takes longer than
`LONGEST_RECOVERY_S` has not recovered.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

from bench.chaos.blows import Blow, Kind
from bench.chaos.deployment import Deployment
from bench.chaos.parts import Part
from bench.chaos.people import Books, Somebody
from bench.report import Row, percentile

LONGEST_RECOVERY_S = 90.0
LOOK_S = 0.1
AFTERMATH_S = 10.0
"""For so long after a blow an error may still be its doing: connections that were queued, pools that are being filled again."""


@dataclass
class Struck:
    """A blow as it went: when it fell, when the part was back, and how long after that what worked again."""

    blow: Blow
    began: float
    back: float = 0.0
    stored_s: float | None = None
    embedded_s: float | None = None


@dataclass
class Striker:
    deployment: Deployment
    books: Books | None = None
    struck: list[Struck] = field(default_factory=list)

    def explains(self, server: int, since: float, kind: str) -> bool:
        """Whether a server that hung up, or said nothing, had a reason for it since then. Postgres frozen is one for silence."""
        names = {f"api-{server + 1}"} | ({"postgres"} if kind == "no answer" else set())
        return any(
            each.blow.part in names and (not each.back or each.back + AFTERMATH_S >= since) for each in self.struck
        )

    async def run(self, drawn: Iterator[Blow], over: Callable[[], bool], told: Callable[[str], None]) -> None:
        number = 0
        while not over():
            blow = next(drawn)
            await asyncio.sleep(blow.after_s)
            if over():
                return
            number += 1
            struck = await self._strike(blow)
            await self._recover(struck, number)
            stored, embedded = _shown(struck.stored_s), _shown(struck.embedded_s)
            told(f"{blow.part} {blow.kind} for {blow.held_s:.1f} s: stored after {stored}, embedded after {embedded}")

    async def _strike(self, blow: Blow) -> Struck:
        part = self.deployment.parts[blow.part]
        struck = Struck(blow, perf_counter())
        self.struck.append(struck)
        await asyncio.to_thread(_hit, part, blow.kind)
        await asyncio.sleep(blow.held_s)
        await asyncio.to_thread(_bring_back, part, blow.kind)
        struck.back = perf_counter()
        return struck

    async def _recover(self, struck: Struck, number: int) -> None:
        assert self.books is not None
        end = perf_counter() + LONGEST_RECOVERY_S
        probes = [
            Somebody(f"probe-{number}-{at}", [port], self.books, number)
            for at, port in enumerate(self.deployment.ports)
        ]
        ids = await asyncio.gather(*(probe.write(lambda: perf_counter() > end) for probe in probes))
        if any(id is None for id in ids):
            return
        struck.stored_s = perf_counter() - struck.back
        while perf_counter() < end:
            if await probes[-1].state(str(ids[-1])) == "ready":
                struck.embedded_s = perf_counter() - struck.back
                break
            await asyncio.sleep(LOOK_S)
        for probe in probes:
            await probe.leave()

    def rows(self) -> list[Row]:
        """Recovery by part and kind of blow, in seconds after the part was back."""
        kinds: dict[tuple[str, Kind], list[Struck]] = {}
        for each in self.struck:
            kinds.setdefault((each.blow.part, each.blow.kind), []).append(each)
        return [_row(part, kind, kinds[part, kind]) for part, kind in sorted(kinds)]

    @property
    def unrecovered(self) -> list[str]:
        return [f"{each.blow.part} {each.blow.kind}" for each in self.struck if each.embedded_s is None]


def _hit(part: Part, kind: Kind) -> None:
    match kind:
        case Kind.KILLED:
            part.kill()
        case Kind.FROZEN:
            part.signal(signal.SIGSTOP)
        case Kind.RESTARTED:
            part.end()
        case Kind.EMPTIED:
            part.empty()
        case Kind.CHILD_KILLED:
            part.kill_child()


def _bring_back(part: Part, kind: Kind) -> None:
    match kind:
        case Kind.KILLED | Kind.RESTARTED:
            part.start()
        case Kind.FROZEN:
            part.signal(signal.SIGCONT)


def _row(part: str, kind: Kind, struck: list[Struck]) -> Row:
    stored = [each.stored_s for each in struck if each.stored_s is not None]
    embedded = [each.embedded_s for each in struck if each.embedded_s is not None]
    row: Row = {"what": f"{part} {kind}", "blows": len(struck), "away_s": max(each.blow.held_s for each in struck)}
    for name, times in (("stored", stored), ("embedded", embedded)):
        if times:
            row |= {f"{name}_p50_s": round(percentile(times, 0.5), 2), f"{name}_max_s": round(max(times), 2)}
    return row | {"recovered": len(embedded)}


def _shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.2f} s"
