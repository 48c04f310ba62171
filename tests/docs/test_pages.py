"""Every block of every page does what the page says, but for the few that cannot be run here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.conftest import Stage
from tests.docs.matching import holds, mentions, says
from tests.docs.pages import ROOT, Written, with_blocks

PAGES = with_blocks()
NOT_RUN = {
    "README.md": ["the first goes on until it is stopped, the second is what runs this"],
    "docs/benchmarks.md": ["hours of measuring"],
    "docs/datachat.md": ["each goes on until it is stopped"],
    "docs/deployment.md": ["it needs Docker", "it installs a service of the system"],
    "docs/embeddings.md": ["other servers and a key"],
    "docs/evaluation.md": ["it measures for an hour, on sets that are not part of the project"],
    "docs/moving.md": ["it needs a Postgres server"],
    "docs/quickstart.md": [
        "it installs packages, and goes on until it is stopped",
        "the tests have them on the path already",
    ],
    "docs/rest.md": ["a server with a login"],
    "docs/server.md": ["it goes on until it is stopped, and the second needs a database"],
    "examples/README.md": ["the tests run every example by itself"],
}
"""The blocks that are only parsed, and why. The list may only shrink."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path))
def test_a_page_does_what_it_says(page: Written, stage: Stage, tmp_path: Path) -> None:
    done = stage.run(ROOT / page.path, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    marked = {str(page.path): [block.not_run for block in page.blocks if block.not_run] for page in PAGES}
    assert {page: reasons for page, reasons in marked.items() if reasons} == NOT_RUN


def test_the_configuration_for_desktop_clients_is_the_example() -> None:
    first = next(
        block for page in PAGES if "mcpServers" in page.text for block in page.blocks if block.language == "json"
    )
    assert json.loads(first.code) == json.loads((ROOT / "examples" / "mcp_config.json").read_text())


GOOD = """
```python
name = "Miso"
import os, asyncio
await asyncio.sleep(0)
```

Between them.

```python
print(f"the cat is {name}")
```

```text
the cat is …
```

```pycon
>>> name
'Miso'
```

<!-- file: note.json -->
```json
{"a": 1}
```

```sh
cat note.json
echo http://127.0.0.1:8377/
curl -s http://127.0.0.1:8377/healthz
```

```text
{"a": 1}
http://127.0.0.1:8377/
{…}
```

```http
POST /v1/memories
{"text": "The cat is called Miso"}
```

```json
{"outcome": "stored", "id": "$id"}
```

```http
GET /v1/memories
```

```json
{"items": [{"id": "$id", "text": "The cat is called Miso"}]}
```

```console
$ recollect search "what is the cat called?"
The cat is … Miso
$ false   # exit code 1
```
"""
BAD = {
    "a block that raises": "```python\n1 / 0\n```\n",
    "a block that isn't Python": "```python\nprint('\n```\n",
    "another output": "```python\nprint(1)\n```\n\n```text\n2\n```\n",
    "more output": "```sh\necho 1\necho 2\n```\n\n```text\n1\n```\n",
    "a command that fails": "```sh\nfalse\ntrue\n```\n",
    "a command that isn't there": "```sh\nrecollect recolect\n```\n",
    "a command that succeeds": "```console\n$ true   # exit code 1\n```\n",
    "something else on the console": "```console\n$ echo a\nb\n```\n",
    "an answer that is missing": '```http\nGET /v1/memories\n```\n\n```json\n{"total": 7}\n```\n',
    "a request that is refused": "```http\nGET /v1/nowhere\n```\n",
    "an answer of Python that isn't": "```pycon\n>>> 1 + 1\n3\n```\n",
    "what isn't JSON": "```json\n{'a': 1}\n```\n",
    "what isn't YAML": "```yaml\na: [\n```\n",
    "what isn't TOML": "```toml\na = \n```\n",
    "what isn't a file of settings": "```ini\na = 1\n```\n",
    "a language nobody knows": "```cobol\nSTOP RUN.\n```\n",
    "a block without a language": "```\nx\n```\n",
    "what is wrong and not run": "<!-- not run: a key -->\n```sh\nif then\n```\n",
    "somebody else's host": "```sh\ncurl -sf http://example.com/\n```\n",
}


def test_a_good_page_passes(stage: Stage, tmp_path: Path) -> None:
    page = tmp_path / "good.md"
    page.write_text(GOOD)
    done = stage.run(page, tmp_path / "home")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_bad_page_is_seen(text: str, stage: Stage, tmp_path: Path) -> None:
    page = tmp_path / "bad.md"
    page.write_text(f"# A page\n\n```sh\necho fine\n```\n\n{text}")
    done = stage.run(page, tmp_path / "home")
    assert done.returncode == 1
    assert f"{page}:8: the" in done.stderr or f"{page}:9: the" in done.stderr, done.stderr


def test_what_is_shown_is_compared_word_for_word() -> None:
    assert says("stored as 12\n", "stored as …")
    assert says("a\nb\nc", "a\n…c")
    assert not says("stored as 12, and more", "stored as 12")
    assert not says("a.c", "abc")
    assert mentions("0.9  the   cat\nis here", "the cat is …e")
    assert not mentions("the cat", "the dog")


def test_an_answer_may_hold_more_than_is_shown() -> None:
    assert holds({"a": [{"b": 1, "c": 2}], "d": 3}, {"a": [{"b": 1}]}, {})
    assert not holds({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}]}, {})
    assert not holds({"a": 1}, {"b": 1}, {})
    known = {"$id": "7"}
    assert not holds({"id": "8"}, {"id": "$id"}, known)
