"""Themes come with the first memory that carries them and go with the last: their names are the user's words too."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from recollect.model import Theme
from recollect.ports import Tx


def open_theme(tx: Tx, slug: str, at: datetime) -> None:
    name = slug.replace("-", " ").title()
    tx.space.open_theme(Theme(slug=slug, display_name=name, created_at=at, updated_at=at))


def drop_empty_themes(tx: Tx, slugs: Collection[str]) -> None:
    if slugs:
        for theme in tx.space.themes():
            if theme.slug in slugs and not theme.count:
                tx.space.drop_theme(theme.slug)


def retheme(tx: Tx, before: str | None, after: str | None, at: datetime) -> None:
    """A memory has moved from one theme to another."""
    if after is not None:
        open_theme(tx, after, at)
    if before is not None:
        drop_empty_themes(tx, [before])
