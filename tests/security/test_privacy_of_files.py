"""The files of a memory are its owner's: nobody else on the machine may read, list or enter them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Memory


@pytest.fixture(params=[0o022, 0o000], ids=["usual mask", "no mask"])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    """However careless the account's defaults are."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in (folder, *folder.rglob("*"))}


@pytest.mark.usefixtures("mask")
def test_the_data_folder_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Memory(user="ana", data_dir=folder, embedder="off") as memory:
        receipt = memory.add("the safe is behind the mirror")
        memory.search("safe")
        found = modes(folder)
        assert found.pop("data") == 0o700
        assert {"recollect.db", "recollect.db-wal", "recollect.db-shm"} <= found.keys()
        assert set(found.values()) == {0o600}
        memory.forget(receipt.id or "")
    assert set(modes(folder).values()) == {0o700, 0o600}


@pytest.mark.usefixtures("mask")
def test_a_database_in_a_shared_folder_is_still_private(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    with Memory(str(shared / "mine.db"), user="ana", embedder="off") as memory:
        memory.add("the safe is behind the mirror")
        assert {mode for name, mode in modes(shared).items() if name != "shared"} == {0o600}
