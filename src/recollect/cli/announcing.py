"""What a server says when it is there: where to click, what it serves, and what its owner should know.

Everything goes to stderr, the address first: programs that start a server look for it there.
"""

from __future__ import annotations

from pathlib import Path

from recollect.bootstrap import sqlite_path
from recollect.cli.demo.home import Furnished
from recollect.cli.output import say, when
from recollect.doors.http.auth.local import is_loopback
from recollect.settings import Settings
from recollect.stores.sqlite.connection import MEMORY

MCP = "mcp"


def say_where(settings: Settings, host: str, port: int, *, speaks_mcp: bool) -> None:
    name = f"[{host.strip('[]')}]" if ":" in host else host
    address = f"http://{name}:{port}/"
    say(f"Recollect is at {address} (Ctrl-C ends it)")
    rows = {
        "page": address,
        "API": f"{address}docs",
        "MCP": f"{address}{MCP}" if speaks_mcp else "needs the package 'mcp': install recollect[mcp]",
        "memory": _memory(settings),
    }
    for what, where in rows.items():
        say(f"  {what:8}{where}")
    for remark in remarks(settings, host):
        say(remark)


def say_demo(settings: Settings, demo: Furnished) -> None:
    if demo.fresh:
        say("A week of made-up conversations, in English and Chinese, is there to look at.")
    else:
        say(f"The demo, whose week began on {when(demo.since)}, is still there, with whatever was changed since.")
    elsewhere = sqlite_path(settings) != str(settings.data_dir / "demo.db")
    say(f"It is apart from everybody's own; `recollect demo remove{' --store …' if elsewhere else ''}` takes it away.")


def remarks(settings: Settings, host: str) -> list[str]:
    """What an owner would want to be told before it is found out."""
    found = []
    if settings.jwt_jwks_url and not settings.jwt_audience:
        found.append(
            "Tokens that were made for others are accepted, too: RECOLLECT_JWT_AUDIENCE says which are meant for us."
        )
    if settings.denodo_url and settings.data_permissions == "off":
        found.append(
            "Earlier answers are shown whatever Denodo lets their owner see by now: RECOLLECT_DATA_PERMISSIONS changes that."
        )
    if not is_loopback(host):
        found.append(
            f"Callers are known by {settings.user_id_source}; nothing is encrypted here, so put TLS in front of it."
        )
    return found


def _memory(settings: Settings) -> str:
    """Which store, without the password that may stand in its address, and whose it is where nobody is asked."""
    path = sqlite_path(settings)
    if path == MEMORY:
        where = "in this process, gone with it"
    elif path is not None:
        where = str(Path(path).absolute())
    else:
        where = "Postgres"
    return f"{where}, of the user {settings.user!r}" if settings.user_id_source == "local" else where
