"""The demonstrations: they run on a fresh machine, and leave nothing but their data."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli.demo import home, tour, week
from recollect.engine.conversations.converse import TITLE_CHARS
from recollect.errors import Conflict, InvalidInput
from recollect.model import Scope
from recollect.providers.answerers.sample import FILE
from recollect.settings import Settings
from tests.cli.conftest import CommandLine

CHINESE = re.compile("[\u4e00-\u9fff]")


def here(folder: Path, **settings: str) -> Settings:
    return home.at_home(Settings.load({}, data_dir=folder, **settings))


def looking_at(settings: Settings) -> Memory:
    return Memory(settings.store, home.SCOPE.user, tenant=home.SCOPE.tenant, embedder="off", worker=False)


def furnish(settings: Settings) -> bool:
    """Whether the demo came just now."""
    return asyncio.run(home.furnish(settings)).fresh


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = here(tmp_path_factory.mktemp("demo") / "data")
    assert furnish(settings)
    return settings


def test_the_tour_runs_every_step_for_real(cli: CommandLine) -> None:
    told = cli("demo", "--pause", input="\n\n").output
    assert told.count("[Enter goes on]") == len(tour.STEPS), "it waits, as long as there is somebody to wait for"
    for number, step in enumerate(tour.STEPS, start=1):
        assert f"{number:2}. {step.about}" in told
    for expected in (
        '$ recollect add "我对花生过敏，也不吃香菜" --type preference --pin',
        "and superseded",
        "Does “We meet Tom on Tuesday” replace that, or are both true?",
        "“We meet Tom on Tuesday” [m1]",
        "nothing matches",
        "refused (tombstone)",
        "exported 2 conversations",
        "recollect serve --demo",
    ):
        assert expected in told
    assert "\x1b" not in told
    assert not cli.folder.exists(), "nothing of it is left, and nothing of anybody's own was touched"


def test_the_tour_stops_where_a_command_does_not_do_what_it_should(cli: CommandLine) -> None:
    cli.env["RECOLLECT_WRITE_MODE"] = "read_only"
    assert " 2. " not in cli("demo", code=3).output


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


def test_the_week_is_the_one_before_now_in_order() -> None:
    now = datetime(2026, 3, 4, 0, 1, tzinfo=UTC)
    times = [week.when(each, now) for each in week.moments()]
    assert times == sorted(times)
    assert now - timedelta(days=8) < times[0] < times[-1] < now
    titles = [next(iter(each["said"][0].values())) for each in week.moments() if "talk" in each]
    assert max(map(len, titles)) <= TITLE_CHARS, "a title that is cut off is no title"


def test_the_week_has_something_for_every_place_of_the_page(furnished: Settings) -> None:
    with looking_at(furnished) as memory:
        everything = memory.list(limit=1000, statuses=("active", "superseded", "archived")).items
        active = [each for each in everything if each.status == "active"]
        texts = {each.content for each in active}
        assert {each.type.value for each in active} >= {"fact", "preference", "decision", "instruction", "pattern"}
        assert sum(bool(CHINESE.search(text)) for text in texts) >= 10
        assert sum(not CHINESE.search(text) for text in texts) >= 20
        assert {"The standup is at 10 on weekdays", "我妈妈的生日是五月三号"} <= texts
        replaced = {each.content for each in everything if each.status == "superseded"}
        assert {"The standup is at 9:30 on weekdays", "我妈妈的生日是三月五号"} <= replaced
        assert [each.content for each in everything if each.status == "archived"]
        assert [each.id for each in active if each.pinned] == ["demo-peanuts"]
        assert {theme.slug for theme in memory.themes()} >= {"health", "home", "work", "lighthouse", "旅行"}
        assert [each.repeat_count for each in active if each.content == "I prefer uv over pip for Python projects"] == [
            1
        ]
        assert any(each.access_count for each in active), "questions were asked during the week"
        doubts = {frozenset(each.content for each in pair) for pair in memory.conflicts()}
        assert frozenset({"Miso sees the vet on the 12th", "Miso sees the vet on the 14th"}) in doubts
        assert memory.search("我不能吃什么", limit=3).hits
        assert memory.at(space="work").list().total == 2
        assert memory.search("When is the standup?").hits[0].content == "The standup is at 10 on weekdays"


def test_what_was_learnt_says_from_which_turn(furnished: Settings) -> None:
    with looking_at(furnished) as memory:
        learnt = next(each for each in memory.list(limit=1000).items if each.content == "My cat is called Miso")
    assert (learnt.source_conversation_id, learnt.source_message_id) == ("cat", "cat-0")
    assert timedelta(days=4) < datetime.now(UTC) - learnt.created_at < timedelta(days=7)


def test_the_demo_is_put_in_once(furnished: Settings) -> None:
    with looking_at(furnished) as memory:
        before = list(memory.export())
    assert not furnish(furnished)
    with looking_at(furnished) as memory:
        assert list(memory.export()) == before


def test_the_demo_goes_into_no_memory_of_anybody_else(cli: CommandLine) -> None:
    store = cli.folder / "shared.db"
    cli("add", "My own words", "--store", str(store), "--user", "ana")
    settings = here(cli.folder, store=str(store))
    furnish(settings)
    assert cli.json("list", "--store", str(store), "--user", "ana")["total"] == 1
    assert "removed the demo: 4" in cli("demo", "remove", "--store", str(store)).stdout
    assert cli.json("list", "--store", str(store), "--user", "ana")["total"] == 1
    assert cli.json("list", "--store", str(store), "--tenant", "demo", "--user", "demo")["total"] == 0

    cli("add", "Somebody is called demo", "--store", str(store), "--tenant", "demo", "--user", "demo")
    with pytest.raises(Conflict, match="not the demo's"):
        furnish(settings)
    assert "is the demo's" in cli("demo", "remove", "--store", str(store), code=4).stderr
    assert cli.json("list", "--store", str(store), "--tenant", "demo", "--user", "demo")["total"] == 1


def test_the_demo_is_removed_with_its_file_and_nothing_else(cli: CommandLine) -> None:
    cli("add", "My own words")
    furnish(here(cli.folder))
    assert (cli.folder / home.FILE).exists()
    assert cli.json("demo", "remove")["memories"] > 40
    assert [each.name for each in cli.folder.iterdir()] == ["recollect.db"]
    assert "there is no demo to remove" in cli("demo", "remove", code=4).stderr


def test_a_demo_in_memory_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="leave --store out"):
        here(tmp_path, store=":memory:")


def test_the_demo_has_a_user_of_its_own(cli: CommandLine) -> None:
    assert "leave out --user" in cli("serve", "--demo", "--user", "ana", code=2).stderr
    cli.env |= {"RECOLLECT_USER_ID_SOURCE": "header"}
    assert "without a login" in cli("serve", "--demo", code=2).stderr
    assert Scope("demo", "demo", "default") == home.SCOPE
