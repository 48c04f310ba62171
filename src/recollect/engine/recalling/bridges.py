"""The bridges that come with the package, by the model they were made for: read when they are first needed.

`implied.npz` holds the one of the local pair; `implied.md` beside it says what it was made of, and how to make it anew.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np

from recollect.policy.native_bridge import Bridge

MADE_FOR = "use-m3+bge-small-en-v1.5-int8"


def bridge_of(model: str) -> Bridge | None:
    """By model name, whatever its version."""
    return _pair() if model.partition("/")[0] == MADE_FOR else None


@cache
def _pair() -> Bridge:
    with files(__package__).joinpath("implied.npz").open("rb") as file:
        kept = np.load(file, allow_pickle=False)
        return Bridge(kept["into"].astype(np.float32), kept["out"].astype(np.float32))
