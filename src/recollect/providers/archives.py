"""Archives: a folder, or any place `fsspec` can write to (`s3://…`, `gs://…`, `memory://…`).

Written whole, then put in its place, where the place is a folder: a file that is there is complete. Credentials are the storage
library's own business and come from its own environment.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from recollect.errors import Unavailable, Unsupported
from recollect.ports import Archive


def open_archive(url: str) -> Archive | None:
    """None where none is named."""
    if not url:
        return None
    if "://" not in url:
        return FolderArchive(Path(url).expanduser())
    try:
        import fsspec
    except ImportError as problem:
        raise Unsupported("an archive by address needs the package 'fsspec': install recollect[archive]") from problem
    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as problem:
        scheme = url.partition("://")[0]
        raise Unsupported(f"no archive can be opened at {scheme}:// here: {type(problem).__name__}") from problem
    return RemoteArchive(system, root)


class FolderArchive:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, path: str, data: bytes) -> None:
        try:
            await asyncio.to_thread(self._write, self._folder.joinpath(*path.split("/")), data)
        except OSError as problem:
            raise Unavailable(f"the archive can't be written: {type(problem).__name__}") from problem

    @staticmethod
    def _write(target: Path, data: bytes) -> None:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)


class RemoteArchive:
    """Over a file system of fsspec's. What goes wrong there has many names: every driver brings its own errors, all of which
    are `OSError` by its rules, or of the connection beneath it."""

    def __init__(self, system: Any, root: str) -> None:
        self._system, self._root = system, root.rstrip("/")

    async def put(self, path: str, data: bytes) -> None:
        try:
            await asyncio.to_thread(self._write, f"{self._root}/{path}", data)
        except (OSError, ValueError, RuntimeError) as problem:
            raise Unavailable(f"the archive can't be written: {type(problem).__name__}") from problem

    def _write(self, target: str, data: bytes) -> None:
        self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(target, data)
