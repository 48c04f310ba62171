"""`recollect restore`: back from the archive, or from behind the summary that a roll-up made of them."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.cli.opening import opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, show
from recollect.model import Memory, Status
from recollect.policy.rollup import is_roll_up

app = typer.Typer(add_completion=False)


@command(app)
async def restore(call: Call, ids: Annotated[list[str], typer.Argument(help="The memories' ids.")]) -> None:
    """Bring archived memories back into recall.

    From then on they count as saved on purpose and are not trimmed again. The id of a summary that `maintain --roll-up` made
    brings back the memories it was made of, and the summary goes.
    """
    async with opened(call) as here:
        # All of them or none: a wrong id is said before anything is changed.
        asked = [await here.memory.get(id) for id in dict.fromkeys(ids)]
        restored: list[Memory] = []
        for memory in (each for each in asked if _stands_for_others(each)):
            restored += await here.engine.undo_rollup(here.scope, memory.id)
        back = {each.id for each in restored}
        restored += [
            await here.memory.restore(each.id) for each in asked if not _stands_for_others(each) and each.id not in back
        ]
    if call.json:
        print_json(restored[0] if len(restored) == 1 else restored)
    else:
        show(*(f"restored {memory.id}" for memory in restored))


def _stands_for_others(memory: Memory) -> bool:
    return is_roll_up(memory) and memory.status is Status.ACTIVE
