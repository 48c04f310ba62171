"""/ : the page and its files, with a policy that lets nothing foreign run."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response

router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
FILES = {"page.html": "text/html", "page.js": "text/javascript", "page.css": "text/css"}


def _file(name: str) -> Response:
    content = (files("recollect.doors.ui") / "static" / name).read_bytes()
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
    return Response(content, media_type=f"{FILES[name]}; charset=utf-8", headers=headers)


@router.get("/")
async def page() -> Response:
    return _file("page.html")


@router.get("/page.js")
async def script() -> Response:
    return _file("page.js")


@router.get("/page.css")
async def style() -> Response:
    return _file("page.css")
