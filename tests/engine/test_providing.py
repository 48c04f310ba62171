"""Configuring where embeddings come from, while everything runs: over every store, against a real server on the loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect.bootstrap import embedder_config, engine_over, open_embedder, open_engine
from recollect.engine import Engine
from recollect.engine.embedding import embed
from recollect.engine.embedding.providing import Key, checked_url, provision, remove_provider, save_provider
from recollect.errors import Conflict, InvalidInput, RecollectError, Unavailable, Unsupported
from recollect.model import EmbeddingState, ProviderConfig, Query, Target
from recollect.ports import Store
from recollect.providers.configured import Configured
from recollect.settings import Settings
from recollect.testing.embedder import HashEmbedder
from recollect.worker.embedded import EmbeddedWorker
from tests.cli.conftest import CommandLine
from tests.engine.conftest import ANA, anywhere
from tests.engine.conftest import engine_over as bare_engine
from tests.providers.wire import EmbeddingServer, Fault

KEY = "sk-nobody-may-see-this"
TEXT = "Miro the cat eats fish on Fridays"
Process = Callable[..., Engine]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
async def process(store: Store, tmp_path: Path) -> AsyncIterator[Process]:
    """An engine as a process of its own would have it: put together from settings, over the one store."""
    async with AsyncExitStack() as stack:

        def start(**settings: Any) -> Engine:
            chosen = Settings.load({}, data_dir=tmp_path, **{"secret_key": "k1", **settings})
            engine = engine_over(store, HashEmbedder(), chosen)
            stack.push_async_callback(engine.generations.close)
            return engine

        yield start


def at(server: EmbeddingServer, **changes: Any) -> ProviderConfig:
    fields = {"provider_type": "custom_http", "endpoint_url": f"{server.url}/vectors", "model": "one"}
    return ProviderConfig(**{**fields, **changes})


@contextmanager
def working(engine: Engine) -> Iterator[None]:
    worker = EmbeddedWorker(engine)
    worker.start()
    try:
        yield
    finally:
        worker.stop()


async def until_serving(engine: Engine, model: str | None) -> None:
    async with asyncio.timeout(60):
        while True:
            await engine.generations.refresh()
            serving = await engine.generations.serving()
            if (serving.model if serving else None) == model:
                return
            await asyncio.sleep(0.02)


def sent_to(server: EmbeddingServer) -> str:
    return " ".join(text for seen in server.seen for text in seen.body["input"])


async def test_a_new_provider_fills_in_the_background_and_then_takes_over(
    process: Process, server: EmbeddingServer
) -> None:
    engine = process()
    id = (await engine.remember(ANA, {"content": TEXT})).id
    await engine.flush(ANA, 120)
    told = await save_provider(engine, ANA, at(server), KEY)
    assert told.serving is not None
    assert (told.serving.provider, [each.model for each in told.building]) == ("hash", ["one"])
    assert (told.origin, told.key_is_set, told.trouble) == ("configured", True, None)
    assert told.stored is not None
    assert told.stored.api_key is None
    assert set(sent_to(server).split()) == {"dimensions"}, "no stored text before anything was saved and adopted"
    assert [hit.content for hit in await engine.recall(ANA, Query(text="what does Miro eat?"))] == [TEXT]
    with working(engine):
        engine.wake()
        await until_serving(engine, "one")
    assert TEXT in sent_to(server)
    assert server.seen[-1].headers["Authorization"] == f"Bearer {KEY}"
    target = Target("memory", str(id))
    status = (await engine.embedding_status(ANA, [target]))[target]
    assert (status.state, status.generation) == (EmbeddingState.READY, "custom_http:one:8")


async def test_what_is_written_meanwhile_is_in_both(process: Process, server: EmbeddingServer) -> None:
    engine = process()
    await engine.remember(ANA, {"content": TEXT})
    await save_provider(engine, ANA, at(server), None)
    await engine.remember(ANA, {"content": "Said while the other one was building"})
    with working(engine):
        engine.wake()
        await until_serving(engine, "one")
    assert "Said while" in sent_to(server)


async def test_the_key_is_sealed_at_rest_and_never_logged(
    process: Process, store: Store, server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    engine = process()
    await save_provider(engine, ANA, at(server), KEY)
    stored = await store.system(lambda system: system.provider())
    assert stored is not None
    assert stored.api_key
    assert KEY not in repr(stored)
    assert KEY not in repr(await provision(engine))
    trail = await engine.audit_trail(ANA, 50, 0)
    (saved,) = [event for event in trail if event.action == "provider.saved"]
    assert KEY not in repr(saved)
    assert (saved.facts["provider_type"], saved.facts["key"]) == ("custom_http", True)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("fault", "cause", "said"),
    [
        (Fault(status=401), "not_allowed", "credentials"),
        (Fault(status=404, body=b"{}"), "invalid_input", "model or path"),
        (Fault(status=302, headers={"Location": "http://127.0.0.1:1/"}), "invalid_input", "redirects"),
        (Fault(body=b"<html>"), "unavailable", "not JSON"),
        (Fault(body=b'{"embeddings": [["x"]]}'), "unavailable", ""),
        (Fault(status=400, body=f'{{"error": "bad key {KEY}"}}'.encode()), "invalid_input", "refused"),
    ],
)
@anywhere
async def test_what_does_not_work_is_not_saved(
    process: Process, server: EmbeddingServer, fault: Fault, cause: str, said: str
) -> None:
    engine = process()
    server.faults.append(fault)
    with pytest.raises(InvalidInput, match="nothing was saved") as refused:
        await save_provider(engine, ANA, at(server), KEY)
    assert refused.value.details["cause"] == cause
    assert said in refused.value.message
    assert KEY not in refused.value.message
    told = await provision(engine)
    assert (told.stored, told.building) == (None, ())
    assert "provider.saved" not in {event.action for event in await engine.audit_trail(ANA, 50, 0)}


async def test_wrong_dimensions_are_found_before_saving(process: Process, server: EmbeddingServer) -> None:
    server.custom_shape = "plain"
    server.faults.append(Fault(body=b"[[1.0, 2.0]]"))
    with pytest.raises(InvalidInput, match="nothing was saved"):
        await save_provider(process(), ANA, at(server, dimensions=5), None)


async def test_a_server_that_does_not_answer_is_not_waited_for(server: EmbeddingServer, tmp_path: Path) -> None:
    settings = Settings.load({}, data_dir=tmp_path)
    hasty = Configured(embedder_config(settings), open_embedder, lambda _: True, trial_s=0.3)
    server.faults.extend([Fault(delay_s=600), Fault(delay_s=600)])
    with pytest.raises(Unavailable, match="did not answer"):
        await hasty.attempt(at(server))
    providers = Configured(embedder_config(settings), open_embedder, lambda _: True)
    nobody = ProviderConfig(provider_type="custom_http", endpoint_url="http://127.0.0.1:9/", model="x")
    with pytest.raises(Unavailable, match="could not be reached"):
        await providers.attempt(nobody)


async def test_other_processes_follow_and_new_ones_begin_with_it(process: Process, server: EmbeddingServer) -> None:
    first, second = process(), process()
    await first.remember(ANA, {"content": TEXT})
    await second.recall(ANA, Query(text="Miro"))
    await save_provider(first, ANA, at(server), KEY)
    with working(first):
        first.wake()
        await until_serving(first, "one")
    for engine in (second, process()):
        await engine.generations.refresh()
        server.seen.clear()
        recall = await engine.recall(ANA, Query(text="a question of its own"))
        assert "dense" not in recall.trace.degraded
        assert recall.trace.generation == "custom_http:one:8"
        assert "a question of its own" in sent_to(server)


async def test_a_change_of_mind_while_building_wins(process: Process, server: EmbeddingServer) -> None:
    engine = process()
    await engine.remember(ANA, {"content": TEXT})
    await save_provider(engine, ANA, at(server), None)
    told = await save_provider(engine, ANA, at(server, model="two"), None)
    assert [each.model for each in told.building] == ["two"]
    with working(engine):
        engine.wake()
        await until_serving(engine, "two")
    everything = await engine.store.system(lambda system: system.generations())
    assert {each.model for each in everything if each.state != "retired"} == {"two"}


async def test_switched_off_there_are_words_only_and_switched_on_again_all_is_embedded(
    process: Process, server: EmbeddingServer
) -> None:
    engine = process()
    await engine.remember(ANA, {"content": TEXT})
    await engine.flush(ANA, 120)
    told = await save_provider(engine, ANA, at(server, enabled=False), KEY)
    assert (told.origin, told.serving, told.building) == ("off", None, ())
    assert not server.seen, "what is not to be used is not tried"
    receipt = await engine.remember(ANA, {"content": "Bruno the dog sleeps all day"})
    assert receipt.embedding is EmbeddingState.OFF
    recall = await engine.recall(ANA, Query(text="what does Miro eat?"))
    assert [hit.content for hit in recall] == [TEXT]
    assert recall.trace.generation is None
    await save_provider(engine, ANA, at(server), False)
    with working(engine):
        engine.wake()
        await until_serving(engine, "one")
        await engine.flush(ANA, 120)
    assert "Bruno" in sent_to(server)
    assert "Miro" in sent_to(server)
    assert server.seen[-1].headers["Authorization"] == f"Bearer {KEY}", "the key was kept for the same server"


async def test_what_was_removed_is_asked_no_more(process: Process, server: EmbeddingServer) -> None:
    engine, other = process(), process()
    await save_provider(engine, ANA, at(server), KEY)
    await until_serving(engine, "one")
    await other.recall(ANA, Query(text="first"))
    told = await remove_provider(engine, ANA)
    assert (told.stored, told.key_is_set, told.origin) == (None, False, "local")
    assert [each.provider for each in told.building] == ["local"]
    await other.generations.refresh()
    server.seen.clear()
    for each in (engine, other):
        await each.remember(ANA, {"content": TEXT})
        recall = await each.recall(ANA, Query(text="what does Miro eat?"))
        assert [hit.content for hit in recall] == [TEXT]
    assert not server.seen
    assert "provider.removed" in {event.action for event in await engine.audit_trail(ANA, 50, 0)}


async def test_whoever_notices_late_does_not_take_up_what_was_given_up(
    process: Process, server: EmbeddingServer
) -> None:
    first, late = process(), process()
    await first.remember(ANA, {"content": TEXT})
    await save_provider(first, ANA, at(server), KEY)
    await late.generations.refresh()
    (building,) = [each for each in await late.generations.alive() if each.model == "one"]
    await remove_provider(first, ANA)
    await embed.complete(late, building)
    everything = await first.store.system(lambda system: system.generations())
    assert "one" not in {each.model for each in everything if each.state != "retired"}
    assert TEXT not in sent_to(server)


async def test_a_named_embedder_is_the_operators_word(process: Process, server: EmbeddingServer) -> None:
    await save_provider(process(), ANA, at(server), None)
    for name in ("local", "off"):
        pinned = process(embedder=name)
        told = await provision(pinned)
        assert (told.pinned, told.origin, told.stored is not None) == (name, "settings", True)
        with pytest.raises(Conflict, match="RECOLLECT_EMBEDDER=auto"):
            await save_provider(pinned, ANA, at(server), None)
        with pytest.raises(Conflict):
            await remove_provider(pinned, ANA)
    assert (await provision(process())).stored is not None


async def test_the_operators_llamacpp_comes_first_while_it_answers(process: Process, server: EmbeddingServer) -> None:
    with EmbeddingServer().running() as operators:
        engine = process(llamacpp_url=operators.url)
        told = await save_provider(engine, ANA, at(server), KEY)
        assert told.origin == "system"
        await until_serving(engine, "bge-m3-q8.gguf")
        await engine.recall(ANA, Query(text="a question"))
        assert "a question" in sent_to(operators)
        assert KEY not in repr([seen.headers for seen in operators.seen])
    assert sent_to(server) == "dimensions"
    late = process(llamacpp_url=operators.url)
    assert (await provision(late)).origin == "configured"


async def test_a_lost_key_costs_meaning_and_not_the_vectors(process: Process, server: EmbeddingServer) -> None:
    engine = process()
    await engine.remember(ANA, {"content": TEXT})
    await save_provider(engine, ANA, at(server), KEY)
    with working(engine):
        engine.wake()
        await until_serving(engine, "one")
    lost = process(secret_key="another")
    recall = await lost.recall(ANA, Query(text="what does Miro eat?"))
    assert [hit.content for hit in recall] == [TEXT]
    told = await provision(lost)
    assert told.trouble is not None
    assert "secret key" in told.trouble
    assert told.serving is not None
    assert (told.serving.model, told.building) == ("one", ())
    told = await save_provider(lost, ANA, at(server), KEY)
    assert told.trouble is None
    assert (await lost.recall(ANA, Query(text="Miro"))).trace.generation == "custom_http:one:8"
    rotated = process(secret_key="third, another")
    assert (await provision(rotated)).trouble is None


@pytest.mark.parametrize(("key", "sent"), [(False, None), (None, None), ("other", "Bearer other")])
@anywhere
async def test_a_kept_key_is_shown_to_no_other_server(
    process: Process, server: EmbeddingServer, key: Key, sent: str | None
) -> None:
    engine = process()
    await save_provider(engine, ANA, at(server), KEY)
    with EmbeddingServer().running() as elsewhere:
        told = await save_provider(engine, ANA, at(elsewhere), key)
        assert elsewhere.seen[0].headers.get("Authorization") == sent
        assert told.key_is_set is (sent is not None)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "javascript:alert(1)",
        "//example.org/",
        "example.org",
        "http://",
        "http://user:secret-word@example.org/",
        "https://secret-word@example.org/",
        "http://example.org:99999/",
        "http://[::1/",
        "http://example.org/#secret-word",
        "http://example.org/\x07",
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1%25eth0]/",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://0/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://0.0.0.0:80/",
        "http://224.0.0.1/",
        "http://example.org/" + "x" * 2048,
    ],
)
def test_an_address_that_must_not_be_asked(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_url(url)
    assert "secret-word" not in refused.value.message


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/vectors", "https://api.example.org/v1?x=1", "http://[::1]:80/", "http://2130706433/"]
)
def test_an_address_that_may(url: str) -> None:
    assert checked_url(f" {url} ") == url


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (ProviderConfig(provider_type="custom_http", model="m"), "endpoint_url"),
        (ProviderConfig(provider_type="openai", model="m"), "api_key"),
        (ProviderConfig(provider_type="custom_http", endpoint_url="http://127.0.0.1:9/"), "name of the model"),
        (ProviderConfig(provider_type="ollama"), "name of the model"),
        (ProviderConfig(provider_type="llamacpp", endpoint_url="http://127.0.0.1:9/", dimensions=0), "dimensions"),
        (ProviderConfig(provider_type="local", endpoint_url="http://127.0.0.1:9/"), "local model has no"),
    ],
)
async def test_a_configuration_must_make_sense(process: Process, config: ProviderConfig, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        await save_provider(process(), ANA, config, None)


async def test_an_engine_without_providers_says_so(store: Store) -> None:
    with pytest.raises(Unsupported):
        await provision(bare_engine(store))


async def test_many_questions_at_once_wait_for_the_first_look(process: Process, server: EmbeddingServer) -> None:
    """None of them may take the settings' model for the configured one."""
    await save_provider(process(), ANA, at(server), None)
    engine = process()
    await asyncio.gather(*(engine.recall(ANA, Query(text=f"question {number}")) for number in range(8)))
    everything = await engine.store.system(lambda system: system.generations())
    assert {each.provider for each in everything} == {"custom_http"}


async def test_errors_of_ours_are_all_that_comes_out(process: Process, server: EmbeddingServer) -> None:
    for fault in (Fault(hang_up=True), Fault(status=500), Fault(status=429, headers={"Retry-After": "60"})):
        server.faults.extend([fault, fault])
        with pytest.raises(RecollectError, match="nothing was saved"):
            await save_provider(process(), ANA, at(server), KEY)
        server.faults.clear()


WATCH = """
import asyncio, sys, time
from recollect.bootstrap import open_engine
from recollect.settings import Settings

async def watch():
    running = await open_engine(Settings.load({}, store=sys.argv[1], data_dir=sys.argv[2], secret_key="k1", worker=False))
    await running.engine.generations.alive()
    print("watching", flush=True)
    began = time.monotonic()
    while time.monotonic() - began < 60:
        serving = await running.engine.generations.serving()
        if serving is not None and serving.model == "one" and await running.engine.generations.embedder(serving):
            break
        await asyncio.sleep(0.1)
    print(f"{time.monotonic() - began:.1f}", flush=True)
    await running.close()

asyncio.run(watch())
"""


@pytest.mark.slow
async def test_another_process_notices_within_seconds(tmp_path: Path, server: EmbeddingServer) -> None:
    place = str(tmp_path / "shared.db")
    settings = Settings.load({}, store=place, data_dir=tmp_path, secret_key="k1", worker=False)
    running = await open_engine(settings)
    command = [sys.executable, "-c", WATCH, place, str(tmp_path)]
    watcher = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert watcher.stdout is not None
    try:
        assert (await watcher.stdout.readline()).strip() == b"watching"
        await running.engine.remember(ANA, {"content": TEXT})
        await save_provider(running.engine, ANA, at(server), KEY)
        with working(running.engine):
            running.engine.wake()
            assert float(await asyncio.wait_for(watcher.stdout.readline(), 90)) < 60
        assert await watcher.wait() == 0
    finally:
        if watcher.returncode is None:
            watcher.kill()
            await watcher.wait()
        await running.close()


@pytest.mark.slow
async def test_the_command_line_completes_what_an_administrator_configured(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    place = str(tmp_path / "shared.db")
    settings = Settings.load({}, store=place, data_dir=tmp_path, worker=False)
    running = await open_engine(settings)
    try:
        await save_provider(running.engine, ANA, at(server), KEY)
        await running.engine.remember(ANA, {"content": TEXT})
    finally:
        await running.close()
    cli = CommandLine(tmp_path, {"RECOLLECT_EMBEDDER": "auto", "RECOLLECT_STORE": place})
    report = json.loads(await asyncio.to_thread(cli.shell, "reembed", "--json"))
    assert (report["generation"], report["complete"], report["settings"]) == ("custom_http:one:8", True, {})
    assert TEXT in sent_to(server)
