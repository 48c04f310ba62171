"""Writes every page of docs/reference."""

from __future__ import annotations

from scripts.reference.pages import FOLDER, PAGES

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, about in PAGES.items():
        (FOLDER / f"{name}.md").write_text(about.page())
