"""A Denodo AI SDK server: the question with its context goes to its `answerQuestion`, in the caller's own name.

No credentials of ours are involved: whoever asks sends their own, and the server decides what they may see. The question is sent
once and never again, because an answer costs a model's work; redirects are not followed, because the credentials would go along.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from typing import Any

import httpx

from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable
from recollect.model import DataAnswer, DataQuestion
from recollect.providers.address import full_address, shown
from recollect.providers.answerers.guard import tables_in
from recollect.providers.answerers.telling import refusal
from recollect.providers.embedders.refusals import harmless, retry_after, said

MOST_BYTES = 8 * 1024 * 1024
OPTIONS = frozenset(
    """
    plot plot_details embeddings_provider embeddings_model vector_store_provider llm_provider llm_model llm_temperature
    llm_max_tokens vdp_database_names vdp_tag_names allow_external_associations use_views expand_set_views
    custom_instructions markdown_response vector_search_k vector_search_sample_data_k vector_search_total_limit
    vector_search_column_description_char_limit mode disclaimer verbose check_ambiguity vql_execute_rows_limit
    llm_response_rows_limit
    """.split()
)
"""What `answerQuestion` knows; of a caller's options only these are sent on."""


class DenodoAnswerer:
    name = "denodo"

    def __init__(self, url: str, *, timeout_s: float = 120.0, verify: bool = True) -> None:
        self._url, host = _endpoint(url)
        self._where = f"the Denodo server at {host}"
        self._timeout_s = timeout_s
        self._closed = False
        secure = self._url.startswith("https:")
        self._tls = ssl.create_default_context() if secure and verify else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if not verify:
            self._tls.check_hostname = False
            self._tls.verify_mode = ssl.CERT_NONE
        self._trusts_proxies = host.rsplit(":", 1)[0] not in {"localhost", "127.0.0.1", "[::1]"}

    async def answer(self, question: DataQuestion) -> DataAnswer:
        if self._closed:
            raise Unavailable("the answerer is closed")
        status, body, headers = await self._post(_body(question), _credentials(question.authorization))
        if status == 200:
            return _answer(_read(body, self._where), question)
        if status == 404 and (why := _nothing_found(body)) is not None:
            private = [question.augmented, question.authorization or ""]
            return DataAnswer(
                answer=refusal(harmless(why, private) or "no view fits it", question.question), answered=False
            )
        raise self._refused(status, body, headers, question)

    async def close(self) -> None:
        self._closed = True

    async def _post(self, body: Mapping[str, Any], authorization: str) -> tuple[int, bytes, httpx.Headers]:
        end = time.monotonic() + self._timeout_s
        content = bytearray()
        try:
            async with (
                httpx.AsyncClient(
                    timeout=self._timeout_s, verify=self._tls, trust_env=self._trusts_proxies, follow_redirects=False
                ) as client,
                client.stream("POST", self._url, json=body, headers={"Authorization": authorization}) as response,
            ):
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > MOST_BYTES:
                        raise Unavailable(f"{self._where} answered with more than {MOST_BYTES} bytes")
                    # A server that sends a byte now and then never trips httpx's own time-out.
                    if time.monotonic() > end:
                        raise self._late()
                return response.status_code, bytes(content), response.headers
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError):
            # Their messages can quote a request, so only the fact is passed on.
            raise Unavailable(f"{self._where} could not be reached or broke the connection") from None

    def _refused(self, status: int, body: bytes, headers: httpx.Headers, question: DataQuestion) -> RecollectError:
        reason = harmless(said(body), [question.augmented, question.authorization or ""])
        words = f": {reason}" if reason else ""
        if status in {401, 403}:
            return NotAllowed(f"{self._where} refused your credentials (HTTP {status})", http=status)
        if 300 <= status < 400:
            return InvalidInput(f"{self._where} redirects (HTTP {status}), which is not followed; name the final URL")
        if status == 404:
            return InvalidInput(f"{self._where} knows no answerQuestion (HTTP 404)", http=status)
        if status in {408, 425, 429} or status >= 500:
            wait = retry_after(headers.get("Retry-After"), time.time())
            more = {} if wait is None else {"retry_after_s": wait}
            return Unavailable(f"{self._where} failed (HTTP {status}){words}", http=status, **more)
        return InvalidInput(f"{self._where} refused the request (HTTP {status}){words}", http=status)

    def _late(self) -> Unavailable:
        return Unavailable(f"{self._where} did not answer within {self._timeout_s:g} s")


def _endpoint(url: str) -> tuple[str, str]:
    address = full_address(url, "RECOLLECT_DENODO_URL")
    path = address.path.rstrip("/")
    path = path if path.endswith("/answerQuestion") else f"{path}/answerQuestion"
    return str(address.copy_with(path=path)), shown(address)


def _credentials(authorization: str | None) -> str:
    if not authorization:
        raise NotAllowed("Denodo is asked in your own name: send an Authorization header")
    if not (authorization.isascii() and authorization.isprintable()):
        raise InvalidInput("the Authorization header holds characters that cannot be sent")
    return authorization


def _body(question: DataQuestion) -> dict[str, Any]:
    options = {name: value for name, value in question.options.items() if name in OPTIONS and value is not None}
    return {**options, "question": question.augmented}


def _read(body: bytes, where: str) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, Mapping) or not isinstance(answer.get("answer"), str):
        raise Unavailable(f"{where} answered with something that is no answer")
    return answer


def _answer(given: Mapping[str, Any], question: DataQuestion) -> DataAnswer:
    sql = _text(given.get("sql_query"))
    tables = tuple(dict.fromkeys([*_texts(given.get("tables_used")), *tables_in(sql)]))
    tables = tuple(each.replace('"', "") for each in tables)
    result, tokens = given.get("execution_result"), given.get("tokens")
    return DataAnswer(
        answer=given["answer"],
        answered=bool(sql or tables),
        sql=sql,
        explanation=_text(given.get("query_explanation")),
        tables=tuple(dict.fromkeys(tables)),
        databases=tuple(sorted({each.rpartition(".")[0] for each in tables if "." in each})),
        result=result if isinstance(result, Mapping) else {},
        related=_texts(given.get("related_questions")),
        tokens={str(k): v for k, v in tokens.items() if isinstance(v, int)} if isinstance(tokens, Mapping) else {},
        graph=_text(given.get("raw_graph")),
        sql_s=_seconds(given.get("sql_execution_time")),
        search_s=_seconds(given.get("vector_store_search_time")),
        model_s=_seconds(given.get("llm_time")),
    )


def _nothing_found(body: bytes) -> str | None:
    """That server says 404 when no view fits a question, and tells it apart from a wrong path by what it sends along."""
    try:
        detail = json.loads(body).get("detail")
    except (ValueError, RecursionError, AttributeError):
        return None
    return _text(detail.get("error")) if isinstance(detail, Mapping) and "error" in detail else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str) and each) if isinstance(value, list) else ()


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else 0.0
