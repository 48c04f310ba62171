"""ChatGPT's data export: `conversations.json`, alone, in its folder, or in the zip as it was sent.

A conversation there is a tree, because questions can be asked anew and answers made again. What comes in is the branch that was
open last: from the current node back to the root. Hidden prompts, the model's thoughts and its calls to tools are left out;
what tools returned is kept beside the talk and never found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.cli.importers.files import documents
from recollect.cli.importers.pieces import (
    Piece,
    Said,
    a_text,
    an_object,
    conversation,
    moment,
    name_of,
    placed,
    stable,
)
from recollect.errors import InvalidInput

SOURCE = "chatgpt"
TALK = {"user", "assistant"}
SPOKEN = {"text", "multimodal_text"}
RETURNED = {"execution_output", "tether_quote", *SPOKEN}
IMAGE = "[image]"


def read(path: Path, most: int) -> Iterator[Piece]:
    for name, told in documents(path, "conversations"):
        talks = told if isinstance(told, list) else [told]
        for number, talk in enumerate(talks, start=1):
            title = talk.get("title") if isinstance(talk, Mapping) else None
            where = f"{name}, conversation {number} {name_of(title)}"
            try:
                yield Piece(where=where, lines=_lines(an_object(talk, "a conversation"), most))
            except InvalidInput as problem:
                raise placed(where, problem) from None


def _lines(talk: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    id = a_text(talk.get("conversation_id") or talk.get("id"), "its id")
    nodes = an_object(talk.get("mapping"), "mapping")
    said = [
        each for node in branch(nodes, talk.get("current_node")) if (each := _said(id, node, nodes[node])) is not None
    ]
    title = talk.get("title")
    return conversation(
        stable(SOURCE, id), title if isinstance(title, str) else "", said, most, moment(talk.get("create_time"))
    )


def branch(nodes: Mapping[str, Any], current: object) -> list[str]:
    """The names of the nodes from the root to the current one, or to the one that was made last where none is current."""
    here = current if isinstance(current, str) and current in nodes else _latest(nodes)
    walked: dict[str, None] = {}
    while here is not None:
        if here in walked:
            raise InvalidInput(f"mapping goes round in a circle at {here!r}")
        walked[here] = None
        above = an_object(nodes[here], f"mapping[{here!r}]").get("parent")
        if above is not None and above not in nodes:
            raise InvalidInput(f"mapping names a parent that is not in it: {above!r}")
        here = above
    return [*walked][::-1]


def _latest(nodes: Mapping[str, Any]) -> str | None:
    ends = [name for name, node in nodes.items() if not an_object(node, f"mapping[{name!r}]").get("children")]
    return max(ends, key=lambda name: (_made(nodes[name]), name), default=None)


def _made(node: Mapping[str, Any]) -> float:
    made = (node.get("message") or {}).get("create_time")
    return float(made) if isinstance(made, int | float) else 0.0


def _said(id: str, name: str, node: Mapping[str, Any]) -> Said | None:
    message = node.get("message")
    if message is None:
        return None
    message = an_object(message, f"mapping[{name!r}].message")
    role = (message.get("author") or {}).get("role")
    content = message.get("content") or {}
    kind = content.get("content_type", "text")
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    addressed = message.get("recipient", "all") == "all"
    spoken = role in TALK and kind in SPOKEN and addressed
    if hidden or not (spoken or (role == "tool" and kind in RETURNED)):
        return None
    at = moment(message.get("create_time"))
    return Said(id=stable(SOURCE, id, name), role=str(role), text=_text(content), at=at, found=spoken)


def _text(content: Mapping[str, Any]) -> str:
    told = content.get("parts")
    if not isinstance(told, list):
        return content["text"] if isinstance(content.get("text"), str) else ""
    return "\n".join(filter(None, map(_part, told)))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    if isinstance(part.get("text"), str):  # what was spoken, written down
        return str(part["text"])
    return IMAGE if part.get("content_type") == "image_asset_pointer" else ""
