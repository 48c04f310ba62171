"""Questions over a database that lean on each other, asked of a server: "What about 2023?" means something, because it remembers.

    python -m examples.data_chat

Needs `pip install ".[server,data]"`. It starts a server over the sample database, which comes with the package, and ends
it again; `RECOLLECT_DATA_URL=sqlite:///shop.db recollect serve` would be one over your own. Without a chat model, rules adapt the
query before.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import httpx

QUESTIONS = ("Show me total sales by region for 2024", "What about 2023?", "only the top 2")


@contextmanager
def server(folder: str) -> Iterator[str]:
    """The address of a server that has a memory and a database in `folder`."""
    settings = {"RECOLLECT_DATA_DIR": folder, "RECOLLECT_DATA_URL": "sample", "RECOLLECT_EMBEDDER": "off"}
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0"]
    process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = next((line for line in process.stderr if "Recollect is at" in line), "")
        yield re.findall(r"http://\S+", said)[0]
    finally:
        process.terminate()
        process.communicate()


def main() -> None:
    with TemporaryDirectory() as folder, server(folder) as address:
        session = None
        for question in QUESTIONS:
            asked = {"question": question, "session_id": session}
            reply = httpx.post(f"{address}memoryChat", json=asked, timeout=60).raise_for_status().json()
            session = reply["conversation_metadata"]["conversation_id"]
            print(f"\n› {question}\n{reply['answer']}")
        print(f"\nthe last query: {reply['sql_query']}")


if __name__ == "__main__":
    main()
