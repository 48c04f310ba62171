"""Claude's data export: `conversations.json`, alone, in its folder, or in the zip as it was sent.

Messages come in their order or, where they name their parents and the conversation its last message, along that branch. Of the
blocks of a message its text is taken; the text that was read out of attached files follows under their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.cli.importers.pieces import Piece, Said, a_text, an_object, conversation, moment, stable
from recollect.cli.importers.talks import branch, read_talks
from recollect.errors import InvalidInput

SOURCE = "claude"
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def read(path: Path, most: int) -> Iterator[Piece]:
    return read_talks(path, "name", lambda talk: _lines(talk, most))


def _lines(talk: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    id = a_text(talk.get("uuid"), "uuid")
    told = talk.get("chat_messages")
    if not isinstance(told, list):
        raise InvalidInput("chat_messages must be a list")
    messages = [an_object(each, f"message {number}") for number, each in enumerate(told, start=1)]
    said = [_said(id, number, each) for number, each in enumerate(_followed(messages, talk), start=1)]
    title = talk.get("name")
    return conversation(
        stable(SOURCE, id), title if isinstance(title, str) else "", said, most, moment(talk.get("created_at"))
    )


def _followed(messages: list[Mapping[str, Any]], talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    last = talk.get("current_leaf_message_uuid")
    by_id = {str(each.get("uuid")): each for each in messages}
    if last not in by_id:
        return messages
    above = {name: each.get("parent_message_uuid") for name, each in by_id.items()}
    nodes = {name: {"parent": parent if parent in by_id else None} for name, parent in above.items()}
    return [by_id[name] for name in branch(nodes, last)]


def _said(id: str, number: int, message: Mapping[str, Any]) -> Said:
    name = message.get("uuid")
    sender = message.get("sender")
    role = ROLES.get(sender.lower()) if isinstance(sender, str) else None
    if role is None:
        raise InvalidInput(f"message {number}: sender must be human or assistant, not {str(sender)[:40]!r}")
    try:
        at = moment(message.get("created_at"))
    except InvalidInput as problem:
        raise InvalidInput(f"message {number}: {problem.message}") from None
    known = name if isinstance(name, str) and name else str(number)
    return Said(id=stable(SOURCE, id, known), role=role, text=_text(message), at=at)


def _text(message: Mapping[str, Any]) -> str:
    blocks = message.get("content")
    told = [each for each in blocks if isinstance(each, Mapping)] if isinstance(blocks, list) else []
    texts = [each["text"] for each in told if each.get("type") == "text" and isinstance(each.get("text"), str)]
    if not texts and isinstance(message.get("text"), str):
        texts = [message["text"]]
    return "\n\n".join([*filter(None, texts), *_attached(message)])


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    for each in [*(message.get("attachments") or ()), *(message.get("files") or ())]:
        if isinstance(each, Mapping):
            inside = each.get("extracted_content")
            name = f"[file: {each.get('file_name') or 'without a name'}]"
            yield f"{name}\n{inside}" if isinstance(inside, str) and inside else name
