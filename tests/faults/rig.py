"""One running memory with a proxy before everything it depends on, and a ledger of what was acknowledged."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import redis

from recollect.bootstrap import Running, open_engine
from recollect.errors import Broken, RecollectError, Unavailable
from recollect.model import Query, Scope
from recollect.settings import Settings
from recollect.worker.tasks import QUEUE
from tests.api.homes import Home
from tests.providers.chat_wire import ChatServer
from tests.providers.wire import SIZE, EmbeddingServer
from tests.services.proxy import Proxy, proxied
from tests.services.valkey import ValkeyServer

PATIENCE_SECONDS = 60.0
"""How long anything may take on a busy machine; a fault that is waited for takes longer."""
ANA = Scope("default", "ana")


@dataclass
class Rig:
    """`proxies` by component: postgres, redis, broker, embedder, model."""

    home: Home
    proxies: dict[str, Proxy]
    settings: Settings
    valkey: ValkeyServer
    running: Running | None = None
    acknowledged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Of these it was said that nobody knows."""
    refused: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    _count: int = 0

    @property
    def engine(self) -> Any:
        assert self.running is not None
        return self.running.engine

    async def open(self) -> None:
        self.running = await open_engine(self.settings)

    async def remember(self) -> RecollectError | None:
        """Write something new and note what was promised of it; the error, if there was one."""
        self._count += 1
        text = f"word{self._count} is what number {self._count} is called"
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.engine.remember(ANA, {"content": text})
        except (Unavailable, Broken) as problem:
            (self.unknown if problem.details.get("outcome") == "unknown" else self.refused).append(text)
            return problem
        self.acknowledged.append(text)
        return None

    async def finds(self) -> bool:
        """Whether the last acknowledged text is found by its word."""
        text = self.acknowledged[-1]
        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await self.engine.recall_softly(ANA, Query(text=text.split()[0]))
        return text in {hit.content for hit in found}

    async def talks(self) -> bool:
        """A turn of a chat; whether it was answered whole. What the user said is stored in any case."""
        self._count += 1
        said = f"This is message {self._count}, and it asks nothing"
        async with asyncio.timeout(PATIENCE_SECONDS):
            reply = await (await self.engine.converse(ANA, said, session_id="s")).whole()
        self.messages.append(said)
        return reply.failed is None and reply.done is not None and not reply.done.partial

    def embedded(self) -> bool:
        return not self.home.count("SELECT count(*) FROM embeddings WHERE state <> 'ready'")

    async def shares(self) -> bool:
        """Whether the shared cache keeps what it is given."""
        await self.engine.cache.set("probe", b"1", 60)
        return bool(await self.engine.cache.get("probe") == b"1")

    def woken(self) -> int:
        with redis.Redis.from_url(self.valkey.url) as broker:
            return int(broker.llen(QUEUE))

    def assert_kept(self) -> None:
        """Acknowledged: once. Refused: never. Of what nobody knows: at most once."""
        stored = Counter(text for (text,) in self.home.rows("SELECT content FROM memories"))
        assert {text: stored[text] for text in self.acknowledged} == dict.fromkeys(self.acknowledged, 1)
        assert not [text for text in self.refused if text in stored]
        assert not [text for text in self.unknown if stored[text] > 1]
        assert set(stored) <= {*self.acknowledged, *self.unknown}
        said = Counter(text for (text,) in self.home.rows("SELECT content FROM messages WHERE role = 'user'"))
        assert said == Counter(self.messages)

    async def close(self) -> None:
        if self.running is not None:
            await self.running.close()
            self.running = None


async def until(what: str, condition: Callable[[], Any]) -> None:
    """Wait for a condition, which may have to be awaited."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        met = condition()
        if await met if asyncio.iscoroutine(met) else met:
            return
        assert asyncio.get_running_loop().time() < deadline, f"waited in vain: {what}"
        await asyncio.sleep(0.05)


@asynccontextmanager
async def rigged(home: Home, component: str, valkey: ValkeyServer) -> AsyncIterator[Rig]:
    """Not opened yet, so that something may be down before."""
    with ExitStack() as held:
        embedder = held.enter_context(EmbeddingServer().running())
        model = held.enter_context(ChatServer().running())
        ports = {
            "redis": valkey.port,
            "broker": valkey.port,
            "embedder": _port(embedder.url),
            "model": _port(model.url),
        }
        if home.kind == "postgres":
            ports["postgres"] = _port(home.url)
        proxies = {name: held.enter_context(proxied(port)) for name, port in ports.items()}
        rig = Rig(home, proxies, _settings(home, component, proxies), valkey)
        try:
            yield rig
        finally:
            for proxy in proxies.values():
                proxy.heal()
            await rig.close()


def _settings(home: Home, component: str, proxies: dict[str, Proxy]) -> Settings:
    at = {name: f"127.0.0.1:{proxy.port}" for name, proxy in proxies.items()}
    chosen: dict[str, Any] = {
        "store": re.sub(r"127\.0\.0\.1:\d+", at["postgres"], home.url) if home.kind == "postgres" else home.url,
        "data_dir": home.folder / "data",
        "embedder": "openai",
        "embedder_url": f"http://{at['embedder']}/v1",
        "embedder_model": "m",
        "embedder_dimensions": SIZE,
        "embedder_timeout_s": 1,
        "pool_size": 3,
        "rate_limit": 1000,
    }
    if component == "postgres":
        chosen["worker"] = False  # so that it is our own request that is cut off
    if component == "redis":
        chosen["redis_url"] = f"redis://{at['redis']}/0"
    if component == "broker":
        chosen |= {"broker_url": f"redis://{at['broker']}/0", "worker": False}
    if component == "model":
        chosen |= {"chat_url": f"http://{at['model']}/v1", "chat_model": "m", "chat_timeout_s": 2}
    return Settings.load({}, **chosen)


def _port(url: str) -> int:
    (found,) = re.findall(r"127\.0\.0\.1:(\d+)", url)
    return int(found)
