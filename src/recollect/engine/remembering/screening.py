"""What a text has to pass before anything of it is stored: control characters, secrets, personal details, orders to a model.

Every verb that writes calls `screened` on the fields as its caller gave them, before they are checked and converted: a theme
that has become an identifier no longer shows the key it was made from. What isn't text is left for those checks to refuse.

- Control characters are taken out; those that part lines become a line break. Tab, line feed and carriage return stay, and so
  does NUL, which is refused by name.
- Secrets are masked, or the memory is refused, or they are kept, as the rules say. What was said in a conversation is never lost:
  a message is masked where a memory would be refused.
- Personal details are masked where the rules say so.
- A text that reads like instructions to a model is kept, with a warning: it is shown as data everywhere, but its owner may
  want to know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from recollect.errors import InvalidInput
from recollect.model import Refusal
from recollect.policy import pii, secrets
from recollect.policy.guard import checked_text, checked_value, cleaned
from recollect.policy.injection import is_suspicious

WHY = "this holds a secret such as a password or a key, and secrets are not kept here (RECOLLECT_SECRETS)"
TEXTS = (
    *("content", "title", "summary", "description", "display_name", "name"),
    *("sql_query", "query_explanation", "searchable"),
)
LABELS = ("key", "theme", "slug")
LISTS = ("tags", "source_ids", "shared_tags")
VALUES = ("value", "execution_result")
DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Rules:
    secrets: Literal["mask", "refuse", "keep"] = "mask"
    pii: Literal["keep", "mask"] = "keep"

    @property
    def lenient(self) -> Rules:
        """The same rules for what must not get lost: masked where they would refuse."""
        return replace(self, secrets="mask") if self.secrets == "refuse" else self


@dataclass(frozen=True, slots=True)
class Screened:
    """The fields as they may be stored, and what was done to them. With a `refusal` nothing of them may be."""

    fields: Mapping[str, Any]
    masked: tuple[str, ...] = ()
    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()


LONGEST_AT_ONCE = 20_000
LONGEST_WORD = 15


async def screened_aside(values: Mapping[str, Any], rules: Rules, max_bytes: int) -> Screened:
    """`screened`, for a caller that others wait behind: what is too large is refused first, what is long read on a thread."""
    return (await all_screened_aside([values], rules, max_bytes))[0]


async def all_screened_aside(many: Sequence[Mapping[str, Any]], rules: Rules, max_bytes: int) -> list[Screened]:
    """The same for many: what is short by itself may be long together."""
    for values in many:
        content = values.get("content")
        if isinstance(content, str) and len(content) > LONGEST_AT_ONCE:
            checked_text(content, "content", max_bytes)
        checked_value(values.get("value"))

    def work() -> list[Screened]:
        return [screened(values, rules) for values in many]

    return await asyncio.to_thread(work) if is_long([*many]) else work()


def is_long(value: Any) -> bool:
    """Whether there is more text in it, on whatever level, than should be read at once."""
    left, waiting = LONGEST_AT_ONCE, [value]
    while waiting and left >= 0:
        each = waiting.pop()
        left -= len(each) if isinstance(each, str) else 16
        if isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
    return left < 0


def screened(values: Mapping[str, Any], rules: Rules) -> Screened:
    """The fields of a memory, a turn or a line of an export, screened by the rules."""
    screen = _Screen(rules)
    kept = {name: screen.field(name, value) for name, value in values.items()}
    kept |= screen.named(kept)
    if screen.secret:
        return Screened(kept, refusal="secret")
    return Screened(kept, tuple(sorted(screen.kinds)), None, ("injection",) if screen.suspicious else ())


@dataclass(slots=True)
class _Screen:
    """One set of fields on its way through, and what was found in it so far."""

    rules: Rules
    kinds: set[str] = field(default_factory=set)
    secret: bool = False
    suspicious: bool = False

    def field(self, name: str, value: Any) -> Any:
        if name in VALUES:
            return self.value(value)
        if isinstance(value, str) and (name in TEXTS or name in LABELS):
            return self.text(value)
        if name in LISTS and isinstance(value, list | tuple):
            return [self.text(each) if isinstance(each, str) else each for each in value]
        return value

    def text(self, text: str) -> str:
        if len(text) <= LONGEST_WORD and text.isascii() and text.isalpha():
            return text  # most tags: one word can't tell a secret or give an order
        text = cleaned(text)
        if self.rules.secrets != "keep":
            masked, kinds = secrets.masked(text)
            if kinds:
                text = self._without_secret(masked, kinds)
        if self.rules.pii == "mask":
            text, kinds = pii.masked(text)
            self.kinds.update(kinds)
        self.suspicious = self.suspicious or is_suspicious(text)
        return text

    def value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value, the names in it included. A number may be a card's, and a name may say what its value is."""
        if depth > DEEPEST:
            raise InvalidInput(f"value is nested more than {DEEPEST} levels deep")
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(each, depth + 1) for each in value]
        if isinstance(value, Mapping):
            return {
                self.text(name) if isinstance(name, str) else name: self.told(name, self.value(each, depth + 1))
                for name, each in value.items()
            }
        if isinstance(value, int) and abs(value) >= 10**9:
            text = self.text(str(value))
            return value if text == str(value) else text
        return value

    def told(self, name: object, value: Any) -> Any:
        """What is kept under a name such as `password`, masked by its name alone."""
        if self.rules.secrets == "keep" or not isinstance(name, str) or not secrets.is_secret_name(name):
            return value
        if isinstance(value, bool) or not isinstance(value, str | int) or not secrets.is_told(str(value)):
            return value
        return self._without_secret(secrets.MARKERS["password"], ("password",))

    def named(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A memory whose own key is such a name: its value, and its content where that is a single word."""
        key, content = values.get("key"), values.get("content")
        kept = {"value": self.told(key, values["value"])} if "value" in values else {}
        if isinstance(content, str) and len(content.split()) == 1:
            kept["content"] = self.told(key, content)
        return kept

    def _without_secret(self, masked: str, kinds: tuple[str, ...]) -> str:
        self.secret = self.secret or self.rules.secrets == "refuse"
        self.kinds.update(kinds)
        return masked
