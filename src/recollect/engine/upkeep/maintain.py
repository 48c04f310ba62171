"""maintain: do what the planner of upkeep says, a batch at a time, and say what was done.

The plan is made from one snapshot and carried out later, so every step looks again: what was changed, pinned or forgotten in the
meantime is passed over. Where memory is switched off or may only be read nothing is archived or summarised; what has reached its
end goes all the same.

- Expired memories are removed as `forget` removes them, with all that was derived from them alone, but without a tombstone: what
  held for this week may be told again for the next.
- What the archive no longer keeps is removed by itself. A summary that was made of it stays: that is what it was made for.
- A conversation that has ended goes with its messages, their index entries and vectors. What was learnt from it stays and says
  that its source has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine.conversations import working
from recollect.engine.datachat.archiving import archived
from recollect.engine.embedding import elsewhere
from recollect.engine.forgetting.debts import scrubbed
from recollect.engine.upkeep import enrich, rollup
from recollect.engine.upkeep.archive import may_tidy
from recollect.engine.upkeep.steps import SESSIONS_FOR, Tally, carried_out, patience
from recollect.errors import RecollectError, Unavailable
from recollect.model import (
    Conversation,
    Listing,
    Memory,
    Plan,
    Scope,
    Source,
    SpaceSettings,
    Status,
    Step,
    Upkeep,
)
from recollect.model.scope import DATA
from recollect.policy import capacity
from recollect.policy.backoff import is_due
from recollect.ports import System, Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

AT_ONCE = 200
SCOPES_AT_ONCE = 100
IN_PASSING = 5000
"""Steps taken in the background before others get their turn, and before whoever wants to end has to wait no longer."""
EVERYTHING = 10_000_000
FIRST_LOOK = timedelta(minutes=1)

Progress = Callable[[int, int], None]
"""Called with how many steps are done, and how many there are."""


async def maintain(
    engine: Engine,
    scope: Scope,
    *,
    dry_run: bool = False,
    roll_up: bool = False,
    tags: bool = False,
    progress: Progress | None = None,
) -> Upkeep:
    plan = await planned(engine, scope)
    steps = [*plan.steps, *await working.planned(engine, scope)]
    if roll_up:
        steps += await rollup.planned(engine, scope, {step.id for step in steps})
    if tags:
        steps += await enrich.planned(engine, scope)
    plan = replace(plan, steps=tuple(steps))
    if dry_run:
        return Upkeep(scope=scope, plan=plan, dry_run=True)
    upkeep = await carry_out(engine, scope, plan, progress)
    await scrub(engine)
    return upkeep


async def scrub(engine: Engine) -> None:
    """What was removed goes out of the files as well, before anybody is told that it is done."""
    if engine.debts.scrub:
        await scrubbed(engine)


async def planned(engine: Engine, scope: Scope) -> Plan:
    """What the state of this very moment calls for."""
    now = engine.clock.now()
    rules = capacity.Rules(
        eviction_threshold=engine.config.eviction_threshold, archived_for=engine.config.archive_retention
    )

    def work(tx: Tx) -> Plan:
        settings = tx.space.settings()
        tidy = may_tidy(engine, settings)
        plan = capacity.plan(_survey(tx, settings, rules, now, tidy), settings, now, rules, tidy=tidy)
        talks = capacity.conversations_over(_conversations(tx), patience(engine, tx), now)
        rest = capacity.leftovers(tx.space.graves(now), tx.space.declared(now - SESSIONS_FOR), SESSIONS_FOR)
        return replace(plan, steps=(*plan.steps, *talks, *rest))

    return await engine.store.read(scope, work)


async def carry_out(engine: Engine, scope: Scope, plan: Plan, progress: Progress | None = None) -> Upkeep:
    if not plan.steps:
        return Upkeep(scope=scope, plan=plan)
    ready, ended = await elsewhere.ending(engine, scope, await archived(engine, scope, plan.steps))
    plan = replace(plan, steps=tuple(ready))
    generations = await engine.generations.to_fill()
    told = progress or _silent
    total = Tally()
    # Sessions end first: what a session was about is worth keeping even where its conversation goes in the same round.
    sessions = [step for step in plan.steps if step.action == "end_sessions"]
    apart = [step for step in plan.steps if step.action in _APART and step not in sessions]
    steps = [step for step in plan.steps if step.action not in _APART]
    for step in sessions:
        total.add(await _APART[step.action](engine, scope, step))
    if plan.scores:
        await engine.store.write(scope, lambda tx: tx.memories.rate(plan.scores) if tx.space.known() else None)
    for start in range(0, len(steps), AT_ONCE):
        batch = steps[start : start + AT_ONCE]
        total.add(await engine.store.write(scope, partial(carried_out, engine, batch, generations)))
        told(len(sessions) + min(start + AT_ONCE, len(steps)), len(plan.steps))
    for number, step in enumerate(apart, len(sessions) + len(steps) + 1):
        total.add(await _APART[step.action](engine, scope, step))
        told(number, len(plan.steps))
    await elsewhere.left(engine, scope, ended)
    _announce(engine, scope, total)
    return Upkeep(scope=scope, plan=plan, done=dict(total.done), passed_over=total.passed_over)


async def _summarise(engine: Engine, scope: Scope, step: Step) -> Tally:
    made = await rollup.roll_up(engine, scope, step.ids)
    return Tally(Counter(summarise=1)) if made else Tally(passed_over=1)


async def _end_sessions(engine: Engine, scope: Scope, step: Step) -> Tally:
    ended = (await working.clean(engine, scope)).removed
    return Tally(+Counter(end_sessions=ended), passed_over=max(0, step.count - ended))


async def _tag(engine: Engine, scope: Scope, step: Step) -> Tally:
    """Most are looked at and left as they are: that is no change that came in between."""
    return Tally(+Counter(tag=await enrich.propose_tags(engine, scope, step.count)))


_APART = {"summarise": _summarise, "end_sessions": _end_sessions, "tag": _tag}
"""Steps that take more than one transaction."""


def note_write(engine: Engine, scope: Scope, fields: Mapping[str, Any]) -> None:
    """Look at this scope later, if what was written may have been too much: what is handed over in person counts to no cap."""
    by_itself = fields.get("source") in (Source.INFERRED, Source.SYSTEM) or fields.get("source_conversation_id")
    if by_itself or engine.config.eviction_threshold:
        engine.debts.wrote.add(scope)


async def keep_within(engine: Engine, scope: Scope) -> None:
    """After writes: trim a space that has outgrown its cap. One count where it hasn't."""

    def outgrown(tx: Tx) -> bool:
        settings = tx.space.settings()
        return may_tidy(engine, settings) and bool(_over_cap(tx, settings) or _over_threshold(tx, engine))

    if await engine.store.read(scope, outgrown):
        plan = await planned(engine, scope)
        await carry_out(engine, scope, replace(plan, steps=plan.steps[:IN_PASSING]))
        if len(plan.steps) > IN_PASSING:
            engine.debts.wrote.add(scope)


async def settle(engine: Engine) -> None:
    """In the background: look after those who wrote, then go on with the round."""
    for _ in range(len(engine.debts.wrote)):
        await keep_within(engine, engine.debts.wrote.pop())
    await tend(engine)


async def tend(engine: Engine) -> None:
    """The periodic round: a page of scopes at each call, from the first to the last, then not again before it is time."""
    debts, now = engine.debts, engine.clock.now()
    if engine.config.cleanup_every is None:
        return
    if debts.tend_at is None:
        debts.tend_at = now + min(FIRST_LOOK, engine.config.cleanup_every)
    if not is_due(debts.tend_at, now, engine.config.cleanup_every):
        return
    start = debts.tended

    def page(system: System) -> Sequence[Scope]:
        return system.scopes(start, SCOPES_AT_ONCE)

    scopes = await engine.store.system(page)
    for scope in scopes:
        try:
            await carry_out(engine, scope, await planned(engine, scope))
        except Unavailable:
            raise  # for everybody, so all of them are tried again
        except RecollectError:
            # One that can't be tidied must not keep the others from it.
            tell_failed(engine, scope)
    whole = len(scopes) < SCOPES_AT_ONCE
    debts.tended = None if whole else scopes[-1]
    debts.tend_at = now + engine.config.cleanup_every if whole else debts.tend_at


def tell_failed(engine: Engine, scope: Scope) -> None:
    """That this scope could not be looked after is counted: what should be gone from it is still there."""
    engine.heard("data_cleanup" if scope.space.startswith(DATA) else "upkeep_failed", {"outcome": "failed", "count": 1})


def _announce(engine: Engine, scope: Scope, tally: Tally) -> None:
    for action, count in tally.done.items():
        engine.heard("upkeep", {"action": action, "count": count})
    if tally.guarded:
        engine.heard("trim_guarded", {"count": tally.guarded})
    if scope.space.startswith(DATA) and tally.done["drop_conversation"]:
        engine.heard("data_cleanup", {"outcome": "removed", "count": tally.done["drop_conversation"]})
    if tally.done.keys() & {"expire", "remove", "drop_conversation"}:
        engine.shelves.discard(scope)
        engine.debts.scrub = True


def _silent(_: int, __: int) -> None:
    pass


def _survey(tx: Tx, settings: SpaceSettings, rules: capacity.Rules, now: datetime, tidy: bool) -> Iterable[Memory]:
    """Every memory that some rule could touch, and no others: most spaces hold none, and are not read for it."""
    wanted = [Listing(statuses=(), expired_at=now, limit=EVERYTHING)]
    if rules.archived_for is not None:
        # Nothing is archived before it is there; when exactly, the planner sees.
        since = now - rules.archived_for + timedelta(microseconds=1)
        wanted.append(Listing(statuses=(Status.ARCHIVED,), until=since, limit=EVERYTHING))
    threshold = rules.eviction_threshold
    if tidy and threshold and tx.memories.list(Listing(limit=1)).total > threshold:
        wanted.append(Listing(limit=EVERYTHING))
    elif tidy and _over_cap(tx, settings):
        wanted.append(Listing(captured=True, limit=EVERYTHING))
    return {memory.id: memory for listing in wanted for memory in tx.memories.list(listing)}.values()


def _over_cap(tx: Tx, settings: SpaceSettings) -> bool:
    cap = settings.soft_cap
    return bool(cap) and tx.memories.list(Listing(captured=True, limit=1)).total > cap


def _over_threshold(tx: Tx, engine: Engine) -> bool:
    threshold = engine.config.eviction_threshold
    return bool(threshold) and tx.memories.list(Listing(limit=1)).total > (threshold or 0)


def _conversations(tx: Tx) -> Iterable[Conversation]:
    after: str | None = None
    while page := tx.conversations.scan(after, AT_ONCE):
        yield from page
        after = page[-1].id
