"""The server dies between a removal and the cleaning of its files: it is removed, that is what is told, and the rest is owed."""

from __future__ import annotations

from pathlib import Path

from recollect.model import Scope
from tests.api.homes import postgres_home
from tests.faults.rig import rigged
from tests.services.postgres import Database
from tests.services.valkey import ValkeyServer

ANA = Scope("default", "ana")


async def test_what_is_removed_is_not_reported_as_there(
    tmp_path: Path, faults_database: Database, valkey: ValkeyServer
) -> None:
    home = postgres_home(tmp_path, faults_database)
    async with rigged(home, "postgres", valkey) as rig:
        await rig.open()
        engine = rig.engine
        receipt = await engine.remember(ANA, {"content": "the safe is behind the mirror"})
        rig.proxies["postgres"].cut_on(b"VACUUM")
        gone = await engine.forget(ANA, [receipt.id])
        assert rig.proxies["postgres"].cuts.is_set()
        assert (gone.memories, gone.scrubbed) == (1, False)
        assert home.count("SELECT count(*) FROM memories") == 0
        assert engine.debts.scrub, "the files are owed"
        rig.proxies["postgres"].heal()
        await engine.settle_debts(at_once=True)
        assert not engine.debts.scrub
