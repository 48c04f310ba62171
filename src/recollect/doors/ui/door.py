"""/ : the page and its files, with a policy that lets nothing foreign run.

The page is a client of the public API like any other: nothing here knows anything that is remembered. Its files are plain modules
that a browser loads as they are, so there is nothing to build, and nothing comes from another host.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
FIRST = "page.html"


@dataclass(frozen=True, slots=True)
class File:
    packed: bytes
    plain: bytes
    kind: str
    mark: str


@cache
def _files() -> dict[str, File]:
    """Every file of the page by its path, read once."""
    return {path: _file(path, each.read_bytes()) for path, each in _walk(files("recollect.doors.ui") / "static")}


def _walk(folder: Traversable, path: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for each in folder.iterdir():
        here = f"{path}{each.name}"
        if each.is_dir():
            found += _walk(each, f"{here}/")
        elif each.name.rpartition(".")[2] in KINDS:
            found.append((here, each))
    return found


def _file(path: str, content: bytes) -> File:
    kind = f"{KINDS[path.rpartition('.')[2]]}; charset=utf-8"
    return File(gzip.compress(content, mtime=0), content, kind, f'"{blake2b(content, digest_size=12).hexdigest()}"')


def _answer(file: File, request: Request) -> Response:
    headers = {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
        "ETag": file.mark,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == file.mark:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.plain, media_type=file.kind, headers=headers)


async def sent(request: Request) -> Response:
    return _answer(_files()[request.url.path.removeprefix("/") or FIRST], request)


# One route for each file: what is open to everyone is named, and nothing else is.
for path in _files():
    router.add_api_route("/" if path == FIRST else f"/{path}", sent, methods=["GET", "HEAD"])
