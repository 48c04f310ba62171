"""A FastAPI app of your own in which everybody has a memory: it learns from what they say, and prepares a prompt from it.

    python -m examples.fastapi_app          # ask it a few things and end
    uvicorn examples.fastapi_app:app        # serve it, with the memory in ~/.recollect

Needs `pip install ".[server]"`. The memory opens with the first request and closes with the app; one of them serves
everybody, because `at(user=…)` opens nothing twice. In an app that others can reach, take the user from your login.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from recollect import AsyncMemory


class Said(BaseModel):
    text: str


def create(url: str | None = None) -> FastAPI:
    memory = AsyncMemory(url)

    @asynccontextmanager
    async def closing(_: FastAPI) -> AsyncIterator[None]:
        yield
        await memory.close()

    app = FastAPI(title="An app that remembers", lifespan=closing)

    @app.post("/people/{user}/said")
    async def said(user: str, body: Said) -> dict[str, list[str]]:
        """Keep the words, and learn from them what their speaker says of themselves."""
        theirs = await memory.at(user=user)
        taken = await theirs.take_in("web", [{"role": "user", "content": body.text}])
        return {"learnt": [item.content for each in taken.extractions for item in each.analysis.items]}

    @app.get("/people/{user}/prompt")
    async def prompt(user: str, question: str) -> dict[str, str]:
        """What a model should be shown of this person before it answers; empty where nothing is known."""
        theirs = await memory.at(user=user)
        return {"prompt": (await theirs.context(question, kinds=["memory"])).text}

    return app


app = create()


def main() -> None:
    with TestClient(create("memory://")) as client:
        for text in ("I'm allergic to peanuts. What a day!", "我住在上海。"):
            print("learnt:", client.post("/people/ana/said", json={"text": text}).json()["learnt"])
        asked = {"question": "Is she allergic to anything?"}
        print(client.get("/people/ana/prompt", params=asked).json()["prompt"])
        print("ben:", client.get("/people/ben/prompt", params=asked).json())


if __name__ == "__main__":
    main()
