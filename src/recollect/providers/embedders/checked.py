"""The one gate every vector passes, whoever made it.

A vector that is not finite, not of the right size or of length zero would poison an index silently:
cosine with it is undefined, and the damage shows weeks later as bad search results. So it is refused
here, with the reason in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Unavailable


def checked(vectors: Sequence[Any] | NDArray[Any], count: int, dimensions: int | None) -> NDArray[np.float32]:
    """`vectors` as `count` unit vectors of `dimensions` (None: any), or `Unavailable` saying why not."""
    if len(vectors) != count:
        raise Unavailable(f"the embedder returned {len(vectors)} vectors for {count} texts", expected=count)
    if count == 0:
        return np.empty((0, dimensions or 0), dtype=np.float32)
    try:
        # Double precision first: a value too large for float32 must be normalised, not turned into infinity.
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Unavailable("the embedder returned vectors that are not equally long lists of numbers") from None
    if rows.ndim != 2:
        raise Unavailable(f"the embedder returned an array of {rows.ndim} dimensions instead of a list of vectors")
    if dimensions is not None and rows.shape[1] != dimensions:
        raise Unavailable(
            f"the embedder returned vectors of {rows.shape[1]} dimensions instead of {dimensions}; "
            "a changed model needs a new embedding generation",
            expected=dimensions,
            got=rows.shape[1],
        )
    if not np.isfinite(rows).all():
        raise Unavailable("the embedder returned NaN or infinite values")
    # Scaling by the largest value first keeps the squares inside the range of a double.
    peaks = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    if not peaks.all():
        raise Unavailable("the embedder returned a vector of zeros, which points nowhere")
    rows = rows / peaks
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
