"""Moving in from mem0: what its `get_all()` returns becomes memories, with their times, tags and owners, as often as you like.

    python -m examples.from_mem0

mem0 itself is not needed here. From a program that has it, the file is one line:

    json.dump(Memory().get_all(filters={"user_id": "ana"}), open("mem0.json", "w"))

`recollect import --from` knows chroma, langgraph, chatgpt and claude as well: docs/moving.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect import Memory

EXPORTED = {
    "results": [
        {
            "id": "6f2c",
            "memory": "Prefers window seats on trains",
            "user_id": "ana",
            "categories": ["travel"],
            "created_at": "2025-03-01T08:00:00Z",
        },
        {"id": "9b41", "memory": "喜欢安静的咖啡馆", "user_id": "ana", "created_at": "2025-04-12T19:30:00Z"},
        {
            "id": "a07d",
            "memory": "Sings in a choir on Thursdays",
            "user_id": "ben",
            "created_at": "2025-05-20T07:15:00Z",
        },
    ]
}


def recollect(*words: str) -> None:
    print(f"\n$ recollect {' '.join(words[:-2])}", flush=True)
    subprocess.run([sys.executable, "-m", "recollect", *words], check=True)


def main() -> None:
    with TemporaryDirectory() as folder:
        file, store = Path(folder) / "mem0.json", str(Path(folder) / "recollect.db")
        file.write_text(json.dumps(EXPORTED), encoding="utf-8")
        recollect("import", "--from", "mem0", str(file), "--all-users", "--dry-run", "--store", store)
        recollect("import", "--from", "mem0", str(file), "--all-users", "--no-wait", "--store", store)
        with Memory(store, user="ana", embedder="off") as memory:
            for each in memory.list():
                print(f"ana: {each.created_at:%Y-%m-%d} {each.content} {list(each.tags)}")
            print("asked:", memory.search("window seats or aisle?").hits[0].content)


if __name__ == "__main__":
    main()
