"""A memory in three lines: remember something, and find it by what it means.

    python -m examples.three_lines

Needs nothing but `pip install .`. Question and answer share hardly a word: the model that knows what they have to do
with each other comes with the package. `Memory()` would keep it in `~/.recollect`; this one is gone when the program ends.
"""

from __future__ import annotations

from recollect import Memory


def main() -> None:
    with Memory("memory://") as memory:
        memory.add("I prefer uv over pip for Python projects", type="preference")
        print(memory.search("Which package manager should I use?").hits[0].content)


if __name__ == "__main__":
    main()
