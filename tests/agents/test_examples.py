"""The examples and the documentation, executed as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.scripted_model import ScriptedModel, ToolCall

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "agents_sdk_tools": [
        "  -> Noted.",
        "  -> You told me: Prefers uv over pip",
        "eva: Which package manager should I use?\n  -> I know nothing about that.",
    ],
    "agents_sdk_session": ["Nice to meet you, Ana.", "I was told 3 things, the first: My name is Ana."],
    "langgraph_store": ["what is the cat called? -> the cat is called Miso", "finds it", "the standup is at 9:30"],
    "langchain_history": ["Human: I drink green tea.\nAI: Good to know.", "found: I drink green tea."],
    "mcp_client": ["memory_search", "answer: Prefers uv over pip", "resources: recollect://themes"],
}
TEXT = (ROOT / "docs" / "agents.md").read_text()


def run(*arguments: str, folder: Path, **environment: str) -> str:
    settings = {"RECOLLECT_DATA_DIR": str(folder), "RECOLLECT_EMBEDDER": "off", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_executed() -> None:
    written = {file.stem for file in (ROOT / "examples").glob("*.py")}
    assert written == {*EXAMPLES, "scripted_model"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_says(name: str, tmp_path: Path) -> None:
    said = run("-m", f"examples.{name}", folder=tmp_path)
    for expected in EXAMPLES[name]:
        assert expected in said


def documented(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_documented_agent_runs(tmp_path: Path) -> None:
    _, agent, _ = documented("python")
    with ScriptedModel(ToolCall("query_memory", {"query": "package manager"}), "Use uv.").running() as model:
        openai = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "-", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        assert run("-c", agent, folder=tmp_path, **openai) == "Use uv.\n"
    assert "query_memory" in json.dumps(model.asked[0]["tools"])
    assert "Which package manager" in json.dumps(model.asked[0]["input"])


def test_the_documented_chat_runs(tmp_path: Path) -> None:
    chat, *_ = documented("python")
    said = run("-c", chat, folder=tmp_path)
    assert "“the standup is at 9:30” [m1]" in said
    assert said.endswith("['the standup is at 9:30']\n")


def test_the_documented_stores_run(tmp_path: Path) -> None:
    *_, stores = documented("python")
    said = run("-c", stores, folder=tmp_path)
    assert "{'text': 'The cat is called Miso'}" in said
    assert "I drink green tea." in said


def test_the_first_page_runs_as_it_stands(tmp_path: Path) -> None:
    first_page = (ROOT / "README.md").read_text()
    three_lines, chat, agent = re.findall(r"```python\n(.*?)```", first_page, re.DOTALL)
    prefers = "I prefer uv over pip for Python projects"
    found, *quoted = run("-c", three_lines + chat, folder=tmp_path, RECOLLECT_EMBEDDER="local").splitlines()
    assert found == prefers
    assert any(prefers in line for line in quoted)
    with ScriptedModel(ToolCall("query_memory", {"query": "package manager"}), "Use uv.").running() as model:
        openai = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "-", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        assert run("-c", agent, folder=tmp_path, RECOLLECT_EMBEDDER="local", **openai) == "Use uv.\n"
    assert prefers in json.dumps(model.asked[1]["input"]), "the tool gave the model what was remembered"


def test_the_documented_configuration_is_the_example() -> None:
    first, second = (json.loads(each) for each in documented("json"))
    assert first == json.loads((ROOT / "examples" / "mcp_config.json").read_text())
    assert second["mcpServers"]["recollect"]["url"].endswith("/mcp")
