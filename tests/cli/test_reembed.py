"""Changing the embedding model under way: killed, interrupted, failing, and in the end complete."""

from __future__ import annotations

import json
import signal
import sqlite3
import time

import pytest

from recollect.engine.embedding.generations import generation_of
from tests.cli.conftest import CommandLine, the_local_model
from tests.providers.wire import SIZE, EmbeddingServer, Fault

LOCAL = generation_of(the_local_model())
LOCALLY = {"RECOLLECT_EMBEDDER": "local"}
TEXTS = 24
BATCH = 4
LEASE = "5"
STUCK = Fault(delay_s=60)


@pytest.fixture
def filled(cli: CommandLine) -> CommandLine:
    """A memory whose local embeddings are complete."""
    cli.env |= LOCALLY | {"RECOLLECT_EMBED_BATCH": str(BATCH)}
    cli("seed", "-", input="".join(f"Fact number {n} about subject {n * 7}\n" for n in range(TEXTS)))
    assert generations(cli) == {LOCAL: ("serving", TEXTS)}
    cli.env["RECOLLECT_EMBED_LEASE_S"] = LEASE  # only now: loading the model may take a slow machine longer than that
    return cli


def generations(cli: CommandLine) -> dict[str, tuple[str, int]]:
    """Each generation's state and how many vectors it has, straight from the file."""
    with sqlite3.connect(cli.folder / "recollect.db") as connection:
        states = connection.execute("SELECT id, state FROM generations").fetchall()
        return {
            id: (
                state,
                connection.execute(
                    "SELECT count(*) FROM embeddings WHERE generation = ? AND state = 'ready'", [id]
                ).fetchone()[0],
            )
            for id, state in states
        }


def to(server: EmbeddingServer) -> tuple[str, ...]:
    return ("reembed", "--provider", "openai", "--model", "tiny", "--url", f"{server.url}/v1")


def wait_for_requests(server: EmbeddingServer, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(server.seen) < count:
        assert time.monotonic() < deadline, f"{len(server.seen)} requests came"
        time.sleep(0.02)


def test_another_model_of_other_dimensions_takes_over(filled: CommandLine, server: EmbeddingServer) -> None:
    told = filled.shell(*to(server))
    assert generations(filled) == {LOCAL: ("retired", TEXTS), f"openai:tiny:{SIZE}": ("serving", TEXTS)}
    assert "export RECOLLECT_EMBEDDER=openai" in told
    assert f"export RECOLLECT_EMBEDDER_URL={server.url}/v1" in told
    assert "export RECOLLECT_EMBEDDER_MODEL=tiny" in told
    filled.env |= {
        "RECOLLECT_EMBEDDER": "openai",
        "RECOLLECT_EMBEDDER_URL": f"{server.url}/v1",
        "RECOLLECT_EMBEDDER_MODEL": "tiny",
    }
    found = filled.json("search", "Fact number 3 about subject 21", "--limit", "1")
    assert found["trace"]["generation"] == f"openai:tiny:{SIZE}"
    assert found["hits"][0]["signals"]["cosine"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_and_taken_up_again(filled: CommandLine, server: EmbeddingServer, how: signal.Signals) -> None:
    # One request tells the dimensions, two batches get through, the next one never comes back.
    server.faults.extend([Fault(), Fault(), Fault(), STUCK])
    with filled.start(*to(server)) as process:
        wait_for_requests(server, 4)
        process.send_signal(how)
        _, told = process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    assert b"Traceback" not in told
    between = generations(filled)
    assert between[LOCAL] == ("serving", TEXTS)
    state, ready = between[f"openai:tiny:{SIZE}"]
    assert state == "building"
    assert 0 < ready < TEXTS
    asked = len(server.seen)
    assert filled.json("search", "Fact number 3")["trace"]["generation"] == LOCAL

    assert filled.json(*to(server))["switched"] is True
    assert generations(filled) == {LOCAL: ("retired", TEXTS), f"openai:tiny:{SIZE}": ("serving", TEXTS)}
    again = [text for seen in server.seen[asked:] for text in seen.body["input"] if text.startswith("Fact")]
    assert len(again) == TEXTS - ready, "what was done is not done twice"


def test_a_failing_model_never_takes_over(filled: CommandLine, server: EmbeddingServer) -> None:
    server.faults.extend([Fault(), *[Fault(status=401)] * 200])
    report = filled.json(*to(server), code=5)
    assert (report["complete"], report["failed"], report["settings"]) == (False, TEXTS, {})
    assert list(report["reasons"].values()) == [TEXTS]
    assert generations(filled)[LOCAL] == ("serving", TEXTS)
    assert "refused the credentials" in filled(*to(server), code=3).stderr
    server.faults.appendleft(Fault())
    told = filled(*to(server), code=5).stdout
    assert "the old embeddings go on serving" in told


def test_texts_stored_without_a_model_are_embedded_later(cli: CommandLine) -> None:
    cli("add", "stored while embeddings were off")
    cli.env |= LOCALLY
    assert cli.json("reembed")["complete"] is True
    assert generations(cli) == {LOCAL: ("serving", 1)}
    assert "export" not in cli("reembed").stdout


def test_a_server_that_hangs_does_not_keep_add_waiting(cli: CommandLine, server: EmbeddingServer) -> None:
    cli.env |= {
        "RECOLLECT_EMBEDDER": "openai",
        "RECOLLECT_EMBEDDER_URL": f"{server.url}/v1",
        "RECOLLECT_EMBEDDER_MODEL": "tiny",
        "RECOLLECT_EMBEDDER_DIMENSIONS": str(SIZE),
    }
    server.faults.extend([STUCK] * 20)
    started = time.monotonic()
    told = cli("add", "kept all the same", "--wait", "1")
    assert time.monotonic() - started < 55
    assert "embeddings: 1" in told.stderr
    assert cli.json("list")["total"] == 1


def test_without_waiting_the_embedding_is_left_to_the_next(cli: CommandLine) -> None:
    cli.env |= LOCALLY
    receipt = cli.json("add", "first", "--no-wait")
    assert receipt["embedding"] == "pending"
    assert cli.json("search", "first")["hits"]
    cli("add", "second")
    assert cli.json("get", receipt["id"])["embedding"] == "ready"


def test_progress_is_for_terminals_only(filled: CommandLine, server: EmbeddingServer) -> None:
    with filled.start(*to(server), "--json") as process:
        document, told = process.communicate(timeout=60)
    assert told == b""
    assert json.loads(document)["complete"] is True
