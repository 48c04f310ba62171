"""Every example, executed as it stands, and what it says."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
STAND_IN = "scripted_model"
"""No example: the model that some of them talk to."""
SAID = {
    "three_lines": ["I prefer uv over pip for Python projects\n"],
    "chinese_assistant": [
        "记住了： 我对花生过敏；我妈妈的生日是三月五号",
        "助手：好的，已替换之前的内容：“我妈妈的生日是三月五号”。",
        "你告诉过我：“我妈妈的生日是五月三号” [m1]",
        "你告诉过我：“我对花生过敏” [m1]",
        "已永久忘记：记忆 1 条，对话消息 1 条。",
        "这是我记得的内容（共 2 条）：",
    ],
    "fastapi_app": [
        "learnt: [\"I'm allergic to peanuts\"]\nlearnt: ['我住在上海']\n<recollect-memory>",
        "fact: I'm allergic to peanuts\n</recollect-memory>\nben: {'prompt': ''}\n",
    ],
    "agents_sdk_tools": [
        "  -> Noted.",
        "  -> You told me: Prefers uv over pip",
        "eva: Which package manager should I use?\n  -> I know nothing about that.",
    ],
    "agents_sdk_session": ["Nice to meet you, Ana.", "I was told 3 things, the first: My name is Ana."],
    "langgraph_agent": [
        "The standup is at 9:30 -> Noted.\n",
        "What is the cat called? -> You told me: The cat is called Miso\n",
        "finds it, too: The standup is at 9:30",
    ],
    "langchain_history": ["Human: I drink green tea.\nAI: Good to know.", "found: I drink green tea."],
    "mcp_client": ["memory_search", "answer: Prefers uv over pip", "resources: recollect://themes"],
    "data_chat": [
        "› What about 2023?\nThe total sales by region for 2023:\n- East: 1,900,000\n",
        "› only the top 2\nThe total sales by region for 2023 (the highest 2):\n- North: 2,200,000\n- East: 1,900,000\n",
    ],
    "from_mem0": [
        "ana  2 memories\nben  1 memories\nfrom 2025-03-01 until 2025-05-20; nothing was stored",
        "\nmemories  3\n",
        "ana: 2025-03-01 Prefers window seats on trains ['travel']\nasked: Prefers window seats on trains\n",
    ],
}
BY_MEANING = {"three_lines"}
AS_A_PROCESS = {"mcp_client"}
"""What it starts inherits stderr as it was when its library was loaded, which under pytest may be closed by now."""


@pytest.fixture
def untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a machine on which nothing has happened yet."""
    folder = tmp_path / "data"
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


@pytest.mark.parametrize("name", SAID)
def test_an_example_does_what_it_says(
    name: str, untouched: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "local" if name in BY_MEANING else "off")
    if name in AS_A_PROCESS:
        subprocess.run([sys.executable, "-m", f"examples.{name}"], cwd=ROOT, check=True, timeout=280)
    else:
        runpy.run_module(f"examples.{name}", run_name="__main__")
    said = capfd.readouterr().out
    for expected in SAID[name]:
        assert expected in said
    assert not untouched.exists(), "an example leaves nothing behind"


def test_every_example_is_run_and_listed() -> None:
    written = {file.stem for file in FOLDER.glob("*.py")}
    assert written == {*SAID, STAND_IN}
    index = (FOLDER / "README.md").read_text()
    assert set(re.findall(r"\((\w+)\.py\)", index)) == written


@pytest.mark.parametrize("name", SAID)
def test_an_example_is_short_and_says_how_to_run_it(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert f"\n    python -m examples.{name}" in text.split('"""')[1]
    assert len(text.splitlines()) <= 90
