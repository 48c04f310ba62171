"""A space in a few plain sentences, put together from counts, names and quotations. No model writes it, so it can't say what
isn't so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.model import Memory, Scope, SpaceSettings, Theme

NAMED = 5
QUOTED = 3
SHOWN_CHARS = 80

_TYPES: Mapping[str, tuple[str, str]] = {
    "fact": ("fact", "facts"),
    "preference": ("preference", "preferences"),
    "decision": ("decision", "decisions"),
    "note": ("note", "notes"),
    "pattern": ("pattern", "patterns"),
    "instruction": ("instruction", "instructions"),
    "summary": ("summary", "summaries"),
    "other": ("other memory", "other memories"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a summary is made from. `newest` is a sample; the counts are of everything."""

    scope: Scope
    settings: SpaceSettings
    total: int
    pinned_count: int
    saved_count: int
    archived_count: int
    themes: Sequence[Theme]
    newest: Sequence[Memory]
    pinned: Sequence[Memory]

    @property
    def tags(self) -> list[tuple[str, int]]:
        return Counter(tag for memory in self.newest for tag in memory.tags).most_common(NAMED)


def told(survey: Survey) -> str:
    """The summary a person reads."""
    sentences = [_size(survey), _kept(survey), _topics(survey), _pins(survey), _latest(survey)]
    if not survey.settings.memory_enabled:
        sentences.insert(0, "Memory is switched off here: nothing new is remembered and nothing is recalled.")
    return " ".join(filter(None, sentences))


def _size(survey: Survey) -> str:
    if not survey.total:
        return f"Nothing is remembered in {survey.scope.space}."
    count = "1 memory" if survey.total == 1 else f"{survey.total:,} memories"
    kinds = Counter(memory.type.value for memory in survey.newest).most_common()
    # A sample says nothing exact about the whole.
    known = len(survey.newest) == survey.total
    detail = f": {_listed([_number(n, *_TYPES[kind]) for kind, n in kinds])}" if known else ""
    return f"{count} in {survey.scope.space}{detail}, last added to on {_day(survey.newest[0].created_at)}."


def _kept(survey: Survey) -> str:
    facts = [
        f"{_number(count, 'is', 'are')} {what}"
        for count, what in (
            (survey.pinned_count, "pinned"),
            (survey.saved_count, "saved by hand"),
            (survey.archived_count, "archived"),
        )
        if count
    ]
    return f"{_listed(facts)}." if facts else ""


def _topics(survey: Survey) -> str:
    themes = [(theme.display_name, theme.count) for theme in survey.themes[:NAMED]]
    named = themes or survey.tags
    return f"Mostly about {_listed([f'{name} ({count:,})' for name, count in named])}." if named else ""


def _pins(survey: Survey) -> str:
    shown = [f"“{_short(memory.content)}”" for memory in survey.pinned[:NAMED]]
    more = survey.pinned_count - len(shown)
    return f"Pinned: {'; '.join(shown)}{f' and {more:,} more' if more > 0 else ''}." if shown else ""


def _latest(survey: Survey) -> str:
    """What it is all about, in its own words. Pinned ones are told already."""
    shown = [f"“{_short(memory.content)}”" for memory in survey.newest if not memory.pinned][:QUOTED]
    return f"Newest: {'; '.join(shown)}." if shown else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1].rstrip() + "…"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"
