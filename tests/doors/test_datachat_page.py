"""The page about the data chat, run as it stands: each request, what its answer holds, and the program at its end."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

from recollect.engine import Engine
from recollect.providers.answerers import sample_database
from tests.api.homes import sqlite_home
from tests.doors.serving import Served, served

PAGE = Path(__file__).parents[2] / "docs" / "datachat.md"
EXAMPLE = re.compile(r"```http\n(\w+) (\S+)\n(.*?)```\n\n```json\n(.*?)```", re.DOTALL)
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


def holds(answer: Any, shown: Any, known: dict[str, str], at: str = "answer") -> None:
    """Whether everything that is shown is in the answer. A name with a dollar stands for what it was the first time."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            holds(answer[name], value, known, f"{at}.{name}")
    elif isinstance(shown, list) and shown and isinstance(shown[0], dict):
        assert len(answer) == len(shown), at
        for number, each in enumerate(shown):
            holds(answer[number], each, known, f"{at}[{number}]")
    elif isinstance(shown, str) and shown.startswith("$"):
        assert known.setdefault(shown, answer) == answer, at
    else:
        assert answer == shown, at


async def run(program: str, engine: Engine) -> None:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    done = eval(compile(program, str(PAGE), "exec", flags=flags), {"engine": engine})  # our own page, as it stands
    if inspect.isawaitable(done):
        await done


async def examples(app: Served, text: str) -> int:
    known: dict[str, str] = {}
    found = EXAMPLE.findall(text)
    for method, path, body, shown in found:
        for name, value in known.items():
            body = body.replace(name, value)
        sent = {"json": json.loads(body)} if body.strip() else {}
        answer = await app.ana.request(method, path, **sent)
        assert answer.status_code == 200, answer.text
        holds(answer.json(), json.loads(shown), known)
    return len(found)


async def test_the_page_tells_what_happens(tmp_path: Path) -> None:
    text = PAGE.read_text()
    async with served(sqlite_home(tmp_path), data_url=sample_database(tmp_path)) as app:
        assert await examples(app, text) == 5
        (program,) = PROGRAM.findall(text)
        await run(program, app.engine)
