"""Embeddings from a server: OpenAI-compatible, Ollama, llama.cpp or any other that takes texts and
returns vectors.

What differs between servers is in `wires`. What they share is here: batches and long texts cut to size,
failures told apart (try again, give up, fix the configuration), and every vector checked before anyone
sees it.

    429, 5xx, time-outs, lost connections    tried again with growing pauses, then `Unavailable`
    401, 403                                 `NotAllowed`: the key
    other refusals                           `InvalidInput`: the model, the URL or the request
    an answer that is not what was asked     `Unavailable`, saying what is wrong with it
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput, Unavailable
from recollect.providers.embedders.checked import checked
from recollect.providers.embedders.patience import Patience, background, interactive
from recollect.providers.embedders.prompts import prompt
from recollect.providers.embedders.refusals import harmless, refused, said, too_long
from recollect.providers.embedders.sizing import batches, head, sendable, size
from recollect.providers.embedders.transport import Answer, Transport
from recollect.providers.embedders.wires import DIMENSIONS, Wire, vectors_in

_PROBE = "dimensions"
_WIDEST = 16_384
_NUMBER_BYTES = 32
_SHORTEST = 200
THREADS = 16


class HttpEmbedder:
    """An `Embedder` behind HTTP. Usable from any thread and any event loop."""

    def __init__(
        self,
        wire: Wire,
        *,
        url: str | None = None,
        model: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch: int | None = None,
        timeout_s: float = 30.0,
        patience: Patience | None = None,
        query_patience: Patience | None = None,
    ) -> None:
        base = url or wire.url
        if base is None:
            raise InvalidInput(f"the {wire.provider} embedder needs `endpoint_url` (RECOLLECT_EMBEDDER_URL)")
        if url is None and wire.keyed and not api_key:
            raise InvalidInput(
                f"the {wire.provider} embedder needs `api_key` (RECOLLECT_EMBEDDER_KEY), or the `endpoint_url` "
                "(RECOLLECT_EMBEDDER_URL) of a server without"
            )
        self._wire = wire
        self._base = base
        self._asked_model = model or wire.model
        self._asked_dimensions = dimensions
        self._batch = batch or wire.batch
        self._patience = patience or background(timeout_s)
        self._query_patience = query_patience or interactive(timeout_s)
        self._transport = Transport(base, api_key)
        self._private = (api_key,) if api_key else ()
        self._paths = wire.paths
        self._lock = threading.Lock()
        # Not those that everybody shares: a server that hangs would hold up logins and whatever else needs one.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-embedder")
        self._dimensions = dimensions or DIMENSIONS.get(self._asked_model or "")
        self._model = self._asked_model

    @property
    def provider(self) -> str:
        return self._wire.provider

    @property
    def model(self) -> str:
        """The configured name, else the one the server gives, which may take a call as `dimensions` does."""
        if self._model is None:
            self.probe()
        return self._model or self.provider

    @property
    def dimensions(self) -> int:
        """Configured, published or learned from the first answer; asking before that is a blocking call."""
        return self._dimensions or self.probe()

    def probe(self, timeout_s: float | None = None) -> int:
        """Embed one word in this thread: learns the model's name and dimensions, raises as `embed` would."""
        patience = self._query_patience if timeout_s is None else Patience(attempts=1, timeout_s=timeout_s)
        return int(self._embed_run([_PROBE], patience).shape[1])

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self._dimensions or 0), dtype=np.float32)
        try:
            asked = self._threads.submit(self._embed_all, texts, query)
        except RuntimeError:
            raise Unavailable("this embedder was closed") from None
        return await asyncio.wrap_future(asked)

    async def close(self) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """What `close` does, for callers without an event loop."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._transport.close()

    def _embed_all(self, texts: Sequence[str], query: bool) -> NDArray[np.float32]:
        patience = self._query_patience if query else self._patience
        before = prompt(self.model, query=query)
        ready = [before + head(sendable(text), self._wire.text_bytes) for text in texts]
        runs = batches(ready, self._batch, self._wire.request_bytes)
        return np.concatenate([self._embed_run(run, patience) for run in runs])

    def _embed_run(self, texts: Sequence[str], patience: Patience) -> NDArray[np.float32]:
        answer = self._ask(texts, patience)
        # How long a text may be is rarely published, so the server's refusal is what tells.
        while too_long(answer.status, said(answer.body)):
            longest = max(map(size, texts))
            if longest <= _SHORTEST:
                break
            texts = [head(text, longest // 2) for text in texts]
            answer = self._ask(texts, patience)
        if not 200 <= answer.status < 300:
            reason = harmless(said(answer.body), (*self._private, *texts))
            raise refused(answer.status, reason, self._transport.where)
        return self._read(answer.body, len(texts))

    def _ask(self, texts: Sequence[str], patience: Patience) -> Answer:
        most_bytes = 65_536 + len(texts) * (self._dimensions or _WIDEST) * _NUMBER_BYTES
        for path in self._paths:
            body = self._wire.body(path, texts, self._asked_model, self._asked_dimensions)
            answer = self._transport.post(self._wire.endpoint(self._base, path), body, patience, most_bytes)
            if answer.status not in {404, 405}:
                self._paths = (path,)
                break
        return answer

    def _read(self, body: bytes, count: int) -> NDArray[np.float32]:
        try:
            answer: Any = json.loads(body)
        except (ValueError, RecursionError):
            raise Unavailable(f"{self._transport.where} answered with something that is not JSON") from None
        with self._lock:
            vectors = checked(vectors_in(answer), count, self._dimensions)
            self._dimensions = vectors.shape[1]
            if self._model is None:
                named = answer.get("model") if isinstance(answer, dict) else None
                # llama.cpp may give the path of the weights file.
                self._model = named.rsplit("/", 1)[-1] if isinstance(named, str) and named else self.provider
        return vectors
