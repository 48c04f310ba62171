"""Model files, found by name and proven by hash.

A folder the operator names comes first, then a package that is installed and carries the files. Nothing is
downloaded. Looking for files is cheap and happens at every start; the hash is taken when they are loaded, so
that a vector never comes from weights other than those its model's name stands for.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from recollect.errors import Unavailable


@dataclass(frozen=True, slots=True)
class ModelFile:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The files of one model, and where they may be."""

    folder: str
    """Inside the operator's models folder."""
    carrier: str
    """A package that brings them along."""
    carried_in: str
    files: tuple[ModelFile, ...]

    def find(self, models_dir: Path | None) -> Path | None:
        """The first place that has all the files in the right size."""
        for place in self._places(models_dir):
            if all(_size(place / file.name) == file.size for file in self.files):
                return place
        return None

    def load(self, place: Path) -> tuple[bytes, ...]:
        """The contents in the order of `files`; `Unavailable` if one is not what it is taken for."""
        return tuple(_proven(place / file.name, file.sha256) for file in self.files)

    def _places(self, models_dir: Path | None) -> list[Path]:
        places = [] if models_dir is None else [models_dir / self.folder]
        # Finding a package does not import it, and this one's import would bring a lot along.
        spec = find_spec(self.carrier)
        if spec is not None and spec.submodule_search_locations:
            places += [Path(root) / self.carried_in for root in spec.submodule_search_locations]
        return places


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _proven(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError:
        raise Unavailable(f"the model file {path.name} cannot be read") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Unavailable(f"the model file {path.name} is damaged or of another version; install it anew")
    return content
