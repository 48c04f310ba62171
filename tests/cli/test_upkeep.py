"""`maintain` and `health` from the command line: announced first, done on request, readable by people and machines."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import CommandLine

PAST = (datetime.now(UTC) - timedelta(days=1)).isoformat()


def crowd(cli: CommandLine, *where: str, many: int = 4) -> list[str]:
    """More memories that came in by themselves than there is room for."""
    ids = [
        cli.json("add", f"the parcel number {n} stands in the hall", "--source", "inferred", *where)["id"]
        for n in range(many)
    ]
    with sqlite3.connect(cli.folder / "recollect.db") as raw:
        raw.execute("UPDATE spaces SET soft_cap = 2")
    return ids


def test_a_dry_run_says_what_would_go_and_why_and_touches_nothing(cli: CommandLine) -> None:
    ids = crowd(cli)
    told = cli("maintain", "--dry-run").stdout
    assert told.startswith("local · default: would be 2 archived\n")
    assert ids[0] in told
    assert "beyond the cap of 2" in " ".join(told.split())
    assert cli.json("list", "--status", "active")["total"] == 4


def test_maintain_does_what_it_said_and_then_there_is_nothing_left(cli: CommandLine) -> None:
    ids = crowd(cli)
    (announced,) = cli.json("maintain", "--dry-run")
    (done,) = cli.json("maintain")
    assert done["steps"] == announced["steps"]
    assert (done["done"], done["dry_run"], done["space"]) == ({"archive": 2}, False, "default")
    assert {each["id"] for each in cli.json("list", "--status", "archived")["items"]} == set(ids[:2])
    assert cli("maintain").stdout == "everything is in order\n"


def test_what_was_trimmed_can_be_restored_and_stays(cli: CommandLine) -> None:
    first, *_ = crowd(cli)
    cli("maintain")
    assert cli("restore", first).stdout == f"restored {first}\n"
    assert cli.json("get", first)["status"] == "active"
    assert cli("maintain").stdout == "everything is in order\n"
    cli("restore", first, code=1)
    cli("restore", "unknown", code=4)


def test_all_spaces_of_the_user_one_of_them_or_everybodys(cli: CommandLine) -> None:
    crowd(cli)
    crowd(cli, "--space", "work")
    crowd(cli, "--user", "bo")

    def scopes(*args: str) -> list[tuple[str, str]]:
        return [(each["user"], each["space"]) for each in cli.json("maintain", "--dry-run", *args)]

    assert scopes() == [("local", "default"), ("local", "work")]
    assert scopes("--space", "work") == [("local", "work")]
    assert scopes("--everyone") == [("bo", "default"), ("local", "default"), ("local", "work")]
    assert scopes("--everyone", "--space", "default") == [("bo", "default"), ("local", "default")]


def test_what_has_expired_goes_for_good(cli: CommandLine) -> None:
    id = cli.json("add", "only for yesterday qzvxk", "--expires-at", PAST)["id"]
    assert "1 expired" in cli("maintain").stdout
    cli("get", id, code=4)
    assert b"qzvxk" not in (cli.folder / "recollect.db").read_bytes()


def test_roll_ups_are_made_on_request(cli: CommandLine) -> None:
    for n, what in enumerate(("compost in spring", "water in summer", "cover in winter")):
        cli("add", f"the garden beds need {what}", "--theme", "garden", "--created-at", f"2024-03-0{n + 1}")
    assert cli("maintain").stdout == "everything is in order\n"
    assert "1 summed up" in cli("maintain", "--roll-up").stdout
    (summary,) = cli.json("list")["items"]
    assert summary["type"] == "summary"
    assert summary["content"].splitlines()[0] == "2024-03-01: the garden beds need compost in spring"


def test_a_roll_up_is_undone_by_restoring_it(cli: CommandLine) -> None:
    garden = ["compost in spring", "water in summer", "cover in winter"]
    ids = {
        cli.json("add", f"the garden beds need {what}", "--theme", "garden", "--created-at", f"2024-03-0{n + 1}")["id"]
        for n, what in enumerate(garden)
    }
    cli("maintain", "--roll-up")
    (summary,) = cli.json("list")["items"]
    assert cli("restore", summary["id"]).stdout.count("restored ") == 3
    assert {each["id"] for each in cli.json("list")["items"]} == ids
    cli("get", summary["id"], code=4)


def test_a_roll_up_is_restored_together_with_one_of_its_own(cli: CommandLine) -> None:
    ids = [
        cli.json("add", f"the garden beds need {what}", "--theme", "garden", "--created-at", f"2024-03-0{n + 1}")["id"]
        for n, what in enumerate(("compost in spring", "water in summer", "cover in winter"))
    ]
    cli("maintain", "--roll-up")
    (summary,) = cli.json("list")["items"]
    assert cli("restore", ids[0], summary["id"], ids[1]).stdout.count("restored ") == 3
    assert {each["id"] for each in cli.json("list")["items"]} == set(ids)


def spoiled(cli: CommandLine) -> tuple[str, str]:
    """A copy that came in unseen, and something that is over."""
    first = cli.json("add", "Ana keeps bees on the roof")["id"]
    second = cli.json("add", "something else altogether")["id"]
    cli("add", "only for yesterday", "--expires-at", PAST)
    with sqlite3.connect(cli.folder / "recollect.db") as raw:
        raw.execute("UPDATE memories SET content = 'ana keeps bees on the roof!' WHERE id = ?", (second,))
    return first, second


def test_health_reports_and_offers_cures(cli: CommandLine) -> None:
    first, second = spoiled(cli)
    (report,) = cli.json("health")
    assert (report["memories"], report["counts"]) == (3, {"duplicates": 1, "expired": 1})
    assert [(each["concern"], each["cure"]) for each in report["findings"]] == [
        ("duplicates", "archive"),
        ("expired", "expire"),
    ]
    result = cli("health")
    assert "1 duplicates (archive)" in result.stdout
    assert first in result.stdout
    assert second in result.stdout
    assert "recollect health --fix duplicates,expired" in result.stderr
    assert "bees" not in result.stdout


def test_a_fix_is_announced_and_done_only_when_told_to(cli: CommandLine) -> None:
    _, second = spoiled(cli)
    told = cli("health", "--fix", "duplicates,expired").stdout
    assert told.startswith("local · default: would be 1 archived, 1 expired\n")
    assert cli.json("list")["total"] == 3
    (done,) = cli.json("health", "--fix", "duplicates,expired", "--yes")
    assert done["done"] == {"archive": 1, "expire": 1}
    assert cli.json("get", second)["status"] == "archived"
    assert cli("health", "--fix", "duplicates,expired").stdout == "nothing to mend\n"
    assert "all in order" in cli("health").stdout


@pytest.mark.parametrize(
    "args",
    [("--fix", "contradictions"), ("--fix", "nonsense"), ("--fix", ","), ("--yes",)],
)
def test_a_fix_that_is_none_is_refused(cli: CommandLine, args: tuple[str, ...]) -> None:
    cli("add", "something")
    assert cli("health", *args, code=2).stdout == ""


def test_an_empty_memory_is_healthy(cli: CommandLine) -> None:
    assert cli("health").stdout == "there are no memories\n"
    assert json.loads(cli("health", "--json").stdout) == []
    assert cli("maintain").stdout == "everything is in order\n"
