"""Archives: whole files in a folder, or wherever fsspec can write."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from recollect.errors import Unavailable, Unsupported
from recollect.providers.archives import open_archive


def files_in(folder: Path) -> dict[str, bytes]:
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


async def test_a_folder_holds_whole_files(tmp_path: Path) -> None:
    archive = open_archive(str(tmp_path / "put away"))
    assert archive is not None
    for data in (b"first", b"second"):
        await archive.put("acme/ana/2026-11-20/talk.json.gz", data)
    assert files_in(tmp_path) == {"put away/acme/ana/2026-11-20/talk.json.gz": b"second"}


async def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    archive = open_archive(str(tmp_path / "taken"))
    assert archive is not None
    with pytest.raises(Unavailable, match="archive"):
        await archive.put("a/b", b"")


async def test_an_address_is_written_through_fsspec() -> None:
    archive = open_archive("memory://put-away/here/")
    assert archive is not None
    await archive.put("acme/ana/talk.json.gz", b"kept")
    assert fsspec.filesystem("memory").cat("/put-away/here/acme/ana/talk.json.gz") == b"kept"


def test_nowhere_and_nowhere_known() -> None:
    assert open_archive("") is None
    with pytest.raises(Unsupported, match="nosuch"):
        open_archive("nosuch://bucket")
