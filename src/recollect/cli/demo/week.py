"""The demo week, played: every moment of `week.toml` goes through the verb that anybody's words go through, at its own time.

So whatever the page shows about it (sources, what was replaced, what is in doubt, the audit trail) came about as it does in
life. Nothing is written into the store behind the engine's back.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from recollect.engine import Engine
from recollect.errors import InvalidInput
from recollect.model import Query, Scope

FILE = "week.toml"
NOTE_FIELDS = ("id", "type", "tags", "theme", "pinned", "key")
BETWEEN_TURNS = timedelta(minutes=2)


@dataclass
class ToldTime:
    """A clock that says what it is told."""

    at: datetime

    def now(self) -> datetime:
        return self.at


def moments() -> Sequence[Mapping[str, Any]]:
    """The week as it is written down."""
    told: Sequence[Mapping[str, Any]] = tomllib.loads(files(__package__).joinpath(FILE).read_text("utf-8"))["moments"]
    return told


def first_talk() -> str:
    """The id of the conversation that it begins with."""
    return str(next(each["talk"] for each in moments() if "talk" in each))


def when(moment: Mapping[str, Any], now: datetime) -> datetime:
    """The time of day of that place, so many days before `now`."""
    hour, minute = (int(part) for part in moment["at"].split(":"))
    day = now.astimezone() - timedelta(days=moment["days_ago"])
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0).astimezone(UTC)


async def play(engine: Engine, scope: Scope, now: datetime) -> None:
    """Let the week before `now` happen, in `scope`. The engine is one of its own: it has another time than everybody else."""
    clock = ToldTime(now)
    engine.clock = clock
    for moment in moments():
        clock.at = when(moment, now)
        where = replace(scope, space=moment.get("space", scope.space))
        for name, happen in HAPPENINGS.items():
            if name in moment:
                await happen(engine, where, moment, clock)


async def _talk(engine: Engine, scope: Scope, moment: Mapping[str, Any], clock: ToldTime) -> None:
    for number, said in enumerate(moment["said"]):
        ((role, content),) = said.items()
        turn = {"role": role, "content": content, "created_at": clock.at, "id": f"{moment['talk']}-{number}"}
        await engine.take_in(scope, moment["talk"], [turn])
        clock.at += BETWEEN_TURNS


async def _note(engine: Engine, scope: Scope, moment: Mapping[str, Any], clock: ToldTime) -> None:
    fields = {name: moment[name] for name in NOTE_FIELDS if name in moment}
    if "expires_in_days" in moment:
        fields["expires_at"] = clock.at + timedelta(days=moment["expires_in_days"])
    receipt = await engine.remember(scope, {"content": moment["note"], "manually_saved": True, **fields})
    if receipt.outcome == "refused":
        raise InvalidInput(f"the demo can't be stored here ({receipt.reason})")


async def _asked(engine: Engine, scope: Scope, moment: Mapping[str, Any], clock: ToldTime) -> None:
    await engine.recall(scope, Query(text=moment["asked"]))


async def _archived(engine: Engine, scope: Scope, moment: Mapping[str, Any], clock: ToldTime) -> None:
    await engine.archive(scope, [moment["archived"]])


async def _settings(engine: Engine, scope: Scope, moment: Mapping[str, Any], clock: ToldTime) -> None:
    await engine.change_settings(scope, moment["settings"])


Happening = Callable[[Engine, Scope, Mapping[str, Any], ToldTime], Awaitable[None]]
HAPPENINGS: Mapping[str, Happening] = {
    "talk": _talk,
    "note": _note,
    "asked": _asked,
    "archived": _archived,
    "settings": _settings,
}
