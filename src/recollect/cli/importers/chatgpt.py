"""ChatGPT's data export: `conversations.json`, alone, in its folder, or in the zip as it was sent.

A conversation there is a tree, because questions can be asked anew and answers made again. What comes in is the branch that was
open last: from the current node back to the root. Hidden prompts, the model's thoughts and its calls to tools are left out;
what tools returned is kept beside the talk and never found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.cli.importers.pieces import Piece, Said, a_text, an_object, conversation, moment, stable
from recollect.cli.importers.talks import branch, read_talks

SOURCE = "chatgpt"
TALK = {"user", "assistant"}
SPOKEN = {"text", "multimodal_text"}
RETURNED = {"execution_output", "tether_quote", *SPOKEN}
IMAGE = "[image]"


def read(path: Path, most: int) -> Iterator[Piece]:
    return read_talks(path, "title", lambda talk: _lines(talk, most))


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
