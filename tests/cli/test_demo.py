"""The demonstrations: they run on a fresh machine, and leave nothing but their data."""

from __future__ import annotations

from recollect.providers.answerers.sample import FILE
from tests.cli.conftest import CommandLine


def test_the_demos_are_listed(cli: CommandLine) -> None:
    assert "recollect demo datachat" in cli("demo").stdout


def test_the_data_chat_runs_without_a_model(cli: CommandLine) -> None:
    turns = cli.json("demo", "datachat")
    first, second, *_, last = turns
    assert first["question"] == "Show me total sales by region for 2024"
    assert "- North: 2,500,000" in first["answer"]
    assert second["question"] == "What about 2023?"
    assert "- North: 2,200,000" in second["answer"]
    assert sorted(second["tables"]) == ["regions", "sales"]
    assert second["earlier_questions_used"] == 1
    assert [turn["answered"] for turn in turns] == [True] * (len(turns) - 1) + [False]
    assert "weather" in last["answer"]
    assert [each.name for each in cli.folder.iterdir()] == [FILE]


def test_people_see_the_question_the_answer_and_the_sql(cli: CommandLine) -> None:
    told = cli("demo", "datachat").stdout
    assert "› What about 2023?" in told
    assert "- South: 1,500,000" in told
    assert "SELECT r.region_name" in told
