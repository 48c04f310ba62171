"""What the command line says when something is wrong: one line, what would do instead, and a code scripts can read."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.cli.group import COMMANDS, exit_code, loaded
from recollect.errors import Broken, Conflict, InvalidInput, NotAllowed, NotFound, TooLarge, Unavailable
from recollect.settings import SettingsError
from tests.cli.conftest import CommandLine


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["add", "  "], "must not be empty"),
        (["add", "x", "--type", "opinion"], "type must be one of fact, preference"),
        (["add", "x", "--value", "tea"], "--value must be JSON"),
        (["add", "x", "--importance", "7"], "importance must be a number from 0 to 1"),
        (["add", "x", "--expires-at", "soon"], "expires_at must be a time such as"),
        (["add", "x", "--source", "rumour"], "source must be one of user_stated"),
        (["add", "x", "--user", " "], "user must not be empty"),
        (["search", " "], "must be text and not empty"),
        (["search", "x", "--recipe", "soup"], "there are companion"),
        (["search", "x", "--kind", "dream"], "kinds must be among memory, message"),
        (["search", "x", "--limit", "0"], "limit must be a whole number from 1"),
        (["list", "--status", "lost"], "statuses must be one of active"),
        (["list", "--since", "yesterday"], "since must be a time such as"),
        (["list", "--store", "mysql://x"], "give a file path, sqlite:///path"),
        (["forget"], "say what to forget"),
        (["health", "--fix", "everything"], "--fix takes kinds with commas between: duplicates"),
        (["forget", "x", "--all"], "say what to forget"),
        (["import", "missing.jsonl"], "can't read missing.jsonl"),
        (["seed", "missing.json"], "can't read missing.json"),
        (["export", "no/such/folder/x.jsonl"], "can't write"),
        (["reembed", "--provider", "oracle"], "expected one of auto, local, openai"),
        (["reembed"], "embeddings are off"),
        (["db", "current", "--store", "memory://"], "name a file or a server"),
    ],
)
def test_wrong_input_gets_one_helpful_line(cli: CommandLine, args: list[str], words: str) -> None:
    result = cli(*args, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_a_wrong_setting_is_named(cli: CommandLine) -> None:
    cli.env["RECOLLECT_MAX_RESULTS"] = "many"
    assert "RECOLLECT_MAX_RESULTS is 'many': expected a whole number" in cli("list", code=2).stderr


def test_what_is_not_there_is_not_found(cli: CommandLine) -> None:
    assert "no memory has the id 'nobody'" in cli("get", "nobody", code=4).stderr
    cli("forget", "nobody", code=4)
    cli("forget", "--session", "nobody", code=4)


def test_a_store_that_cannot_be_opened_is_unavailable(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("list", "--store", str(tmp_path), code=5).stderr.startswith(
        f"error: {tmp_path}: the database file can't be opened"
    )
    cli("list", "--store", "postgresql://nobody@127.0.0.1:1/none", code=5)


def test_a_file_that_is_no_export_is_told_what_was_expected(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk\n")
    assert (
        "expected a file that `recollect export` wrote, or --from"
        in cli("import", str(tmp_path / "notes.txt"), code=2).stderr
    )


@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["export"]])
def test_output_that_finds_no_room_is_said_in_one_line(cli: CommandLine, command: list[str]) -> None:
    cli("add", "The standup is at 9:30")
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "recollect", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            env=cli.whole_environment,
            text=True,
            timeout=60,
        )
    assert ended.returncode == 5
    assert ended.stderr.startswith("error: the output could not be written: No space left on device")
    assert ended.stderr.count("\n") == 1


def test_stdin_that_is_not_utf8_is_refused(cli: CommandLine) -> None:
    assert "not UTF-8 at byte 3" in cli("add", "-", input=b"ab\xff", code=2).stderr


def test_invalid_bytes_among_the_arguments_are_refused(cli: CommandLine) -> None:
    command: list[str | bytes] = [sys.executable, "-m", "recollect", "add", b"ab\xff"]
    done = subprocess.run(command, capture_output=True, env=cli.whole_environment, timeout=60)
    assert done.returncode == 2
    assert b"not valid Unicode" in done.stderr


def test_a_mistyped_command_gets_a_suggestion(cli: CommandLine) -> None:
    assert "Did you mean 'search'" in cli("serch", "x", code=2).stderr


def test_each_class_of_error_has_its_code() -> None:
    codes = {InvalidInput: 2, NotAllowed: 3, NotFound: 4, Unavailable: 5, Conflict: 1, TooLarge: 1, Broken: 1}
    assert {kind: exit_code(kind("x")) for kind in codes} == codes
    assert exit_code(SettingsError("x")) == 2


def test_help_answers_at_once_and_knows_every_command(cli: CommandLine) -> None:
    told = cli("--help").stdout
    assert all(f" {name} " in told for name in COMMANDS)
    assert "Exit codes" in told
    script = (
        "import sys, time; start = time.process_time(); from recollect.cli import app; app(['--help'], "
        "standalone_mode=False); spent = time.process_time() - start; "
        "print('loaded', [name for name in ('numpy', 'sqlalchemy', 'httpx', 'pydantic') if name in sys.modules]); "
        "print('spent', spent)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(3)
    ]
    assert "loaded []" in runs[0]
    assert min(float(run.split()[-1]) for run in runs) < 0.4


def test_help_names_no_types_and_breaks_lines_where_the_terminal_does(cli: CommandLine) -> None:
    told = cli("export", "--help").stdout
    assert "<bool>" not in told
    assert "unchanged. With --all the whole store" in told


def test_whoever_is_asked_may_leave_at_once(cli: CommandLine) -> None:
    cli("add", "Only mine")
    with cli.start("forget", "--all", stdin=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = b""
        while not told.endswith(b"to go on: "):
            letter = process.stderr.read(1)
            assert letter, f"it ended before it asked: {told!r}"
            told += letter
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert cli.json("list")["total"] == 1


def test_a_command_does_what_its_outline_says(cli: CommandLine) -> None:
    for name, (_, summary) in COMMANDS.items():
        assert loaded(name).help.startswith(summary), name


def test_every_command_takes_the_shared_options() -> None:
    shared = {"--store", "--user", "--space", "--tenant", "--json"}
    waiting = [loaded(name) for name in COMMANDS]
    for each in waiting:
        within = getattr(each, "commands", {})
        waiting += within.values()
        assert within or shared <= {option for parameter in each.params for option in parameter.opts}, each.name


def test_the_version(cli: CommandLine) -> None:
    assert cli("--version").stdout.startswith("recollect 0.")
