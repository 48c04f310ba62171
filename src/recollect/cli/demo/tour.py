"""A walk through the commands: each is run as it stands, over a store that ends with the walk, with a word on what to see in it.

The commands are the real ones, called as a shell would call them; only where they look (`--store`, `--user`) is added to what is
shown. It needs no terminal: without one there are no colours, and nobody is waited for.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.text import Text

from recollect import cli
from recollect.cli.output import show
from recollect.errors import NotFound
from recollect.sync import Memory

USER = "you"
REFUSED = 3
STANDUP = "The standup is at 9:30 on weekdays"
MOVED = "The standup is at 10 on weekdays"
MONDAY = "We meet Tom on Monday"
TUESDAY = "We meet Tom on Tuesday"
ALLERGY = "我对花生过敏，也不吃香菜"
WIFI = "The guest network is called Lighthouse"

Words = Sequence[str]
Find = Callable[[str], str]
"""From a text to the id of the memory that says so."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to see, and the command that shows it; `code` is how it ends."""

    about: str
    command: Words | Callable[[Find], Words]
    code: int = 0


STEPS = (
    Step("Tell it something. The receipt says what became of it.", ("add", STANDUP, "--tag", "work")),
    Step("Chinese works the same. What is pinned never ages away.", ("add", ALLERGY, "--type", "preference", "--pin")),
    Step("Ask in your own words; the number is how relevant it is.", ("search", "When is the standup?")),
    Step("用中文问也一样；--explain 说明每条结果为什么在这里。", ("search", "我不能吃什么？", "--explain")),
    Step("Things change. A newer value supersedes the older one …", ("add", MOVED, "--tag", "work")),
    Step("… which stays as history, out of the way of every question.", ("list", "--status", "superseded")),
    Step("Not everything that differs is a change …", ("add", MONDAY)),
    Step("… and where it can't know, it keeps both and asks.", ("add", TUESDAY)),
    Step("Your word settles it.", lambda find: ("resolve", find(TUESDAY), "--keep", find(TUESDAY))),
    Step("Or just talk. Without a chat model it answers by quoting.", ("chat", "--once", "When do we meet Tom?")),
    Step("它也听得懂中文的吩咐。", ("chat", "--once", "记住，我喜欢在早上喝乌龙茶")),
    Step("A turn ago it was talk; now it is a memory.", ("list", "--limit", "3")),
    Step("Something that should go again:", ("add", WIFI)),
    Step("Forgetting is for good, and counted.", lambda find: ("forget", find(WIFI))),
    Step(
        "Nothing matches any more, above the line that you draw.", ("search", "guest network", "--min-relevance", "0.6")
    ),
    Step("Nor may it slip back in for a day (exit code 3: refused).", ("add", WIFI), REFUSED),
    Step("What is wrong in here? Duplicates, contradictions, what is stale.", ("health",)),
    Step("All of it is yours to take along, as lines of JSON.", ("export", "everything.jsonl")),
)
GOODBYE = """\
The store is gone again. From here:
  recollect serve --demo     a week of such conversations on a page, kept apart from your own
  recollect serve            your own memory: page, API and MCP
  recollect demo datachat    questions over a database that lean on each other
  recollect doctor           whether everything works on this machine"""


def walk(*, pause: bool = False) -> None:
    """All steps, one after the other; one that doesn't end as it should ends the walk."""
    with TemporaryDirectory(prefix="recollect-demo-") as folder:
        place = Path(folder)
        show("Each command runs for real, over a store that is thrown away at the end.")
        for number, step in enumerate(STEPS, start=1):
            if pause:
                _wait()
            _take(number, step, place)
    show("", GOODBYE)


def _take(number: int, step: Step, place: Path) -> None:
    words = step.command if not callable(step.command) else step.command(lambda text: _id_of(text, place))
    show("", Text(f"{number:2}. {step.about}", "bold"), Text(f"$ {shown(words)}", "cyan"))
    code = cli.app(_placed(words, place), prog_name="recollect", standalone_mode=False) or 0
    if code != step.code:
        raise typer.Exit(code or 1)


def shown(words: Words) -> str:
    """The command as one would type it."""
    return " ".join(("recollect", *(_quoted(word) for word in words)))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word or not word.isascii() else shlex.quote(word)


def _placed(words: Words, place: Path) -> list[str]:
    files = [str(place / word) if word.endswith(".jsonl") else word for word in words]
    return [*files, "--store", str(place / "tour.db"), "--user", USER]


def _id_of(text: str, place: Path) -> str:
    with Memory(place / "tour.db", USER, embedder="off", worker=False) as memory:
        for each in memory.list().items:
            if each.content == text:
                return each.id
    raise NotFound(f"nothing in the demo's store says {text!r}")


def _wait() -> None:
    sys.stderr.write("\n[Enter goes on] ")
    sys.stderr.flush()
    with suppress(EOFError):
        input()
