"""Words that some models were trained to see before a query or a document.

Leaving them out costs these models a good part of their accuracy, and no wire format carries them, so
they are added here by model name. A model that is not listed gets the plain text.
"""

from __future__ import annotations

_BGE_QUERY = "Represent this sentence for searching relevant passages: "

# (how the model's own name begins, before a query, before a document)
_PROMPTS: tuple[tuple[str, str, str], ...] = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed-large", _BGE_QUERY, ""),
    ("bge-small-en", _BGE_QUERY, ""),
    ("bge-base-en", _BGE_QUERY, ""),
    ("bge-large-en", _BGE_QUERY, ""),
    ("e5-", "query: ", "passage: "),
    ("multilingual-e5-", "query: ", "passage: "),
)


def prompt(model: str, *, query: bool) -> str:
    """What goes before each text. The name may carry an owner (`owner/name`) or a tag (`name:v1.5`)."""
    own = model.lower().replace("\\", "/").rsplit("/", 1)[-1]
    for name, before_query, before_document in _PROMPTS:
        if own.startswith(name):
            return before_query if query else before_document
    return ""
