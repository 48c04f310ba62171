"""`python -m bench write|recall`: run a benchmark, print its table, keep it as JSON."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

# One thread of arithmetic: what one request costs, undisturbed by how many cores happen to be idle.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from bench import recall, write  # noqa: E402
from bench.report import publish  # noqa: E402


def _sizes(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("bench", choices=["write", "recall"])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--count", type=int, default=500, help="how many operations are timed")
    parser.add_argument("--existing", type=_sizes, default=[0, 10_000], help="write: how much is stored before")
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000], help="recall: how much is searched")
    parser.add_argument("--recipes", type=lambda text: text.split(","), default=["native", "recall"])
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    return parser.parse_args()


def main() -> None:
    asked = _arguments()
    if asked.bench == "write":
        rows = asyncio.run(write.run(asked.store, asked.count, asked.existing))
    else:
        rows = asyncio.run(recall.run(asked.store, asked.count, asked.sizes, asked.recipes))
    publish(asked.bench, rows, asked.json, store=asked.store)


if __name__ == "__main__":
    main()
