"""A chat model behind an OpenAI-compatible endpoint: OpenAI, Ollama, llama.cpp, vLLM, LiteLLM and the like.

Every call opens its own connection and closes it. An answer takes a model seconds and a connection milliseconds; in exchange a
chat serves every event loop and thread of a process, survives a fork, and a caller that goes away ends the model's work at once.

An attempt is repeated only as long as nothing of an answer has come: half an answer said twice is worse than an error.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx

from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable
from recollect.model import Completion, Piece, Usage, Utterance
from recollect.providers.address import full_address, shown
from recollect.providers.chat import wire
from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.refusals import RETRIED, harmless, retry_after, said

MOST_BYTES = 8 * 1024 * 1024
TELLING = 64 * 1024
"""Bytes read of a refusal."""
ATTEMPTS = 3


class CompatibleChat:
    def __init__(
        self, url: str, model: str, key: str | None = None, *, timeout_s: float = 60.0, first_wait_s: float = 0.5
    ) -> None:
        self.model = _named(model)
        self._url, host = _endpoint(url)
        self._where = f"the chat model's server at {host}"
        self._key = _sendable(key)
        self._patience = Patience(ATTEMPTS, timeout_s, first_wait_s=first_wait_s, longest_wait_s=10.0)
        self._level = 0
        self._closed = False
        # Reading the machine's certificates takes longer than connecting: once is enough, and for http not at all.
        secure = self._url.startswith("https:")
        self._tls = ssl.create_default_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._trusts_proxies = host.rsplit(":", 1)[0] not in {"localhost", "127.0.0.1", "[::1]"}

    async def complete(
        self,
        messages: Sequence[Utterance],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        while True:
            level = self._level
            request = wire.body(self.model, messages, schema=schema, level=wire.LEVELS[level], max_tokens=max_tokens)
            try:
                return wire.completion(await self._whole(request), self._where)
            except InvalidInput:
                # A server that knows no schemas calls the request bad; the model may still do as it is told in words.
                if schema is None or level + 1 == len(wire.LEVELS):
                    raise
                self._level = max(self._level, level + 1)

    async def stream(self, messages: Sequence[Utterance], *, max_tokens: int | None = None) -> AsyncIterator[Piece]:
        request = wire.body(self.model, messages, stream=True, max_tokens=max_tokens)
        async with self._asked(request) as response:
            pieces = self._pieces(response)
            async with aclosing(pieces):
                async for each in pieces:
                    yield each

    async def close(self) -> None:
        self._closed = True

    async def _whole(self, request: Mapping[str, Any]) -> bytes:
        async with self._asked(request) as response:
            content = bytearray()
            async for chunk in self._chunks(response):
                content += chunk
            return bytes(content)

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[Piece, None]:
        finish: str | None = None
        usage: Usage | None = None
        events = wire.Events(self._where)
        async for chunk in self._chunks(response):
            for data in events.feed(chunk):
                if data == wire.DONE:
                    yield Piece(usage=usage, finish=finish or "stop")
                    return
                piece = wire.piece(data, self._where)
                finish, usage = piece.finish or finish, piece.usage or usage
                if piece.text:
                    yield Piece(text=piece.text)
        if finish is None:
            raise Unavailable(f"{self._where} broke off in the middle of its answer")
        yield Piece(usage=usage, finish=finish)

    async def _chunks(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The body, as long as it keeps coming and doesn't grow beyond all bounds."""
        total, streaming = 0, response.headers.get("content-type", "").startswith("text/event-stream")
        end = time.monotonic() + self._patience.timeout_s
        try:
            async for chunk in response.aiter_bytes():
                total += len(chunk)
                if total > MOST_BYTES:
                    raise Unavailable(f"{self._where} answered with more than {MOST_BYTES} bytes")
                # A server that sends a byte now and then never trips httpx's own time-out.
                if time.monotonic() > end:
                    raise self._late()
                if streaming and b"data:" in chunk:
                    end = time.monotonic() + self._patience.timeout_s
                yield chunk
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError):
            raise Unavailable(f"{self._where} closed the connection in the middle of its answer") from None

    @asynccontextmanager
    async def _asked(self, request: Mapping[str, Any]) -> AsyncIterator[httpx.Response]:
        """An answer that has begun well. What stands in the way of that is tried again, or is an error."""
        if self._closed:
            raise Unavailable("the chat model is closed")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = self._patience.timeout_s
        async with httpx.AsyncClient(
            headers=headers, timeout=timeout, verify=self._tls, trust_env=self._trusts_proxies
        ) as client:
            response = await self._begun(client, request)
            try:
                yield response
            finally:
                await response.aclose()

    async def _begun(self, client: httpx.AsyncClient, request: Mapping[str, Any]) -> httpx.Response:
        attempt = 0
        while True:
            attempt += 1
            asked: float | None = None
            try:
                async with asyncio.timeout(self._patience.timeout_s):
                    response = await client.send(client.build_request("POST", self._url, json=request), stream=True)
                if response.status_code == 200:
                    return response
                problem = await self._refusal(response, request)
                asked = retry_after(response.headers.get("Retry-After"), time.time())
                await response.aclose()
                if response.status_code not in RETRIED:
                    raise problem
            except (TimeoutError, httpx.TimeoutException):
                problem = self._late()
            except (httpx.TransportError, httpx.DecodingError):
                # Their messages can quote a request, so only the fact is passed on.
                problem = Unavailable(f"{self._where} could not be reached or broke the connection")
            pause = self._patience.pause(attempt, asked)
            if pause is None:
                raise problem
            await asyncio.sleep(pause)

    async def _refusal(self, response: httpx.Response, request: Mapping[str, Any]) -> RecollectError:
        told = bytearray()
        async for chunk in response.aiter_bytes():
            told += chunk
            if len(told) > TELLING:
                break
        private = [each["content"] for each in request["messages"]] + ([self._key] if self._key else [])
        reason, status = harmless(said(bytes(told)), private), response.status_code
        words = f": {reason}" if reason else ""
        if status in {401, 403}:
            return NotAllowed(f"{self._where} refused the credentials (HTTP {status}); check the chat model's key")
        if status in RETRIED or status >= 500:
            return Unavailable(f"{self._where} failed (HTTP {status}){words}", http=status)
        if status == 404:
            return InvalidInput(f"{self._where} knows no such model or path (HTTP 404){words}", http=status)
        return InvalidInput(f"{self._where} refused the request (HTTP {status}){words}", http=status)

    def _late(self) -> Unavailable:
        return Unavailable(f"{self._where} did not answer within {self._patience.timeout_s:g} s")


def _endpoint(url: str) -> tuple[str, str]:
    """The address of `chat/completions`, and what may be shown of it."""
    address = full_address(url, "the chat model's URL", "http://localhost:11434/v1")
    path = address.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path = f"{path}/chat/completions" if path else "/v1/chat/completions"
    return str(address.copy_with(path=path)), shown(address)


def _named(model: str) -> str:
    if not model.strip():
        raise InvalidInput("a chat model needs a name: set RECOLLECT_CHAT_MODEL")
    return model.strip()


def _sendable(key: str | None) -> str | None:
    if key and (not (key.isascii() and key.isprintable()) or " " in key):
        raise InvalidInput("the chat model's key holds characters that cannot be sent; was it copied whole?")
    return key or None
