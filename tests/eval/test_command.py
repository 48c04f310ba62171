"""`python -m eval`, as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eval.__main__ import main

ROOT = Path(__file__).parents[2]
BIKE = {"content": "Rides a crimson tandem bicycle to the quarry.", "type": "fact"}
WITHOUT = (
    "import runpy, sys; sys.modules['mlflow'] = sys.modules['matplotlib'] = None; sys.argv = ['eval', *sys.argv[1:]]; "
    "runpy.run_module('eval', run_name='__main__')"
)
"""`python -m eval` where the large packages are missing, whatever is installed."""


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def typed(*arguments: str | Path, script: str | None = None, **environment: str) -> Done:
    """As a process of its own."""
    start = ["-m", "eval"] if script is None else ["-c", script]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    ended = subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        cwd=ROOT,
        env={**quiet, **environment},
        capture_output=True,
        text=True,
        timeout=280,
    )
    return Done(ended.returncode, ended.stdout, ended.stderr)


def run(*arguments: str | Path, **environment: str) -> Done:
    """The same in this process, which has loaded most of it already."""
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as errors,
    ):
        for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main([str(each) for each in arguments])
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
    if isinstance(code, int):
        return Done(code, out.getvalue(), errors.getvalue())
    return Done(1, out.getvalue(), f"{errors.getvalue()}{code}")


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """One case that words alone answer."""
    return _write(tmp_path, "Who rides the crimson tandem bicycle?")


@pytest.fixture
def hopeless(tmp_path: Path) -> Path:
    """One case that words alone don't."""
    return _write(tmp_path, "Means of transport?")


def _write(folder: Path, query: str) -> Path:
    case: dict[str, Any] = {"id": "one", "setup_memories": [BIKE], "query": query, "rubric": "The bicycle."}
    case["expected_retrievals"] = [BIKE["content"]]
    file = folder / "golden.json"
    file.write_text(json.dumps({"version": "1", "description": "one case", "cases": [case]}))
    return file


def test_a_good_run_passes_and_keeps_its_figures(golden: Path, tmp_path: Path) -> None:
    kept = tmp_path / "out.json"
    done = typed("--dataset", "memory", "--path", golden, "--no-mlflow", "--json", kept, RECOLLECT_EMBEDDER="off")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("PASS")
    report = json.loads(kept.read_text())
    assert report["passed"] is True
    assert report["figures"]["recall_at_5"] == 100.0
    assert report["parameters"]["embedder"] == "off"
    assert [line["id"] for line in report["cases"]] == ["one"]


def test_a_bad_run_fails_with_1_and_shows_what_is_missing(hopeless: Path, tmp_path: Path) -> None:
    kept = tmp_path / "out.json"
    done = run("--dataset", "memory", "--path", hopeless, "--no-mlflow", "--json", kept, RECOLLECT_EMBEDDER="off")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("FAIL")
    assert "Recall@5 is 0.0 %" in done.stdout
    assert "crimson tandem" in done.stdout
    assert json.loads(kept.read_text())["passed"] is False


def test_the_contracts_own_scenarios_with_the_real_model() -> None:
    done = run("--dataset", "memory", "--limit", "3", "--no-mlflow")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100.0 %" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [((), ["MLflow", "make eval", "--no-mlflow"]), (("--sweep",), ["matplotlib", "make eval"])],
)
def test_a_missing_package_is_said_before_anything_is_measured(
    golden: Path, arguments: tuple[str, ...], advice: list[str]
) -> None:
    done = typed("--dataset", "memory", "--path", golden, *arguments, script=WITHOUT)
    assert done.returncode == 2
    assert all(word in done.stderr for word in advice)
    assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--outage", "lexical", "--store", "postgres"), "always has full text"),
        (("--path", "nowhere.json"), "nowhere.json"),
        (("--recipe", "soup"), "invalid choice: 'soup'"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], complaint: str) -> None:
    done = run("--dataset", "memory", "--no-mlflow", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_public_sets_in_their_fixed_form(tmp_path: Path) -> None:
    turns = ["We painted the shed green.", "The ferry to Texel leaves at nine.", "My knee hurts when it rains."]
    memories = [
        {"id": f"t{n}", "text": text, "created_at": f"2026-01-0{n + 1}T10:00:00", "session_id": "s", "role": "user"}
        for n, text in enumerate(turns)
    ]
    case = {"case_id": "c1", "corpus_id": "k", "query": "When does the ferry to Texel leave?", "relevant_ids": ["t1"]}
    (tmp_path / "tiny.corpora.jsonl").write_text(json.dumps({"corpus_id": "k", "memories": memories}))
    (tmp_path / "tiny.cases.jsonl").write_text(json.dumps({**case, "relevant_sessions": ["s"]}))
    kept = tmp_path / "out.json"
    done = run("--dataset", "sets", "--path", tmp_path, "--sets", "tiny", "--store", "sqlite", "--json", kept)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(kept.read_text())
    (row,) = report["rows"]
    assert report["store"] == "sqlite"
    assert (row["set"], row["cases"]) == ("tiny", 1)
    assert row["metrics"]["ours"]["hit@5"] == 100.0
    assert set(row["metrics"]) == {"ours", "bm25", "dense", "rrf"}


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    done = run("--dataset", "sets", "--path", tmp_path, "--sets", "tiny")
    assert done.returncode == 1
    assert "no set is called 'tiny'" in done.stderr


@pytest.mark.parametrize(("needs", "code", "verdict"), [("9:30", 0, "PASS"), ("Maple", 1, "FAIL")])
def test_tasks_end_with_a_verdict(tmp_path: Path, needs: str, code: int, verdict: str) -> None:
    told = ["The standup is at 9:30.", "There are maples here: Maple Street."]
    question = {"on": "2026-02-01", "ask": "When is the standup?", "needs": [needs], "told": ["2026-01-05"]}
    task = {"id": "standup", "lang": "en", "category": "meeting", "questions": [question]}
    file, kept = tmp_path / "tasks.json", tmp_path / "out.json"
    file.write_text(json.dumps({"version": "1", "tasks": [{**task, "sessions": [{"on": "2026-01-05", "said": told}]}]}))
    done = run("--dataset", "tasks", "--path", file, "--no-mlflow", "--json", kept, RECOLLECT_EMBEDDER="off")
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith(verdict)
    assert json.loads(kept.read_text())["passed"] is (code == 0)
