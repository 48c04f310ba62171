"""The kit itself: an embedder that embeds, a wrapper that fails as told, a clock, probes that see."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from recollect.errors import Unavailable
from recollect.testing import FaultyEmbedder, HashEmbedder, ManualClock, files_containing
from recollect.testing.embedder import Fault
from tests.contract.samples import T0

TEXTS = [
    "I love green tea",
    "green teas are lovely",
    "the quarterly tax report",
    "我喜欢绿茶",
    "我很喜欢喝绿茶",
    "",
    "🍵 !",
]


async def test_hash_vectors_are_units_and_put_like_texts_together() -> None:
    vectors = await HashEmbedder(256).embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.dtype == np.dtype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.3 > likeness[0, 2]
    assert likeness[3, 4] > 0.2 > likeness[3, 2]
    assert (await HashEmbedder(8).embed([])).shape == (0, 8)


async def test_hash_vectors_are_the_same_in_every_process() -> None:
    script = (
        "import asyncio; from recollect.testing import HashEmbedder;"
        "print(asyncio.run(HashEmbedder(16).embed(['green tea 绿茶'])).tobytes().hex())"
    )
    other = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == (await HashEmbedder(16).embed(["green tea 绿茶"])).tobytes().hex()


async def test_a_faulty_embedder_fails_as_told_and_recovers() -> None:
    embedder = FaultyEmbedder(HashEmbedder(8), fail_with=Unavailable("down"))
    with pytest.raises(Unavailable, match="down"):
        await embedder.embed(["a"])
    embedder.fail_with = None
    np.testing.assert_array_equal(await embedder.embed(["a"]), await HashEmbedder(8).embed(["a"]))
    assert embedder.calls == 2
    assert (embedder.provider, embedder.model, embedder.dimensions) == ("hash", "hash-8", 8)


@pytest.mark.parametrize(("fault", "shape"), [("nan", (2, 8)), ("count", (1, 8)), ("dimension", (2, 7))])
async def test_a_faulty_embedder_spoils_answers(fault: Fault, shape: tuple[int, int]) -> None:
    vectors = await FaultyEmbedder(HashEmbedder(8), fault=fault).embed(["a", "b"])
    assert vectors.shape == shape
    assert np.isnan(vectors).all() == (fault == "nan")


async def test_a_faulty_embedder_can_be_slow() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(FaultyEmbedder(HashEmbedder(8), delay=30).embed(["a"]), 0.01)


def test_a_manual_clock_moves_only_forward_and_when_told() -> None:
    clock = ManualClock(T0)
    assert clock.now() == clock.now() == T0
    assert clock.advance(timedelta(minutes=1)) == clock.now() == T0 + timedelta(minutes=1)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(timedelta(seconds=-1))


def test_the_file_probe_sees_every_encoding_and_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name, content in {"a": "x茶Tea".encode(), "deep/b": "茶Tea".encode("utf-16-le"), "c": b"coffee"}.items():
        (tmp_path / name).write_bytes(b"\0\xff" + content)
    assert files_containing(tmp_path, "茶Tea") == [tmp_path / "a", tmp_path / "deep" / "b"]
    assert files_containing(tmp_path, "absent") == []
