"""Output to a file that is there only when it is complete, and for its owner's eyes only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recollect.errors import InvalidInput


@contextmanager
def complete(path: Path) -> Iterator[BinaryIO]:
    """A file which takes its name when the block ends well; until then what was there before stays."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "wb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as problem:
        raise InvalidInput(f"can't write {path}: {problem.strerror}") from None
