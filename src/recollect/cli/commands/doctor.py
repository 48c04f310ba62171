"""`recollect doctor`: is everything well, and if not, what to do."""

from __future__ import annotations

import typer

from recollect.cli.checks import Check, examine
from recollect.cli.options import Call, command
from recollect.cli.output import grid, plain, print_json, show
from recollect.settings import Settings

app = typer.Typer(add_completion=False)
MARKS = {"ok": "ok", "warning": "warning", "broken": "BROKEN"}


@command(app)
async def doctor(call: Call) -> None:
    """Check that everything works, and say how to fix what doesn't.

    Looks at every setting, folder, file and server that the settings name, all in one run. Exit code 1 when something is
    broken; warnings alone are no failure.
    """
    reading = Settings.read(store=call.store, user=call.user, space=call.space, tenant=call.tenant)
    checks = [check async for check in examine(reading)]
    counted = {state: sum(check.state == state for check in checks) for state in MARKS}
    if call.json:
        print_json({"ok": not counted["broken"], "counts": counted, "checks": plain(checks)})
    else:
        show(grid([(MARKS[check.state], _line(check)) for check in checks]))
        show(_summary(counted))
    if counted["broken"]:
        raise typer.Exit(1)


def _line(check: Check) -> str:
    return f"{check.name}: {check.detail}" + (f"\n→ {check.fix}" if check.fix else "")


def _summary(counted: dict[str, int]) -> str:
    found = [f"{counted[state]} {state}" for state in ("broken", "warning") if counted[state]]
    return ", ".join(found) if found else "all is well"
