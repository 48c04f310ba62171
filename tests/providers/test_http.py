"""Each wire format when all is well: what is sent, what comes back, and in which order."""

from __future__ import annotations

import pytest

from recollect.errors import InvalidInput
from recollect.providers.embedders.wires import CUSTOM_HTTP, LLAMACPP, OLLAMA, OPENAI, Wire
from tests.providers.asking import KEY, TEXT, Connect, failure, same
from tests.providers.wire import SIZE, EmbeddingServer

TEXTS = [TEXT, "她喜欢在周末冲浪", "emoji 🏄 and \x00 NUL", "half a pair \ud83c alone"]


@pytest.mark.parametrize("wire", [OPENAI, OLLAMA, LLAMACPP, CUSTOM_HTTP], ids=lambda wire: wire.provider)
async def test_each_wire_brings_one_unit_vector_for_each_text(
    server: EmbeddingServer, connect: Connect, wire: Wire
) -> None:
    ours = connect(wire)
    found = await ours.embed(TEXTS)
    assert same(found, [TEXT, TEXTS[1], "emoji 🏄 and   NUL", "half a pair ? alone"])
    assert (ours.provider, ours.model, ours.dimensions) == (wire.provider, "m1", SIZE)
    assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.seen[0].body["model"] == "m1"


@pytest.mark.parametrize(
    ("wire", "url", "path"),
    [
        (OPENAI, "/v1/", "/v1/embeddings"),
        (OPENAI, "/v1/embeddings", "/v1/embeddings"),
        (OLLAMA, "", "/api/embed"),
        (OLLAMA, "/api/embed", "/api/embed"),
        (LLAMACPP, "", "/v1/embeddings"),
        (LLAMACPP, "/v1", "/v1/embeddings"),
        (LLAMACPP, "/v1/embeddings", "/v1/embeddings"),
        (CUSTOM_HTTP, "/vectors", "/vectors"),
    ],
)
async def test_the_url_may_be_a_base_or_the_endpoint(
    server: EmbeddingServer, connect: Connect, wire: Wire, url: str, path: str
) -> None:
    ours = connect(wire, url, api_key=None)
    assert same(await ours.embed([TEXT]), [TEXT])
    assert [seen.path for seen in server.seen] == [path]
    assert "Authorization" not in server.seen[0].headers


async def test_a_llamacpp_without_the_openai_route_is_spoken_to_in_its_own_way(
    server: EmbeddingServer, connect: Connect
) -> None:
    server.paths = {"/embedding"}
    ours = connect(LLAMACPP, model=None)
    assert same(await ours.embed([TEXT, "b"]), [TEXT, "b"])
    assert same(await ours.embed(["c"]), ["c"])
    # The route that works is remembered: the second call does not ask for the other one again.
    assert [seen.path for seen in server.seen][-2:] == ["/embedding", "/embedding"]
    assert [seen.path for seen in server.seen].count("/v1/embeddings") == 1


async def test_llamacpp_tells_its_model(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect(LLAMACPP, model=None)
    assert (ours.model, ours.dimensions) == ("bge-m3-q8.gguf", SIZE)
    assert "model" not in server.seen[0].body


@pytest.mark.parametrize("shape", ["embeddings", "data", "bare", "embedding"])
async def test_a_custom_server_may_answer_in_any_common_shape(
    server: EmbeddingServer, connect: Connect, shape: str
) -> None:
    server.custom_shape = shape
    texts = [TEXT] if shape == "embedding" else [TEXT, "b", "c"]
    assert same(await connect(CUSTOM_HTTP).embed(texts), texts)


async def test_order_is_restored_from_the_indexes(server: EmbeddingServer, connect: Connect) -> None:
    server.shuffled = True
    texts = [f"text {number}" for number in range(20)]
    assert same(await connect().embed(texts), texts)


async def test_batches_are_cut_by_count_and_by_size(server: EmbeddingServer, connect: Connect) -> None:
    texts = [f"text {number}" for number in range(7)]
    assert same(await connect(batch=3).embed(texts), texts)
    assert [len(seen.body["input"]) for seen in server.seen] == [3, 3, 1]
    server.seen.clear()
    long = [f"{number} " + "word " * 3_000 for number in range(60)]
    found = await connect().embed(long)
    assert len(found) == 60
    assert len(server.seen) > 1
    assert all(sum(map(len, seen.body["input"])) <= OPENAI.request_bytes for seen in server.seen)


async def test_long_texts_are_cut_at_a_word(server: EmbeddingServer, connect: Connect) -> None:
    await connect().embed(["alpha beta " * 10_000, "冲浪很好玩。" * 10_000])
    english, chinese = server.seen[0].body["input"]
    assert 15_000 < len(english.encode()) <= OPENAI.text_bytes
    assert english.split()[-1] in {"alpha", "beta"}
    assert 15_000 < len(chinese.encode()) <= OPENAI.text_bytes
    assert chinese.endswith("。")


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_a_server_with_a_short_memory_gets_shorter_texts(
    server: EmbeddingServer, connect: Connect, status: int
) -> None:
    server.longest, server.longest_status = 1_000, status
    found = await connect().embed(["short", "alpha beta " * 500])
    assert len(found) == 2
    short, long = server.seen[-1].body["input"]
    assert short == "short"
    assert 500 < len(long) <= 1_000


async def test_a_server_that_finds_everything_too_long_is_believed_in_the_end(
    server: EmbeddingServer, connect: Connect
) -> None:
    server.longest = 0
    assert isinstance(await failure(connect()), InvalidInput)
    assert len(server.seen) == 1


async def test_dimensions_are_asked_for_when_configured(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect(dimensions=4)
    assert (await ours.embed([TEXT])).shape == (1, 4)
    assert server.seen[0].body["dimensions"] == 4
    await connect().embed([TEXT])
    assert "dimensions" not in server.seen[1].body


async def test_dimensions_are_learned_by_a_probe(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect()
    assert ours.dimensions == SIZE
    assert len(server.seen) == 1
    assert ours.dimensions == SIZE
    assert len(server.seen) == 1


async def test_a_published_size_needs_no_probe(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect(model=None)
    assert (ours.model, ours.dimensions) == ("text-embedding-3-small", 1536)
    assert not server.seen


async def test_models_get_the_words_they_were_trained_with(server: EmbeddingServer, connect: Connect) -> None:
    ours = connect(OLLAMA, model=None)
    await ours.embed(["surf"], query=True)
    await ours.embed(["surf"])
    assert [seen.body["input"] for seen in server.seen] == [["search_query: surf"], ["search_document: surf"]]


async def test_nothing_to_embed_asks_nobody(server: EmbeddingServer, connect: Connect) -> None:
    assert (await connect(dimensions=SIZE).embed([])).shape == (0, SIZE)
    assert not server.seen


async def test_blank_texts_do_not_spoil_a_batch(server: EmbeddingServer, connect: Connect) -> None:
    await connect().embed(["", " \n ", "\x00"])
    assert server.seen[0].body["input"] == [".", ".", "."]
