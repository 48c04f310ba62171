"""What a golden run stands on: a fresh store of either kind, the real embedder, and, when asked for, a part that is down.

Outages go in through the seams that real ones use. `dense`: everything is stored and embedded, then the model stops answering.
`lexical`: the SQLite file is opened without its full-text index and ranked through the database, which leaves LIKE.
`redis`: the shared cache is at an address where nobody answers. `recall`: the store keeps what it is given and finds nothing,
because reading its index fails.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from eval.sets import OnceEmbedder
from recollect.bootstrap import embedder_config, engine_over, open_embedder, open_store, sqlite_path
from recollect.engine import Engine
from recollect.errors import Unavailable, Unsupported
from recollect.model import Scope
from recollect.ports import Embedder, Store, Tx
from recollect.providers.caches import open_cache
from recollect.settings import Settings
from recollect.stores.sqlite import SqliteStore
from recollect.testing.embedder import FaultyEmbedder

T = TypeVar("T")
StoreKind = Literal["sqlite", "postgres"]
Outage = Literal["dense", "lexical", "redis", "recall"]
NOBODY_THERE = "redis://127.0.0.1:1/0"


class Unreadable:
    """A transaction in which everything can be read but the index of what there is to find."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def __getattr__(self, name: str) -> Any:
        if name == "index":
            raise Unavailable("the index can't be read (simulated)")
        return getattr(self._tx, name)


class FaultyStore:
    """Another store, whose index can't be read while `unreadable`."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.unreadable = False

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        if not self.unreadable:
            return await self._inner.read(scope, work)
        return await self._inner.read(scope, lambda tx: work(cast("Tx", Unreadable(tx))))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@dataclass
class Ground:
    engine: Engine
    model: FaultyEmbedder | None
    outage: Outage | None
    store: FaultyStore

    @property
    def embedder(self) -> str:
        return "off" if self.model is None else f"{self.model.provider}:{self.model.model}:{self.model.dimensions}"

    def break_down(self) -> None:
        """Let the outage begin."""
        if self.outage == "dense" and self.model is not None:
            self.model.fail_with = Unavailable("the model is down (simulated)")
        self.store.unreadable = self.outage == "recall"


@asynccontextmanager
async def opened(
    kind: StoreKind, outage: Outage | None = None, embedder: Embedder | None = None, **overrides: Any
) -> AsyncIterator[Ground]:
    """`embedder` replaces the configured one; `overrides` are settings."""
    _refuse(kind, outage)
    with tempfile.TemporaryDirectory(prefix="recollect-eval-", ignore_cleanup_errors=True) as folder:
        # Some of what is to be found are door codes and passwords: here they are found, elsewhere they are masked.
        where: dict[str, Any] = {"store": "postgres" if kind == "postgres" else "", "data_dir": Path(folder)}
        settings = Settings.load(**where, **{"secrets": "keep", **overrides})
        if outage == "lexical":
            settings = replace(settings, exact_below=0)
        cache = open_cache(NOBODY_THERE) if outage == "redis" else None
        chosen = embedder or await open_embedder(embedder_config(settings), cache)
        model = None if chosen is None else FaultyEmbedder(OnceEmbedder(chosen))
        store = FaultyStore(await _store(settings, outage))
        engine = engine_over(cast("Store", store), model, settings, cache)
        try:
            yield Ground(engine, model, outage, store)
        finally:
            await engine.close()


def _refuse(kind: StoreKind, outage: Outage | None) -> None:
    if outage == "lexical" and kind == "postgres":
        raise Unsupported("Postgres always has full text; try --outage lexical with --store sqlite")


async def _store(settings: Settings, outage: Outage | None) -> Store:
    path = sqlite_path(settings)
    if outage == "lexical" and path is not None:
        return await SqliteStore.open(path, full_text=False)
    return await open_store(settings)
