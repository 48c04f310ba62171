"""The embedder that the settings mean: its model is loaded or its server reached, and a sentence embedded."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from recollect.bootstrap import embedder_config, open_embedder
from recollect.cli.checks.checking import Check, broken, warning, well
from recollect.engine.embedding.generations import generation_of
from recollect.errors import NotAllowed, RecollectError
from recollect.settings import Settings

NAME = "embedder"
PROBE = "The quick brown fox. 敏捷的棕色狐狸。"
GENERAL = "check RECOLLECT_EMBEDDER, _URL, _MODEL and _KEY and that the server runs; search by words goes on"


class Embedding(NamedTuple):
    check: Check
    generation: str | None = None
    """What texts would be embedded as with these settings; None where they can't be."""


async def embedder(settings: Settings) -> Embedding:
    if settings.embedder == "off":
        return Embedding(well(NAME, "off: texts are found by their words alone"))
    started = time.perf_counter()
    try:
        found = await open_embedder(embedder_config(settings))
        assert found is not None
        try:
            vectors = await found.embed([PROBE], query=True)
            spent = time.perf_counter() - started
            generation = await asyncio.to_thread(generation_of, found)
            model = found.model
        finally:
            await found.close()
    except RecollectError as problem:
        return Embedding(broken(NAME, problem.message, _fix(problem)))
    said = f"{found.provider} {model}, {vectors.shape[1]} dimensions, first text in {spent * 1000:.0f} ms"
    if settings.embedder == "auto" and settings.llamacpp_url and found.provider != "llamacpp":
        fix = "start that server with embeddings on, correct RECOLLECT_LLAMACPP_URL, or unset it"
        return Embedding(warning(NAME, f"the llama.cpp server does not embed; {said} stands in", fix), generation)
    return Embedding(well(NAME, said), generation)


def _fix(problem: RecollectError) -> str:
    if "got" in problem.details:
        gives = problem.details["got"]
        return f"set RECOLLECT_EMBEDDER_DIMENSIONS to {gives}, which is what the model gives, or correct _MODEL"
    if isinstance(problem, NotAllowed):
        return "set RECOLLECT_EMBEDDER_KEY to a key that server takes; search by words goes on"
    return GENERAL
