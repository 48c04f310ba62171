"""What the server calls by name (audit facts, reasons, errors) the page says in words, in both tongues."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import recollect.engine
from recollect import errors
from recollect.errors import RecollectError
from recollect.model import CONCERNS, ForgetReceipt, Outcome, Refusal, Source
from recollect.policy import pii, secrets
from recollect.policy.health import REASONS
from recollect.policy.recipes import RECIPES
from tests.browser.test_craft import STATIC

DOTTED = re.compile(r"[a-z_]+\.[a-z_]+")


def test_what_the_server_calls_by_name_has_words_in_both_tongues() -> None:
    """A new audit fact, reason or error shows as its bare name on the page until it has words here."""
    wanted = {f"did.{action}" for action in actions()} | {f"why.{reason}" for reason in REASONS}
    ours = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, RecollectError)]
    wanted |= {f"error.{each.code}" for each in ours if each is not RecollectError}
    wanted |= {f"concern.{each}" for each in CONCERNS} | {f"reason.{each}" for each in get_args(Refusal)}
    wanted |= {f"cited.{each}" for each in (*(source.value for source in Source), "user", "assistant")}
    wanted |= {f"receipt.{each.name}" for each in fields(ForgetReceipt)}
    wanted |= {f"secret.{each}" for each in (*secrets.MARKERS, *pii.MARKERS)} | {f"recipe.{each}" for each in RECIPES}
    for tongue in ("en", "zh"):
        words = (STATIC / "words" / f"{tongue}.js").read_text()
        assert not {name for name in wanted if f"{json.dumps(name)}: " not in words}, tongue


def actions() -> set[str]:
    """What the engine writes into audit trails: dotted names anywhere, bare ones where a fact is recorded or noted."""
    found: set[str] = {f"memory.{outcome}" for outcome in get_args(Outcome)}
    for path in Path(recollect.engine.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            texts = [node] if isinstance(node, ast.Constant) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("audit.record", "audit.event", "note"):
                found |= {str(each.value) for each in node.args if isinstance(each, ast.Constant)}
            names = (each.value for each in texts if isinstance(each.value, str))
            found |= {name for name in names if DOTTED.fullmatch(name) and not name.startswith("recollect.")}
        found -= {each.name for each in path.parent.iterdir()}
    assert {"memory.forgotten", "imported", "exported", "incognito.started"} <= found
    return found
