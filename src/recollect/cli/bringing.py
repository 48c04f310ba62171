"""`import --from`: read it once to see that it is sound and whose it is, then once more to store it.

Nothing of a file that is wrong somewhere is stored. What several people said is never stored as one person's by accident: either
they stay apart, or somebody says whose it is to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from recollect.cli.importers import READERS, Piece
from recollect.cli.opening import Opened
from recollect.cli.options import Call
from recollect.cli.output import grid, visible
from recollect.cli.progress import bar
from recollect.engine.exporting.lines import Line, parsed
from recollect.errors import InvalidInput
from recollect.model import ImportReceipt, Scope

AT_ONCE = 1000
PLURALS = {"memory": "memories", "conversation": "conversations", "message": "messages"}
_PLACE = re.compile(r"^lines? (\d+)(?: to \d+)?: ")


class Kind(StrEnum):
    """What `--from` takes."""

    MEM0 = "mem0"
    CHROMA = "chroma"
    MEMPALACE = "mempalace"
    LANGGRAPH = "langgraph"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"


@dataclass
class Survey:
    """What a file holds: how many of each kind, for whom, from when to when."""

    pieces: int = 0
    counts: dict[str | None, Counter[str]] = field(default_factory=dict)
    begins: str | None = None
    ends: str | None = None

    @property
    def report(self) -> dict[str, Any]:
        users = [{"user": user, **_named(counts)} for user, counts in self.counts.items()]
        return {**_named(sum(self.counts.values(), Counter())), "from": self.begins, "until": self.ends, "users": users}

    @property
    def table(self) -> Sequence[Any]:
        rows = [(visible(user or "(no user)"), _worded(counts)) for user, counts in self.counts.items()]
        span = f"from {self.begins[:10]} until {self.ends[:10]}" if self.begins and self.ends else "nothing to import"
        return (grid(rows), f"{span}; nothing was stored")


def _named(counts: Counter[str]) -> dict[str, int]:
    return {many: counts[one] for one, many in PLURALS.items()}


def _worded(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in _named(counts).items() if count) or "nothing"


@dataclass
class Bringing:
    kind: str
    path: Path
    all_users: bool = False

    def survey(self, call: Call) -> Survey:
        """Look through all of it; what is wrong is refused with its place."""
        if not self.path.exists():
            raise InvalidInput(f"can't read {self.path}: there is nothing of that name")
        most, found = call.settings().max_content_bytes, Survey()
        with bar("reading", None) as advance:
            for piece in READERS[self.kind](self.path, most):
                found.pieces += 1
                self._count(found, piece, most)
                advance(found.pieces, None)
        several = sorted(user for user in found.counts if user is not None)
        if len(several) > 1 and call.user is None and not self.all_users:
            shown = ", ".join(several[:5]) + (" …" if len(several) > 5 else "")
            raise InvalidInput(
                f"it belongs to {len(several)} users ({shown}): --all-users keeps them apart, --user makes it one's"
            )
        return found

    def _count(self, found: Survey, piece: Piece, most: int) -> None:
        for line in piece.lines:
            try:
                parsed(line, 0, most)
            except InvalidInput as problem:
                raise InvalidInput(f"{piece.where}: {_PLACE.sub('', problem.message)}") from None
            found.counts.setdefault(piece.user, Counter())[line["kind"]] += 1
            at = line["created_at"]
            found.begins, found.ends = min(found.begins or at, at), max(found.ends or at, at)
        if self.all_users and piece.user is not None:
            Scope("-", piece.user)  # a name that no user may have is refused here, with its reason

    async def store(self, here: Opened, found: Survey) -> ImportReceipt:
        total = ImportReceipt()
        most = here.settings.max_content_bytes
        with bar("importing", found.pieces) as advance:
            done = 0
            for user, pieces in _batches(READERS[self.kind](self.path, most), self.all_users):
                scope = here.scope if user is None else replace(here.scope, user=user)
                total = _added(total, await _take(here, scope, pieces))
                done += len(pieces)
                advance(done, None)
        return total


def _batches(pieces: Iterator[Piece], apart: bool) -> Iterator[tuple[str | None, list[Piece]]]:
    """Pieces that follow each other and go to the same user, some at once."""
    batch: list[Piece] = []
    size, owner = 0, None
    for piece in pieces:
        user = piece.user if apart else None
        if batch and (user != owner or size + len(piece.lines) > AT_ONCE):
            yield owner, batch
            batch, size = [], 0
        batch.append(piece)
        size, owner = size + len(piece.lines), user
    if batch:
        yield owner, batch


async def _take(here: Opened, scope: Scope, pieces: Sequence[Piece]) -> ImportReceipt:
    lines: list[Line] = [line for piece in pieces for line in piece.lines]
    try:
        return await here.engine.import_lines(scope, lines)
    except InvalidInput as problem:
        places = [piece.where for piece in pieces for _ in piece.lines]
        named = _PLACE.match(problem.message)
        where = places[int(named[1]) - 1] if named else pieces[0].where
        raise InvalidInput(f"{where}: {_PLACE.sub('', problem.message)}") from None


def _added(one: ImportReceipt, other: ImportReceipt) -> ImportReceipt:
    return ImportReceipt(
        **{each.name: getattr(one, each.name) + getattr(other, each.name) for each in fields(ImportReceipt)}
    )
