"""What an engine owes to its store and may put off: the answer goes first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recollect.engine.bounded import LatestSet
from recollect.engine.forgetting.scrubs import Scrubs
from recollect.errors import RecollectError
from recollect.model import ForgetReceipt, Scope
from recollect.policy.backoff import is_due
from recollect.ports import Capability

if TYPE_CHECKING:
    from recollect.engine import Engine

SCRUB_EVERY = timedelta(seconds=30)
"""What nobody waits for is cleaned up after together: others may be held up by it."""
MOST_SCOPES = 10_000
"""Those beyond it are looked after by the periodic round, which leaves out nobody."""


@dataclass
class Debts:
    """One for all views of an engine."""

    scrub: bool = False
    """Something was removed or corrected here: its words are out of every index, but not yet out of the files. The store has that
    in writing, for whoever comes next; this one need not wait to be found."""
    scrubbed_at: datetime | None = None
    settled_at: datetime | None = None
    wrote: LatestSet[Scope] = field(default_factory=lambda: LatestSet(MOST_SCOPES))
    """Scopes that were written to and may have outgrown their cap."""
    disputed: LatestSet[Scope] = field(default_factory=lambda: LatestSet(MOST_SCOPES))
    """Scopes with memories that may not both be true, for a reviewer to look at."""
    asked: dict[tuple[Scope, str, str], None] = field(default_factory=dict)
    """Which pairs of memories a reviewer was asked about already, the oldest first."""
    answered: bool = False
    """Whether a question was embedded here before. The first waits for the model to load, and so may what it asks for."""
    scrubs: Scrubs = field(default_factory=Scrubs)
    clean_at: datetime | None = None
    """When files that take long to clean are tried again, after they could not be."""
    tend_at: datetime | None = None
    """When everybody's memory is to be tidied up next, and how far that has come."""
    tended: Scope | None = None


async def scrubbed(engine: Engine) -> bool:
    """Whether what was removed is out of the files as well.

    It is gone for good before this begins, so a store that fails now makes no failure of it: whoever forgot something and was
    told that it failed would believe it to be there. The files are owed instead.
    """
    debts, owed = engine.debts, True
    debts.scrub, debts.scrubbed_at = False, engine.clock.now()
    try:
        done = await debts.scrubs.shared(engine.store.scrub)
        owed = False
        return done
    except RecollectError:
        return False
    finally:
        debts.scrub = debts.scrub or owed


async def scrub_in_passing(engine: Engine) -> None:
    """Clean up after what was corrected here, if that isn't but a moment ago."""
    last = engine.debts.scrubbed_at
    if engine.debts.scrub and (last is None or is_due(last + SCRUB_EVERY, engine.clock.now(), SCRUB_EVERY)):
        await scrubbed(engine)


async def with_files(engine: Engine, receipt: ForgetReceipt) -> ForgetReceipt:
    """The receipt with what became of the files. What isn't done yet is written down in the store, if anybody can do it."""
    done = await scrubbed(engine)
    return replace(receipt, scrubbed=done, scrub_owed=not done and Capability.SCRUBS in engine.store.capabilities)


async def settle_files(engine: Engine) -> bool:
    """Do what any process still owes to the files; whether there was anything. What takes long is gathered for a while first,
    so that those who forget one after another don't have everything cleaned for each of them."""
    since = await engine.store.system(lambda system: system.scrub_owed())
    if since is None:
        return False
    after, now, debts = engine.config.scrub_after, engine.clock.now(), engine.debts
    however_long = is_due(since + after, now, after) and is_due(debts.clean_at, now, after)
    if not await engine.store.scrub(however_long=however_long) and however_long:
        debts.clean_at = now + after
    return True
