"""What other memories and assistants have kept, as lines that this one takes in.

Each reader turns one kind of file or folder into pieces: a memory, or a conversation with its messages, with the times they had,
ids that are the same every time, and a name for the place, so that what is wrong can be found. Nothing here is stored; nothing is
sent anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from recollect.cli.importers import chatgpt, chroma, claude, langgraph, mem0
from recollect.cli.importers.pieces import Piece

__all__ = ["READERS", "Piece"]

READERS: Mapping[str, Callable[[Path, int], Iterator[Piece]]] = {
    "mem0": mem0.read,
    "chroma": chroma.read,
    "mempalace": chroma.read_palace,
    "langgraph": langgraph.read,
    "chatgpt": chatgpt.read,
    "claude": claude.read,
}
"""By the name that `--from` takes: a path, and how many bytes one text may have."""
