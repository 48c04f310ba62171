"""The Denodo client against a real HTTP server that speaks `answerQuestion`."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable
from recollect.model import DataAnswer, DataQuestion
from recollect.providers.answerers import DenodoAnswerer
from tests.answerers.denodo_wire import USUAL, Act, DenodoServer

MINE = "Basic dXNlcjpwYXNzd29yZA=="


async def ask(
    server: DenodoServer, *, authorization: str | None = MINE, timeout_s: float = 30.0, **more: Any
) -> DataAnswer:
    answerer = DenodoAnswerer(server.url, timeout_s=timeout_s)
    question = DataQuestion(
        question="What about 2023?",
        augmented="=== RECENT CONVERSATION ===\nsales by region for 2024\n=== CURRENT QUESTION ===\nWhat about 2023?",
        authorization=authorization,
        **more,
    )
    return await answerer.answer(question)


async def test_the_question_goes_with_its_context_and_the_callers_credentials(denodo: DenodoServer) -> None:
    options = {"vdp_database_names": "bank", "plot": True, "mode": "data", "llm_model": None, "password": "x"}
    answer = await ask(denodo, options=options)
    path, headers, body = denodo.asked[0]
    assert path == "/answerQuestion"
    assert headers["Authorization"] == MINE
    assert body == {
        "question": "=== RECENT CONVERSATION ===\nsales by region for 2024\n=== CURRENT QUESTION ===\nWhat about 2023?",
        "vdp_database_names": "bank",
        "plot": True,
        "mode": "data",
    }
    assert answer.answered
    assert answer.answer == USUAL["answer"]
    assert answer.sql == USUAL["sql_query"]
    assert answer.explanation == "Adds up the amounts."
    assert answer.tables == ("bank.sales", "bank.regions")
    assert answer.databases == ("bank",)
    assert answer.related == ("What about 2023?",)
    assert answer.tokens == USUAL["tokens"]
    assert answer.result == USUAL["execution_result"]
    assert (answer.sql_s, answer.search_s, answer.model_s) == (0.25, 0.5, 1.5)


async def test_tables_are_read_off_the_sql_when_the_server_names_none(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(body=USUAL | {"tables_used": ""}))
    assert (await ask(denodo)).tables == ("bank.sales", "bank.regions")


async def test_an_answer_without_sql_and_tables_is_no_answer(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(body=USUAL | {"answer": "Sorry.", "sql_query": "", "tables_used": ""}))
    answer = await ask(denodo)
    assert not answer.answered
    assert answer.answer == "Sorry."


async def test_no_view_fits_the_question(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(404, {"detail": {"error": "The vector store returned no views", "traceback": ""}}))
    answer = await ask(denodo)
    assert not answer.answered
    assert "returned no views" in answer.answer


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidInput),
        (401, NotAllowed),
        (403, NotAllowed),
        (404, InvalidInput),
        (422, InvalidInput),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
async def test_refusals_are_typed_and_said_once(denodo: DenodoServer, status: int, error: type[RecollectError]) -> None:
    denodo.acts.append(Act(status, {"detail": "Not Found"}))
    with pytest.raises(error) as caught:
        await ask(denodo)
    assert str(status) in caught.value.message
    assert len(denodo.asked) == 1


async def test_a_server_that_quotes_secrets_is_not_quoted(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(400, {"detail": f"bad header {MINE} for What about 2023?"}))
    with pytest.raises(InvalidInput) as caught:
        await ask(denodo)
    assert "dXNl" not in caught.value.message
    assert "2023" not in caught.value.message


async def test_redirects_are_not_followed(denodo: DenodoServer) -> None:
    with DenodoServer().running() as elsewhere:
        for status in (301, 302, 307, 308):
            denodo.acts.append(Act(status, b"", {"Location": f"{elsewhere.url}/answerQuestion"}))
            with pytest.raises(InvalidInput, match="redirects"):
                await ask(denodo)
        assert elsewhere.asked == []


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"answer": 7}', b"null", b'{"answer"'])
async def test_rubbish_is_unavailable(denodo: DenodoServer, body: bytes) -> None:
    denodo.acts.append(Act(body=body))
    with pytest.raises(Unavailable, match="no answer"):
        await ask(denodo)


async def test_odd_fields_are_left_out(denodo: DenodoServer) -> None:
    odd = {"tokens": {"input_tokens": "many", "output_tokens": 3}, "execution_result": [], "llm_time": "long"}
    denodo.acts.append(Act(body=USUAL | odd | {"related_questions": [1, "Why?"], "raw_graph": None}))
    answer = await ask(denodo)
    assert (answer.tokens, answer.result, answer.model_s) == ({"output_tokens": 3}, {}, 0.0)
    assert (answer.related, answer.graph) == (("Why?",), "")


async def test_silence_has_an_end(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(silent=True))
    with pytest.raises(Unavailable, match="within"):
        await ask(denodo, timeout_s=0.3)


async def test_a_broken_connection_is_unavailable(denodo: DenodoServer) -> None:
    denodo.acts.append(Act(hangs_up=True))
    with pytest.raises(Unavailable, match="broke the connection"):
        await ask(denodo)
    with pytest.raises(Unavailable):
        await DenodoAnswerer("http://127.0.0.1:9").answer(DataQuestion(question="?", augmented="?", authorization=MINE))


async def test_without_credentials_nothing_is_sent(denodo: DenodoServer) -> None:
    with pytest.raises(NotAllowed, match="your own name"):
        await ask(denodo, authorization=None)
    with pytest.raises(InvalidInput, match="characters"):
        await ask(denodo, authorization="Basic x\r\nX-Evil: 1")
    assert denodo.asked == []


@pytest.mark.parametrize("url", ["", "denodo", "ftp://x", "http://"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_DENODO_URL"):
        DenodoAnswerer(url)


async def test_closed_is_closed(denodo: DenodoServer) -> None:
    answerer = DenodoAnswerer(f"{denodo.url}/answerQuestion")
    await answerer.close()
    with pytest.raises(Unavailable):
        await answerer.answer(DataQuestion(question="?", augmented="?", authorization=MINE))
