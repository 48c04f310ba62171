"""Makes the bridge (`recollect.policy.native_bridge`) of the local pair of models from sentences of our own.

    python -m eval.bridge              # how far it carries on themes it was not made of
    python -m eval.bridge --write      # the same, and the map itself anew

`implied_tastes.txt` and `implied_tales.txt` hold what somebody told, and under it questions or remarks on which it bears
without sharing their words. A ridge regression leads each question from where it lies to what was told. No sentence of a set
that the ranking is measured on has a part in it; how strong the ridge is was also looked at there (`docs/evaluation.md`).
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.bootstrap import embedder_config, open_embedder
from recollect.engine.recalling import bridges
from recollect.policy.question import prepare
from recollect.settings import Settings

Matrix = NDArray[np.float64]
HERE = Path(__file__).parent
SOURCES = ("implied_tastes.txt", "implied_tales.txt")
RIDGE = 3.0
RANK = 128
FOLDS = 3


class Pairs(NamedTuple):
    """Questions as they lie beside the average of what was told, what was told, and which belongs to which."""

    asked: Matrix
    told: Matrix
    of: NDArray[np.int64]


def read(path: Path) -> dict[str, list[str]]:
    """What was told, with what it bears on."""
    found: dict[str, list[str]] = {}
    told = ""
    for line in filter(None, path.read_text(encoding="utf-8").splitlines()):
        if line.startswith("- "):
            found[told].append(line[2:])
        else:
            told = line
            found[told] = []
    return found


async def pairs(embedder: Any, sentences: dict[str, list[str]]) -> Pairs:
    told = _units(await embedder.embed(list(sentences)))
    centre = told.mean(axis=0)
    texts = [(prepare(question).texts, number) for number, each in enumerate(sentences.values()) for question in each]
    views = iter(_units(await embedder.embed([text for views, _ in texts for text in views], query=True)))
    asked = [_units(np.mean([next(views) for _ in each], axis=0)) - centre for each, _ in texts]
    return Pairs(_units(np.array(asked)), _units(told - centre), np.array([number for _, number in texts]))


def fitted(asked: Matrix, told: Matrix, ridge: float = RIDGE) -> Matrix:
    """The map that leads `asked` to `told`, kept small: where nothing is known, a question stays where it is."""
    inner = asked @ asked.T + ridge * np.eye(len(asked))
    found: Matrix = asked.T @ np.linalg.solve(inner, told - asked)
    return found


def carried(sources: Sequence[Pairs], ridge: float) -> tuple[float, float]:
    """The mean reciprocal rank of what bears on a question, among what no map was made of: without a map and with one."""
    before: list[float] = []
    after: list[float] = []
    for fold in range(FOLDS):
        learnt = [source.of % FOLDS != fold for source in sources]
        move = fitted(
            np.concatenate([s.asked[kept] for s, kept in zip(sources, learnt, strict=True)]),
            np.concatenate([s.told[s.of[kept]] for s, kept in zip(sources, learnt, strict=True)]),
            ridge,
        )
        for source, kept in zip(sources, learnt, strict=True):
            before += _ranks(source, source.asked, ~kept, fold)
            after += _ranks(source, source.asked + source.asked @ move, ~kept, fold)
    return float(np.mean(before)), float(np.mean(after))


def _ranks(source: Pairs, asked: Matrix, rows: NDArray[np.bool_], fold: int) -> list[float]:
    near = asked[rows] @ source.told.T
    near[:, np.arange(len(source.told)) % FOLDS != fold] = -np.inf
    right = near[np.arange(len(near)), source.of[rows]]
    return list(1 / (1 + (near > right[:, None]).sum(axis=1)))


def _units(vectors: Any) -> Matrix:
    found = np.asarray(vectors, np.float64)
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


async def main(write: bool) -> None:
    embedder = await open_embedder(embedder_config(Settings.load()))
    if embedder is None or not embedder.model.startswith(bridges.MADE_FOR):
        raise SystemExit("the bridge is made for the local pair of models, which is not what embeds here")
    sources = [await pairs(embedder, read(HERE / name)) for name in SOURCES]
    await embedder.close()
    print(f"{sum(len(s.of) for s in sources)} pairs of {sum(len(s.told) for s in sources)} sentences told")
    for ridge in (1.0, RIDGE, 10.0):
        print("ridge {:4.1f}: mean reciprocal rank {:.3f} without, {:.3f} with".format(ridge, *carried(sources, ridge)))
    if write:
        move = fitted(np.concatenate([s.asked for s in sources]), np.concatenate([s.told[s.of] for s in sources]))
        _, directions = np.linalg.eigh(move @ move.T)
        into = directions[:, ::-1][:, :RANK]
        place = Path(str(files(bridges.__package__).joinpath("implied.npz")))
        np.savez(place, into=into.astype(np.float16), out=(into.T @ move).astype(np.float16))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="makes the bridge of the local models from sentences of our own")
    parser.add_argument("--write", action="store_true", help="replace the map that ships")
    asyncio.run(main(parser.parse_args().write))
