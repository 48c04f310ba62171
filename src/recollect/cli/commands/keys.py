"""`recollect db keys`: keys that let programs in as a user. A secret is shown once, when it is made; the store has its hash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import uuid4

import typer

from recollect.bootstrap import open_store
from recollect.cli.options import Call, command
from recollect.cli.output import grid, pairs, plain, print_json, say, show, visible, when
from recollect.cli.wording import WordedGroup
from recollect.doors.http.auth.key_secrets import hash_of, new_secret
from recollect.errors import InvalidInput
from recollect.model import ApiKey, Scope, checked_id
from recollect.model.access import ROLES, Role
from recollect.ports import Store

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    cls=WordedGroup,
    help="Keys of the server's users: create, list, revoke.",
)
MOST_DAYS = 36_500

NameOption = Annotated[str, typer.Option("--name", help="What the key is for, in your words.", metavar="TEXT")]
RoleOption = Annotated[str, typer.Option("--role", help="`user`, or `admin` for provider settings and metrics.")]
DaysOption = Annotated[
    int | None, typer.Option("--days", min=1, max=MOST_DAYS, help="How long it works. Default: until revoked.")
]


def checked_role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(f"a role is {' or '.join(ROLES)}")


@asynccontextmanager
async def _opened(call: Call) -> AsyncIterator[Store]:
    store = await open_store(call.settings())
    try:
        yield store
    finally:
        await store.close()


@command(app)
async def create(call: Call, name: NameOption = "key", role: RoleOption = "user", days: DaysOption = None) -> None:
    """Make a key for the user (and tenant) that --user and --tenant name. Its secret is shown this once."""
    settings, now = call.settings(), datetime.now(UTC)
    whose = Scope(settings.tenant, settings.user, settings.space)
    secret = new_secret()
    key = ApiKey(
        id=str(uuid4()),
        name=checked_id(name, "a key's name"),
        tenant=whose.tenant,
        user=whose.user,
        role=checked_role(role),
        secret_hash=hash_of(secret),
        created_at=now,
        expires_at=now + timedelta(days=days) if days else None,
    )
    async with _opened(call) as store:
        await store.system(lambda system: system.add_key(key))
    if call.json:
        print_json({**_told(key), "secret": secret})
    else:
        show(pairs(_told(key)))
        say("The key, shown this once; send it as `Authorization: Bearer …`:")
        typer.echo(secret)


@command(app, "list")
async def list_keys(call: Call) -> None:
    """Show all keys, revoked and expired ones included, without their secrets."""
    async with _opened(call) as store:
        keys = await store.system(lambda system: system.keys())
    if call.json:
        print_json([_told(key) for key in keys])
    else:
        show(grid([(key.id, visible(_described(key))) for key in keys]) if keys else "there are no keys")


@command(app)
async def revoke(call: Call, id: Annotated[str, typer.Argument(help="The id of the key, as `list` shows it.")]) -> None:
    """Let a key in no more. Running servers take notice within seconds."""
    async with _opened(call) as store:
        await store.system(lambda system: system.revoke_key(id, datetime.now(UTC)))
    if call.json:
        print_json({"id": id, "revoked": True})
    else:
        show("revoked")


def _told(key: ApiKey) -> dict[str, object]:
    return {name: value for name, value in plain(key).items() if name != "secret_hash"}


def _described(key: ApiKey) -> str:
    states = {"revoked": key.revoked_at, "until": key.expires_at, "last used": key.last_used_at}
    words = [
        key.name,
        f"{key.tenant}/{key.user}",
        key.role,
        *(f"{word} {when(at)}" for word, at in states.items() if at),
    ]
    return " · ".join(words)
