"""health: look through a whole memory and say what is wrong; mend: do about it what can be done without asking.

Every cure is a verb that exists already. Copies and what nobody uses are archived, from where they can be restored; what has
expired is removed; what has no embedding is queued again. What needs a judgement (contradictions, near duplicates) or a better
text (oversized) is for its owner to decide, and is only shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from recollect.engine.boundary import require_writable, unseen
from recollect.engine.browse import note
from recollect.engine.embedding import embed
from recollect.engine.upkeep import maintain
from recollect.errors import InvalidInput
from recollect.model import (
    CONCERNS,
    Action,
    EmbeddingState,
    Finding,
    Flag,
    Generation,
    Health,
    Memory,
    Plan,
    Scope,
    Status,
    Step,
    Target,
    Upkeep,
)
from recollect.policy.health import examined, finding
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

PAGE = 500
MOST_FLAGS = 10_000
CURES: Mapping[str, Action] = {
    "duplicates": "archive",
    "expired": "expire",
    "stale": "archive",
    "never_used": "archive",
    "unembedded": "embed",
    "failed": "embed",
}


async def health(engine: Engine, scope: Scope) -> Health:
    if await engine.store.read(scope, lambda tx: unseen(tx, engine)):
        return Health(scope=scope, memories=0)
    report, _ = await _looked_through(engine, scope)
    note(engine, scope, "memory.examined", count=len(report.findings))
    return report


async def mend(
    engine: Engine,
    scope: Scope,
    concerns: Sequence[str],
    *,
    dry_run: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Upkeep:
    """Cure what is found of these concerns; by default only say how."""
    for concern in concerns:
        if concern not in CURES:
            known = "there is no cure but a decision of yours" if concern in CONCERNS else "there is no such concern"
            raise InvalidInput(f"{known}: {concern!r}; what can be mended is {', '.join(CURES)}")
    report, memories = await _looked_through(engine, scope)
    plan = Plan(steps=tuple(_steps([each for each in report.findings if each.concern in concerns], memories)))
    if dry_run:
        return Upkeep(scope=scope, plan=plan, dry_run=True)
    await engine.store.read(scope, lambda tx: require_writable(tx, engine))
    done = await maintain.carry_out(engine, scope, plan, progress)
    if any(step.action == "embed" for step in plan.steps):
        await embed.flush(engine, scope)
    await maintain.scrub(engine)
    return done


async def _looked_through(engine: Engine, scope: Scope) -> tuple[Health, dict[str, Memory]]:
    serving = await engine.generations.serving()
    memories: dict[str, Memory] = {}
    unmade: list[Finding] = []
    after: str | None = None
    while True:
        start = after
        page = await engine.store.read(scope, lambda tx, start=start: tx.memories.scan(start, PAGE))  # type: ignore[misc]
        active = {each.id: each for each in page if each.status is Status.ACTIVE and each.deleted_at is None}
        memories |= active
        if serving is not None:
            unmade += await engine.store.read(scope, partial(_unmade, serving, tuple(active)))
        if len(page) < PAGE:
            break
        after = page[-1].id
    flags: Iterable[Flag] = await engine.store.read(scope, lambda tx: tx.links.all_flags(MOST_FLAGS))
    # On a thread: with many memories it takes a while, and others are waiting.
    found = await asyncio.to_thread(examined, list(memories.values()), flags, engine.clock.now())
    findings = (*found, *unmade)
    return Health(scope=scope, memories=len(memories), findings=findings), memories


def _unmade(serving: Generation, ids: Sequence[str], tx: Tx) -> list[Finding]:
    """Memories without a vector in the generation that serves: found by their words alone."""
    targets = [Target("memory", id) for id in ids]
    known = tx.embeddings.status(targets, serving.id)
    findings = []
    for target in targets:
        status = known.get(target)
        if status is None or status.state is EmbeddingState.PENDING:
            findings.append(finding("unembedded", [target.id], "waiting" if status else "unqueued"))
        elif status.state is EmbeddingState.ERROR:
            facts = {"attempts": status.attempts, "error": status.error or "no reason given"}
            findings.append(finding("failed", [target.id], "gave_up", **facts))
    return findings


def _steps(findings: Iterable[Finding], memories: Mapping[str, Memory]) -> Iterable[Step]:
    """One step a memory: the first cure that is found for it."""
    taken: set[str] = set()
    for found in findings:
        action = CURES[found.concern]
        for id in found.ids[1:] if found.concern == "duplicates" else found.ids:
            memory = memories[id]
            if id not in taken and not (action == "archive" and memory.kept):
                taken.add(id)
                yield Step(action=action, id=id, why=f"{found.concern}: {found.why}", seen=memory.updated_at)
