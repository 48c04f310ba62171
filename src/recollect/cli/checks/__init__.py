"""What the doctor looks at. All of it, in one run: what is wrong with one thing keeps none of the others from being looked at,
unless they rest on it.

A check never raises for what it is there to find, and never shows content: names, counts and times only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from recollect.bootstrap import sqlite_path
from recollect.cli.checks.checking import Check, State, broken, warning, well
from recollect.cli.checks.combinations import combinations
from recollect.cli.checks.database import database, place
from recollect.cli.checks.embedding import Embedding, embedder
from recollect.cli.checks.neighbours import neighbours
from recollect.cli.checks.parts import parts
from recollect.cli.checks.places import data_folder, database_file, disk, full_text, key_file
from recollect.settings import Reading

__all__ = ["Check", "State", "examine"]


async def examine(reading: Reading) -> AsyncIterator[Check]:
    """All checks, in the order in which one needs the other."""
    settings, problems, remarks = reading
    wrong = {problem.setting for problem in problems}
    for problem in problems:
        yield broken("settings", problem.wrong, problem.fix)
    for remark in remarks:
        yield warning("settings", remark.wrong, remark.fix)
    if not problems:
        yield well("settings", f"store {place(settings)}, write mode {settings.write_mode}")
    for check in combinations(settings):
        yield check
    if "data_dir" not in wrong:
        yield data_folder(settings.data_dir)
        if (keys := key_file(settings)) is not None:
            yield keys
    for check in await parts(settings):
        yield check
    for check in await neighbours(settings, wrong):
        yield check
    model = Embedding(well("embedder", "not looked at: its settings are wrong"))
    if not any((each or "").startswith(("embedder", "llamacpp")) for each in wrong):
        model = await embedder(settings)
    yield model.check
    if wrong & {"store", "data_dir"}:
        return
    yield disk(settings)
    if sqlite_path(settings) is not None:
        yield full_text()
        if (file := database_file(settings)) is not None:
            yield file
            if file.state == "broken":
                return
    async for check in database(settings, model.generation):
        yield check
