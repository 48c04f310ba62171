"""From an administrator's stored configuration to an embedder, in the order of precedence.

    1. the operator's llama.cpp server, if the settings name one and it answers;
    2. the stored configuration, if it is enabled;
    3. what the settings say: their endpoint, else the model that comes with Recollect.

A stored configuration that is not enabled means no embeddings at all. Settings that name a provider (or `off`) outright leave
nothing to choose, and a stored configuration then waits until they don't.

The decision is made when a process starts and when the configuration changes, not in between: a server that stumbles for a
minute must not have everything embedded anew by another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from recollect.errors import Unavailable
from recollect.model import ProviderConfig
from recollect.ports import Embedder
from recollect.providers.embedders import EmbedderConfig, choose

Origin = Literal["system", "configured", "settings", "local", "off"]
Choice = tuple[Embedder | None, Origin, bool]
"""The embedder, who decided so, and whether it is to push aside another one that serves."""
Opening = Callable[[EmbedderConfig], Awaitable[Embedder | None]]
TRIAL_SECONDS = 10.0
_HARMLESS = "dimensions"


class Configured:
    """`settings` is what the operator set; `opening` makes the embedder of a configuration ready for use."""

    def __init__(
        self,
        settings: EmbedderConfig,
        opening: Opening,
        insist: Callable[[Embedder | None], bool],
        *,
        trial_s: float = TRIAL_SECONDS,
    ) -> None:
        self._settings = settings
        self._trial_s = trial_s
        self._opening = opening
        self._insist = insist

    @property
    def pinned(self) -> str | None:
        return None if self._settings.provider == "auto" else self._settings.provider

    async def choose(self, stored: ProviderConfig | None) -> Choice:
        if stored is not None and not stored.enabled:
            return None, "off", True
        if stored is None:
            embedder = await self._opening(self._settings)
            return embedder, self.origin(embedder), self._insist(embedder)
        system = await self._system()
        return (system, "system", True) if system else (await self._opening(self._asked(stored)), "configured", True)

    async def attempt(self, config: ProviderConfig) -> None:
        """Embed one harmless word with it. Nothing that anyone stored is sent."""
        # Less than half of the time for each of two attempts, so that the reason can be told and not only the time.
        embedder = choose(replace(self._asked(config), timeout_s=0.4 * self._trial_s))
        assert embedder is not None
        try:
            async with asyncio.timeout(self._trial_s):
                await embedder.embed([_HARMLESS], query=True)
        except TimeoutError:
            raise Unavailable(f"the embedding server did not answer within {self._trial_s:g} s") from None
        finally:
            await embedder.close()

    async def _system(self) -> Embedder | None:
        if self._settings.llamacpp_url is None:
            return None
        found = await self._opening(replace(self._settings, endpoint_url=None))
        if found is not None and found.provider == "llamacpp":
            return found
        if found is not None:
            await found.close()
        return None

    def _asked(self, config: ProviderConfig) -> EmbedderConfig:
        return EmbedderConfig(
            provider=config.provider_type,
            endpoint_url=config.endpoint_url,
            model=config.model,
            api_key=config.api_key,
            dimensions=config.dimensions,
            timeout_s=self._settings.timeout_s,
            batch=self._settings.batch,
            models_dir=self._settings.models_dir,
        )

    def origin(self, embedder: Embedder | None) -> Origin:
        """Who decided, where only the settings did."""
        if embedder is None:
            return "off"
        if embedder.provider == "llamacpp" and self._settings.llamacpp_url is not None:
            return "system"
        return "local" if embedder.provider == "local" else "settings"
