"""control: what a person may decide about a space: memory on or off, incognito, limits. Each decision leaves an audit fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.engine import audit
from recollect.engine.forgetting.forget import scopes_of
from recollect.engine.remembering.drafts import checked_switch
from recollect.engine.remembering.screening import WHY, screened
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import Scope, SpaceSettings, checked_id
from recollect.model.scope import DATA
from recollect.policy.digest import session_digest
from recollect.policy.guard import checked_count, checked_labels
from recollect.policy.ids import new_id
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_DAYS = 36_500
_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "memory_enabled": lambda v: checked_switch(v, "memory_enabled"),
    "incognito_default": lambda v: checked_switch(v, "incognito_default"),
    "soft_cap": lambda v: checked_count(v, "soft_cap", 0, 10_000_000),
    "shared_tags": lambda v: checked_labels(v, "shared_tags"),
    "retention_days": lambda v: None if v is None else checked_count(v, "retention_days", 1, MOST_DAYS),
}


async def space_settings(engine: Engine, scope: Scope) -> SpaceSettings:
    return await engine.store.read(scope, lambda tx: tx.space.settings())


async def change_settings(engine: Engine, scope: Scope, changes: Mapping[str, Any]) -> SpaceSettings:
    for name in changes:
        if name not in _CHECKS:
            raise InvalidInput(f"a space has no setting {name!r}; there are {', '.join(_CHECKS)}")
    found = screened(changes, engine.config.screening)  # a tag of a memory is, and they are to be the same
    if found.refusal is not None:
        raise NotAllowed(WHY, reason="secret")
    values = {name: _CHECKS[name](value) for name, value in found.fields.items()}

    def work(tx: Tx) -> SpaceSettings:
        before = tx.space.settings()
        after = replace(before, **values)
        if after != before:
            tx.space.save_settings(after)
            changed = sorted(name for name in values if getattr(after, name) != getattr(before, name))
            switches = {name: values[name] for name in changed if isinstance(values[name], bool)}
            audit.record(tx, engine.occasion, engine.clock.now(), "settings.changed", fields=changed, **switches)
        return after

    def follow(tx: Tx) -> None:
        if tx.space.known():
            tx.space.save_settings(replace(tx.space.settings(), memory_enabled=after.memory_enabled))

    after = await engine.store.write(scope, work)
    if scope.data != scope and "memory_enabled" in values:
        await engine.store.write(scope.data, follow)  # what waits there to be embedded waits as well
    engine.wake()  # work may have been waiting for memory to be switched on again
    return after


async def start_incognito(engine: Engine, scope: Scope, session_id: str | None = None) -> str:
    """From now on this session reads and writes nothing durable. Without an id a new session begins."""
    session = new_id(engine.clock.now()) if session_id is None else checked_id(session_id, "session_id")
    await _declare(engine, scope, session, incognito=True)
    return session


async def end_incognito(engine: Engine, scope: Scope, session_id: str) -> None:
    await _declare(engine, scope, checked_id(session_id, "session_id"), incognito=False)


async def is_incognito(engine: Engine, scope: Scope, session_id: str) -> bool:
    session = session_digest(scope, session_id, engine.config.pepper)

    def work(tx: Tx) -> bool:
        declared = tx.space.incognito(session)
        return tx.space.settings().incognito_default if declared is None else declared

    return await engine.store.read(scope, work)


async def spaces(engine: Engine, tenant: str, user: str) -> Sequence[str]:
    """The spaces in which this user keeps anything."""
    found = await scopes_of(engine, tenant, user)
    return [scope.space for scope in found if not scope.space.startswith(DATA)]


async def _declare(engine: Engine, scope: Scope, session_id: str, *, incognito: bool) -> None:
    """Only what differs from the space's default is kept, and only as a digest: of a session that ended nothing remains but
    the two audit facts."""
    session = session_digest(scope, session_id, engine.config.pepper)

    def work(tx: Tx) -> None:
        default = tx.space.settings().incognito_default
        before = tx.space.incognito(session)
        at = engine.clock.now()
        tx.space.declare_incognito(session, None if incognito == default else incognito, at)
        if (default if before is None else before) != incognito:
            audit.record(tx, engine.occasion, at, "incognito.started" if incognito else "incognito.ended")

    await engine.store.write(scope, work)
