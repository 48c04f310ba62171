"""`--dataset followups` on a tiny set of our own: what is in the context, and what the rules make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eval import adapting, followups
from eval.dialogues import read
from recollect.testing import HashEmbedder

THINGS = ("boats", "lamps", "chairs", "kites", "drums", "ropes", "tents", "bells", "clocks", "spoons", "maps", "nets")


def write(folder: Path, name: str, cases: list[dict[str, Any]]) -> None:
    lines = (json.dumps({"dataset": name, "kind": "followup", **case}) for case in cases)
    (folder / f"{name}.cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def asked(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "text": text} for text in texts]


def rewritten(thing: str) -> dict[str, Any]:
    return {
        "case_id": f"made-{thing}",
        "history": asked(f"How were sales of {thing} in April?"),
        "query": "And in May?",
        "answer": f"How were sales of {thing} in May?",
        "needs_context": True,
        "extra": {},
    }


async def test_what_a_question_leaves_out_is_shown_where_its_conversation_is_known(tmp_path: Path) -> None:
    write(tmp_path, "tiny", [rewritten(thing) for thing in THINGS])
    rows = await followups.run(tmp_path, ["tiny"], "sqlite", None, HashEmbedder())
    figures = rows[0]["context"]
    assert {layout: figures[layout]["questions"] for layout in followups.LAYOUTS} == dict.fromkeys(
        followups.LAYOUTS, 12
    )
    assert (figures["sessions"]["served"], figures["together"]["served"]) == (100.0, 100.0)
    assert figures["anew"]["served"] < 100.0  # twelve such questions are alike, and three are shown
    assert 0 < figures["far"]["tokens_max"] <= 4000
    assert followups.passed(rows) == []
    figures["together"]["served"] = 97.0
    assert followups.passed(rows) == ["tiny together: 97.0 % of 98 %"]
    console = Console(record=True, width=160)
    followups.show(rows, console)
    assert "tiny" in console.export_text()


def test_dialogues_are_put_together_again(tmp_path: Path) -> None:
    first = {"needs_context": False, "extra": {"db_id": "zoo"}}
    later = {"needs_context": True, "extra": {"db_id": "zoo"}}
    sql = "SELECT name FROM animals"
    write(
        tmp_path,
        "sparc_dev",
        [
            {"case_id": "0-0", "history": [], "query": "All names", "answer": sql, **first},
            {"case_id": "0-1", "history": asked("All names"), "query": "How many?", "answer": "SELECT 1", **later},
            {"case_id": "1-0", "history": [], "query": "All ages", "answer": "SELECT age FROM animals", **first},
        ],
    )
    (dialogue,) = read(tmp_path, "sparc_dev")
    assert [turn.text for turn in dialogue.turns] == ["All names", "How many?"]
    assert (dialogue.about, dialogue.turns[0].tables) == ("zoo", ("animals",))
    assert (dialogue.measured(), dialogue.needs(1)) == ([1], [{0}])


@pytest.mark.parametrize(
    ("question", "wanted", "expected"),
    [
        ("How many are there?", "SELECT count(*) FROM animals", "right"),
        ("How many are there?", "SELECT max(age) FROM animals", "wrong"),
        ("Why did the moon leave?", "SELECT count(*) FROM animals", "cannot"),
    ],
)
async def test_the_rules_are_right_wrong_or_say_that_they_can_not(
    tmp_path: Path, question: str, wanted: str, expected: str
) -> None:
    about = {"extra": {"db_id": "zoo"}}
    before = 'SELECT name, age FROM animals WHERE kind = "owl"'
    gold = wanted + ' WHERE kind = "owl"'
    write(
        tmp_path,
        "sparc_dev",
        [
            {"case_id": "0-0", "history": [], "query": "Owls", "answer": before, "needs_context": False, **about},
            {
                "case_id": "0-1",
                "history": asked("Owls"),
                "query": question,
                "answer": gold,
                "needs_context": True,
                **about,
            },
        ],
    )
    figures = await adapting.measured(read(tmp_path, "sparc_dev"))
    assert figures["questions"] == 1
    assert {name: figures[name] for name in ("right", "wrong", "cannot")} == {
        name: 100.0 if name == expected else 0.0 for name in ("right", "wrong", "cannot")
    }
