"""`recollect doctor`: is everything well, and if not, what to do."""

from __future__ import annotations

import typer

from recollect.cli.checks import Check, examine
from recollect.cli.options import Call, command
from recollect.cli.output import grid, plain, print_json, show
from recollect.settings import SettingsError

app = typer.Typer(add_completion=False)
MARKS = {"ok": "ok", "warning": "warning", "broken": "BROKEN"}


@command(app)
async def doctor(call: Call) -> None:
    """Check that everything works, and say how to fix what doesn't.

    Exit code 1 when something is broken; warnings alone are no failure.
    """
    try:
        checks = [check async for check in examine(call.settings())]
    except SettingsError as problem:
        checks = [Check("settings", "broken", str(problem), "correct or unset that variable")]
    broken = any(check.state == "broken" for check in checks)
    if call.json:
        print_json({"ok": not broken, "checks": plain(checks)})
    else:
        show(grid([(MARKS[check.state], _line(check)) for check in checks]))
        if not broken:
            show("all is well")
    if broken:
        raise typer.Exit(1)


def _line(check: Check) -> str:
    return f"{check.name}: {check.detail}" + (f"\n→ {check.fix}" if check.fix else "")
