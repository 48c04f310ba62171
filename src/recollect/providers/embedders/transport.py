"""One POST to a server that may be slow, broken or hostile: bounded in time, in size and in repetitions.

The client is httpx's synchronous one, and callers run it on a thread. An asynchronous client belongs to
the event loop that opened its connections; this one serves the threads and loops of a whole process, and
closing it needs no loop at all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.providers.address import full_address, on_this_machine, shown
from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.refusals import RETRIED, retry_after, said, too_long


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    wait_s: float | None = None
    """What the server asked us to wait before trying again."""


@dataclass(frozen=True, slots=True)
class Setback:
    """An attempt that brought no answer."""

    reason: str


class Transport:
    """Posts JSON and returns what came back, whatever its status; `Unavailable` when nothing usable did."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self._address = full_address(url, "the embedder's URL")
        self.where = f"the embedding server at {shown(self._address)}"
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            **_authorization(api_key),
        }
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._client: httpx.Client | None = None
        self._owner = 0

    def post(self, url: str, body: Mapping[str, Any], patience: Patience, most_bytes: int) -> Answer:
        """The first answer that trying again would not change, or the last one that patience allowed."""
        attempt = 0
        while True:
            attempt += 1
            result = self._attempt(url, body, patience.timeout_s, most_bytes)
            if isinstance(result, Answer) and not _passing(result):
                return result
            asked = result.wait_s if isinstance(result, Answer) else None
            pause = patience.pause(attempt, asked)
            if pause is None or self._closed.wait(pause):
                raise self._given_up(result, attempt, asked)

    def close(self) -> None:
        """Ends pauses under way and lets go of the connections."""
        self._closed.set()
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._owner == os.getpid():
            client.close()

    def _attempt(self, url: str, body: Mapping[str, Any], timeout_s: float, most_bytes: int) -> Answer | Setback:
        end = time.monotonic() + timeout_s
        try:
            with self._open().stream("POST", url, json=body, timeout=timeout_s) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > most_bytes:
                        raise Unavailable(f"{self.where} answered with more than the {most_bytes} bytes expected")
                    # A server that sends a byte now and then never trips httpx's own time-out.
                    if time.monotonic() > end:
                        return Setback(f"did not answer within {timeout_s:g} s")
                wait_s = retry_after(response.headers.get("Retry-After"), time.time())
                return Answer(response.status_code, bytes(content), wait_s)
        except httpx.ConnectTimeout:
            return Setback(f"could not be reached within {timeout_s:g} s")
        except httpx.TimeoutException:
            return Setback(f"did not answer within {timeout_s:g} s")
        except httpx.ConnectError:
            return Setback("could not be reached")
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError):
            # Their messages can quote a request, so only the fact is passed on.
            return Setback("closed the connection or broke the HTTP protocol")

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._closed.is_set():
                raise Unavailable("the embedder is closed")
            # Connections inherited through a fork are still the parent's.
            if self._client is None or self._owner != os.getpid():
                self._client = httpx.Client(headers=self._headers, trust_env=not on_this_machine(self._address))
                self._owner = os.getpid()
            return self._client

    def _given_up(self, result: Answer | Setback, attempts: int, asked: float | None) -> RecollectError:
        what = f"failed (HTTP {result.status})" if isinstance(result, Answer) else result.reason
        more = {} if asked is None else {"retry_after_s": asked}
        return Unavailable(f"{self.where} {what}, {attempts} attempt{'s' * (attempts > 1)}", attempts=attempts, **more)


def _passing(answer: Answer) -> bool:
    return answer.status in RETRIED and not too_long(answer.status, said(answer.body))


def _authorization(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise InvalidInput("the embedder's API key holds characters that cannot be sent; was it copied whole?")
    return {"Authorization": f"Bearer {api_key}"}
