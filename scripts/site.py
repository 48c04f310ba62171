"""What the site needs beyond docs/: the first page, the doors' own pages and the changelog, each read where it lies.

A link is written as it works in the repository, where everything has its place. Here it is led to the page that the file has
become; where the file is no page (an example, the licence) its name remains. Links to nothing are left for MkDocs to warn of.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from pathlib import Path

import rjieba
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
FENCED = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:|#|/")
CHINESE = re.compile(r"[\u3400-\u9fff]+")
GAP = "\u200b"


def brought() -> dict[str, str]:
    """The files outside of docs/ that belong to the site, by their place in the repository: what each is called here."""
    pages = {"README.md": "index.md", "src/recollect/doors/ui/static/icon.svg": "img/icon.svg"}
    pages |= {page.name: page.name.lower() for page in sorted(ROOT.glob("*.md")) if page.name not in pages}
    doors = sorted(ROOT.glob("src/recollect/doors/*/README.md"))
    return pages | {page.relative_to(ROOT).as_posix(): f"doors/{page.parent.name}.md" for page in doors}


BROUGHT = brought()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for there, here in BROUGHT.items():
        if files.get_file_from_path(here) is None:
            files.append(File.generated(config, here, abs_src_path=str(ROOT / there)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = page.file.src_uri
    there = Path(os.path.relpath(page.file.abs_src_path or here, ROOT)).as_posix()
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else relinked(part, there, here) for part in parts)


def relinked(markdown: str, there: str, here: str) -> str:
    """The text with its links as they work from the page `here`, which lies in the repository as `there`."""

    def led(link: re.Match[str]) -> str:
        picture, label, target = link.groups()
        if ELSEWHERE.match(target):
            return link[0]
        path, mark, anchor = target.partition("#")
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(there), path))
        page = BROUGHT.get(meant) or (meant.removeprefix("docs/") if meant.startswith("docs/") else None)
        if page is None:
            return str(label) if (ROOT / meant).exists() else link[0]
        return f"{picture}[{label}]({posixpath.relpath(page, posixpath.dirname(here) or '.')}{mark}{anchor})"

    return LINK.sub(led, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Chinese has no spaces: the index gets gaps between words, by the same dictionary that our own search uses."""
    index = Path(config.site_dir, "search", "search_index.json")
    found = json.loads(index.read_text())
    for entry in found["docs"]:
        entry |= {field: segmented(entry[field]) for field in ("title", "text")}
    index.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")))


def segmented(text: str) -> str:
    return CHINESE.sub(lambda run: GAP + GAP.join(rjieba.cut(run[0])) + GAP, text)
