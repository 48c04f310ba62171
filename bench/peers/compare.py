"""Side by side: the same texts, questions and vectors through Recollect and through its peers.

The local model embeds everything once, beforehand, and its time is told apart. Recollect is asked before the peers and again
after them, which shows how much of a difference is the machine's mood.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.changes import CHANGES, latest_first
from bench.ground import ANA, engine_over, fresh_store
from bench.known import UNANSWERED, Known, known
from bench.peers.child import left_behind
from bench.peers.install import PeerMissing, environment
from bench.report import Row, bar, ratio, summary
from bench.texts import notes as ordinary
from recollect import __version__
from recollect.bootstrap import embedder_config
from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding import embed
from recollect.model import Query
from recollect.ports import Embedder
from recollect.providers.embedders import choose
from recollect.settings import Settings

CHILD = Path(__file__).with_name("child.py")
ADDING_SECONDS = 600.0
FORGOTTEN = 20
Interpreter = Callable[[str], Path]
"""Where a peer's Python is."""
COLUMNS = {
    "what": "", "add_p50_ms": "add\np50", "search_p50_ms": "search\np50", "search_p95_ms": "search\np95",
    "add_ratio": "×\nadd", "search_ratio": "×\nsearch", "recall_at_10": "recall\n@10 %", "rare": "by\nword",
    "meaning": "by\nmeaning", "silent": "silent\n%", "latest": "latest\n%", "left_behind": "left\nbehind",
}  # fmt: skip


class Recorded:
    """A model that remembers every vector it made, and how long making them took."""

    def __init__(self, model: Embedder) -> None:
        self.provider, self.model, self.dimensions = model.provider, model.model, model.dimensions
        self._model = model
        self._known: dict[str, NDArray[np.float32]] = {}
        self.seconds = 0.0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            started = perf_counter()
            for begin in range(0, len(fresh), 64):
                part = fresh[begin : begin + 64]
                self._known.update(zip(part, await self._model.embed(part, query=query), strict=True))
            self.seconds += perf_counter() - started
        return np.stack([self._known[text] for text in texts])

    async def close(self) -> None:
        await self._model.close()


async def run(names: Sequence[str], size: int, count: int, interpreter: Interpreter = environment) -> list[Row]:
    """`count` bounds the questions; there are as many texts as `size`, the answers among them."""
    cases = known()[: min(count, size)]
    texts = _spread([case.fact for case in cases], size)
    async with fresh_store("sqlite") as (store, settings):
        model = _model(settings)
        with bar() as progress:
            task = progress.add_task(f"{size:,}: embedding", total=len(names) + 2)

            def now(what: str) -> None:
                progress.update(task, advance=1, description=f"{size:,}: {what}")

            vectors = await model.embed(texts)
            embed_ms = round(model.seconds / len(texts) * 1000, 2)
            changes = await model.embed([text for each in CHANGES for text in (each.before, each.since)])
            asked = await model.embed([*_questions(cases), *(each.question for each in CHANGES)], query=True)
            vectors = np.concatenate([vectors, asked[: -len(CHANGES)], _in_turn(changes, asked[-len(CHANGES) :])])
            now("recollect")
            engine = engine_over(store, model, EngineConfig())
            rows = [await _ours(engine, texts, cases) | {"embed_ms": embed_ms, "model": model.model}]
            with tempfile.TemporaryDirectory(prefix="recollect-peers-") as folder:
                _leave(Path(folder), texts, cases, vectors)
                for name in names:
                    now(name)
                    rows.append(_row(name, Path(folder), texts, cases, interpreter))
            again = await _asked(engine, texts, cases) | {"what": "recollect, asked again"}
            uncut = await _asked(engine, texts, cases, min_relevance=0.0) | {"what": "recollect, no cut"}
            rows[0] |= await _kept_right(engine, settings.data_dir, cases)
        await model.close()
    return _beside(rows[0], [*rows, again, uncut], size)


def _leave(folder: Path, texts: Sequence[str], cases: Sequence[Known], vectors: NDArray[np.float32]) -> None:
    np.save(folder / "vectors.npy", vectors)
    changes = [(each.before, each.since, each.question) for each in CHANGES]
    job = {"texts": texts, "questions": _questions(cases), "changes": changes, "forgotten": _forgotten(cases)}
    (folder / "job.json").write_text(json.dumps(job))


def _forgotten(cases: Sequence[Known]) -> list[str]:
    return [case.fact for case in cases[:FORGOTTEN]]


def _in_turn(told: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """Before, since, question; before, since, question: as the child reads them."""
    return np.concatenate([np.stack([told[::2], told[1::2], asked], axis=1).reshape(-1, told.shape[1])])


def _questions(cases: Sequence[Known]) -> list[str]:
    return [case.question for case in cases] + UNANSWERED


def _beside(ours: Row, rows: list[Row], size: int) -> list[Row]:
    for row in rows:
        row["size"] = size
        for what in ("add", "search"):
            if f"{what}_p50_ms" in row:
                row[f"{what}_ratio"] = ratio(row, ours, f"{what}_p50_ms")
    return rows


def said(rows: Sequence[Row]) -> str:
    ours = rows[0]
    notes = [f"{row['what']}: {row['note']}" for row in rows if "note" in row]
    about = (
        f"Milliseconds; × is a multiple of recollect's. Not included: embedding, {ours['embed_ms']} ms a text in batches "
        f"({ours['model']}). recollect's own call to add returns after {ours['ack_p50_ms']} ms (p50)."
    )
    return "\n".join([about, *notes])


def _model(settings: Settings) -> Recorded:
    chosen = choose(embedder_config(settings))
    assert chosen is not None
    return Recorded(chosen)


def _spread(facts: Sequence[str], size: int) -> list[str]:
    """The facts at even distances among ordinary notes."""
    texts = list(ordinary(size - len(facts), seed=5))
    step = max(1, size // len(facts))
    for number, fact in enumerate(facts):
        texts.insert(number * step, fact)
    return texts


async def _ours(engine: Engine, texts: Sequence[str], cases: Sequence[Known]) -> Row:
    """An addition counts until its vector is stored, as it does with the peers; the call itself returns before."""
    called, stored = [], []
    for text in texts:
        started = perf_counter()
        await engine.remember(ANA, {"content": text})
        called.append(perf_counter() - started)
        await embed.run_once(engine)
        stored.append(perf_counter() - started)
    return {
        "what": f"recollect {__version__} (sqlite)",
        **summary(stored, "add_"),
        "ack_p50_ms": summary(called)["p50_ms"],
        **await _asked(engine, texts, cases),
    }


async def _asked(
    engine: Engine, texts: Sequence[str], cases: Sequence[Known], min_relevance: float | None = None
) -> Row:
    """Every question once for what it finds and once more for the time it takes, as the peers are asked."""
    places = {text: number for number, text in enumerate(texts)}
    found, seconds = [], []
    for question in _questions(cases):
        recalled = await engine.recall(ANA, Query(text=question, limit=10, min_relevance=min_relevance))
        found.append([places[hit.content] for hit in recalled.hits])
    for question in _questions(cases):
        started = perf_counter()
        await engine.recall(ANA, Query(text=question, limit=10, min_relevance=min_relevance))
        seconds.append(perf_counter() - started)
    return {**summary(seconds, "search_"), **quality(found, texts, cases)}


async def _kept_right(engine: Engine, folder: Path, cases: Sequence[Known]) -> Row:
    """What is found of things that changed, and what is left in the files of what was forgotten."""
    for text in (text for each in CHANGES for text in (each.before, each.since)):
        await engine.remember(ANA, {"content": text})
        await embed.run_once(engine)
    found = [
        [hit.content for hit in (await engine.recall(ANA, Query(text=each.question, limit=10))).hits]
        for each in CHANGES
    ]
    for text in _forgotten(cases):
        hits = (await engine.recall(ANA, Query(text=text, limit=10, min_relevance=0.0))).hits
        await engine.forget(ANA, [hit.memory.id for hit in hits if hit.memory and hit.content == text])
    return {"latest": _latest(found), "left_behind": await asyncio.to_thread(left_behind, folder, _forgotten(cases))}


def _latest(found: Sequence[list[str]]) -> float:
    return _percent([latest_first(each, change) for each, change in zip(found, CHANGES, strict=True)])


def _row(name: str, folder: Path, texts: Sequence[str], cases: Sequence[Known], interpreter: Interpreter) -> Row:
    """A peer's figures, or why there are none."""
    try:
        figures = _figures(name, folder, interpreter)
    except PeerMissing as reason:
        return {"what": name, "note": f"not measured: {reason}", "failed": True}
    missed = figures["missed"]
    return {
        "what": figures["what"],
        **summary(figures["add_s"], "add_"),
        **summary(figures["search_s"], "search_"),
        **quality(figures["found"], texts, cases),
        "latest": _latest(figures["changed"]),
        "left_behind": figures["left_behind"],
        **({"note": f"{missed} texts of its own had no vector"} if missed else {}),
    }


def _figures(name: str, folder: Path, interpreter: Interpreter) -> dict[str, Any]:
    command = [str(interpreter(name)), str(CHILD), name, str(folder), str(ADDING_SECONDS)]
    try:
        done = subprocess.run(
            command, env=_quiet(folder), cwd=folder, capture_output=True, text=True, timeout=2 * ADDING_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise PeerMissing(f"no end after {2 * ADDING_SECONDS:.0f} s") from None
    if done.returncode:
        raise PeerMissing((done.stderr.strip().splitlines() or ["no reason given"])[-1][:200])
    figures: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return figures


def _quiet(folder: Path) -> dict[str, str]:
    """A home of its own, one thread of arithmetic, and no telemetry."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")}
    off = ("MEM0_TELEMETRY", "ANONYMIZED_TELEMETRY", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING")
    one = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        **kept,
        **dict.fromkeys(off, "False"),
        **dict.fromkeys(one, "1"),
        "DO_NOT_TRACK": "1",
        "HOME": str(folder),
        "MEM0_DIR": str(folder / "mem0"),
    }


def quality(found: Sequence[Sequence[int]], texts: Sequence[str], cases: Sequence[Known]) -> Row:
    """Of a hundred questions, how many have their answer among the first ten found, all and by kind and language; and how many
    of those without an answer (they come after the cases) got none."""
    hits = [case.fact in [texts[place] for place in places[:10]] for places, case in zip(found, cases, strict=False)]
    unanswered = found[len(cases) :]

    def share(kind: str | None = None) -> float:
        counted = [hit for hit, case in zip(hits, cases, strict=True) if kind in (None, case.by, case.language)]
        return _percent(counted)

    return {
        "recall_at_10": share(),
        "rare": share("word"),
        "meaning": share("meaning"),
        "en": share("en"),
        "zh": share("zh"),
        "silent": _percent([not places for places in unanswered]),
    }


def _percent(counted: Sequence[bool]) -> float:
    return round(100 * sum(counted) / len(counted), 1) if counted else 0.0
