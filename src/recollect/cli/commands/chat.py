"""`recollect chat`: talk to the memory in a terminal, with a model where one is configured.

Each reply is followed by the memories it used. What begins with a slash is for the terminal; orders to the memory are said in
plain words, as through every door.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from recollect.cli.group import UNAVAILABLE
from recollect.cli.opening import Opened, opened
from recollect.cli.options import Call, command
from recollect.cli.output import print_json, say, visible
from recollect.engine.chatting.talks import Talk
from recollect.errors import RecollectError
from recollect.model.talk import Cited, Done, Failed, Remembered, Said, Started
from recollect.policy.grounding import source_of
from recollect.policy.ids import new_id

app = typer.Typer(add_completion=False)
PROMPT = "you> "
HELP = """\
/new         begin a new conversation
/session     which conversation this is; `--session` goes on with it later
/memories    on or off: show the memories each reply used
/help        this list
/quit        leave (or press Ctrl-D)
In plain words, English or Chinese: what do you remember about …? · remember that … · forget that · pin this ·
why do you think that? · turn memory off/on · start/stop incognito · undo"""


@command(app)
async def chat(
    call: Call,
    once: Annotated[str | None, typer.Option("--once", metavar="TEXT", help="Say this, print the reply, end.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Go on with this conversation.")
    ] = None,
    show_memories: Annotated[bool, typer.Option("--memories/--no-memories", help="Show what was recalled.")] = True,
) -> None:
    """Talk to an assistant that remembers. Without a chat model it answers from memory alone and says so."""
    async with opened(call) as here:
        talking = Talking(here, session or new_id(here.engine.clock.now()), show_memories)
        if once is not None:
            await talking.once(once, as_json=call.json)
        else:
            await talking.go_on(_asked)
        await here.engine.talks.settle()
        await here.settle(5.0)


def _asked() -> str | None:
    """The next line; a file or a pipe is not asked for it, so that what comes out are the replies alone."""
    try:
        return input(PROMPT if sys.stdin.isatty() else "")
    except EOFError:
        return None


class Talking:
    def __init__(self, here: Opened, session: str, show_memories: bool) -> None:
        self._here, self._session, self._shows = here, session, show_memories

    async def once(self, text: str, *, as_json: bool) -> None:
        talk = await self._begin(text)
        if not as_json:
            await self._follow(talk)
        reply = await talk.whole()
        if as_json:
            print_json(reply)
        if reply.done is None:
            raise typer.Exit(UNAVAILABLE)

    async def go_on(self, asked: Callable[[], str | None]) -> None:
        model = self._here.engine.chat
        say(f"with {model.model}" if model else "no chat model is configured: answers come from memory alone")
        say("/help lists what can be said")
        while (text := await asyncio.to_thread(asked)) is not None:
            if text.strip().startswith("/"):
                if not self._told(text.strip().lower()):
                    return
            elif text.strip():
                await self._turn(text)

    async def _turn(self, text: str) -> None:
        try:
            await self._follow(await self._begin(text))
        except RecollectError as problem:
            say(f"error: {problem.message}")

    async def _begin(self, text: str) -> Talk:
        return await self._here.engine.converse(self._here.scope, text, session_id=self._session)

    def _told(self, order: str) -> bool:
        """What a slash order does; False when it is time to leave."""
        if order in ("/quit", "/exit", "/q"):
            return False
        if order == "/new":
            self._session = new_id(self._here.engine.clock.now())
            say("a new conversation")
        elif order == "/session":
            say(self._session)
        elif order == "/memories":
            self._shows = not self._shows
            say(f"memories are {'shown' if self._shows else 'not shown'}")
        else:
            say(HELP)
        return True

    async def _follow(self, talk: Talk) -> None:
        used: tuple[Cited, ...] = ()
        async for event in talk:
            match event:
                case Started() if event.reason is not None:
                    say(f"({event.reason.replace('_', ' ')}: nothing of this is kept)")
                case Remembered():
                    used = event.used
                    if event.error:
                        say("(memory could not be read)")
                case Said():
                    typer.echo(visible(event.text), nl=False)
                case Failed():
                    say(f"\nerror: {event.message}; `recollect doctor` looks into it")
                case Done():
                    typer.echo()
                    # An order's reply lists what it concerns, and so does one from memory alone.
                    if self._shows and event.model is not None:
                        _show(used, event.cited)


def _show(used: tuple[Cited, ...], cited: tuple[str, ...]) -> None:
    for each in used:
        mark = "*" if each.reference in cited else " "
        words = " ".join(visible(each.content).split())
        say(f" {mark}[{each.reference}] {source_of(each)}: {words[:160]}")
