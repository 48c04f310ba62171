"""Every command there is, with what is wrong for it: a line that says so, exit code 2, and never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from recollect.cli.group import COMMANDS, loaded
from tests.cli.conftest import CommandLine

SECRET = "hunter2"
GIVEN = {"forget": ["1"], "import": ["-"], "seed": ["-"]}
"""What these need before they look at the store."""
STANDS_ALONE = {"demo", "users", "backup"}
"""Commands that may work on something else than the store; what they say to a wrong one is theirs."""


def leaves(names: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
    within = getattr(command, "commands", None)
    if not within:
        yield names, command
    for name, each in (within or {}).items():
        yield from leaves([*names, name], each)


ALL = [leaf for name in COMMANDS for leaf in leaves([name], loaded(name))]
EACH = pytest.mark.parametrize(
    ("names", "command"), ALL, ids=lambda value: " ".join(value) if type(value) is list else ""
)


def arguments(names: list[str], command: Any) -> list[str]:
    """Something for each argument and option that has to be there."""
    if names[0] in GIVEN:
        return GIVEN[names[0]]
    given = []
    for parameter in command.params:
        if parameter.required:
            flag = [parameter.opts[0]] if parameter.param_type_name == "option" else []
            given += [*flag, "2"] * max(1, parameter.nargs)
    return given


@EACH
def test_what_no_command_knows_is_refused(cli: CommandLine, names: list[str], command: Any) -> None:
    assert "No such option: --no-such-option" in cli(*names, "--no-such-option", code=2).stderr
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.type_descriptor.annotation in (int, float):
            said = cli(*names, *arguments(names, command), f"{parameter.opts[0]}=many", code=2).stderr
            assert parameter.opts[0] in said
            assert "valid integer" in said or "valid number" in said


@EACH
def test_a_wrong_setting_is_one_line_whatever_the_command(cli: CommandLine, names: list[str], command: Any) -> None:
    cli.env |= {"RECOLLECT_POOL_SIZE": "lots", "RECOLLECT_STROE": "x", "RECOLLECT_REDIS_URL": f"http://{SECRET}"}
    if names == ["doctor"] or set(names) & STANDS_ALONE:
        return
    done = cli(*names, *arguments(names, command), code=2)
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "RECOLLECT_POOL_SIZE is 'lots': expected a whole number from 1 to 500" in done.stderr
    assert "did you mean RECOLLECT_STORE" in done.stderr
    assert SECRET not in done.stderr


@EACH
def test_a_store_of_no_kind_is_refused_without_its_password(cli: CommandLine, names: list[str], command: Any) -> None:
    if names == ["doctor"] or set(names) & STANDS_ALONE:
        return
    done = cli(*names, *arguments(names, command), "--store", f"mysql://app:{SECRET}@db/x", code=2)
    assert "store is 'mysql://…@db/x': expected a path or an address" in done.stderr
    assert done.stderr.count("\n") == 1
