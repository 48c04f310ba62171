"""Settings that name a place or a person: addresses, hosts, headers, ids. What can be seen to be wrong by reading it is refused
here, by the setting's own name, and not by whoever would be asked there much later.

Empty text is always fine: it means that nobody is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_network
from urllib.parse import urlsplit

from recollect.settings.parsing import SettingsError, text

LONGEST_NAME = 255
SAMPLE = "sample"
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{1,60}[a-z0-9]")


def address(example: str, *schemes: str) -> Callable[[object], str]:
    """An address of one of these schemes, with a host."""

    def parse(value: object) -> str:
        given = text(value).strip()
        if given and not _leads_somewhere(given, schemes):
            named = " or ".join(f"{scheme}://" for scheme in schemes)
            raise SettingsError(f"expected a full address that begins with {named}, such as {example}")
        return given

    return parse


def _leads_somewhere(given: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(given)
        _ = parts.port  # reading it is what finds one that is no number
    except ValueError:
        return False
    if parts.scheme not in schemes or any(each.isspace() for each in given):
        return False
    return bool(parts.hostname or parts.scheme == "unix")


web = address("http://127.0.0.1:8080/v1", "http", "https")
redis = address("redis://127.0.0.1:6379/0", "redis", "rediss", "unix")


def postgres(value: object) -> str:
    """Named with a driver, as SQLAlchemy writes it, it is the same address without: there is one driver here, which knows no such
    names and would repeat all of it, password included."""
    given = text(value).strip()
    scheme, found, rest = given.partition("://")
    if given and not (found and rest and re.fullmatch(r"postgres(ql)?(\+\w+)?", scheme)):
        raise SettingsError("expected a Postgres address, such as postgresql://owner@127.0.0.1:5432/recollect")
    return f"postgresql://{rest}" if "+" in scheme else given


def data_address(value: object) -> str:
    given = text(value).strip()
    if given and given != SAMPLE and not re.match(r"[a-z][a-z0-9+_]*://", given):
        raise SettingsError(f"expected a database's address, such as sqlite:///sales.db, or the word {SAMPLE}")
    return given


def person(value: object) -> str:
    """The name of a tenant, user or space. A blank one is left to whoever is asked for a memory: it is refused there."""
    given = text(value)
    if len(given) > LONGEST_NAME or any(ord(each) < 32 or ord(each) == 127 for each in given):
        raise SettingsError(f"expected a name of 1 to {LONGEST_NAME} printable characters")
    return given


def header(value: object) -> str:
    given = text(value).strip()
    if given and not _TOKEN.fullmatch(given):
        raise SettingsError("expected the name of a header, such as X-User-ID")
    return given


def collection(value: object) -> str:
    given = text(value).strip()
    if not _COLLECTION.fullmatch(given):
        raise SettingsError("expected 3 to 62 small letters, digits, - and _, letters or digits first and last")
    return given


def host(value: object) -> str:
    """One name or address to listen at; neither a URL nor a port."""
    given = text(value).strip()
    if not given or _is_no_host(given):
        raise SettingsError("expected a host's name or address alone, such as 127.0.0.1")
    return given


def hosts(value: object) -> str:
    given = text(value)
    for each in filter(None, (part.strip() for part in given.split(","))):
        if _is_no_host(each):
            raise SettingsError("expected hosts' names alone, with commas between, such as memory.example.org")
    return given


def _is_no_host(given: str) -> bool:
    return "/" in given or any(each.isspace() for each in given)


def networks(value: object) -> str:
    given = text(value)
    for each in filter(None, (part.strip() for part in given.split(","))):
        try:
            everybody = ip_network(each, strict=False).prefixlen == 0
        except ValueError:
            everybody = True
        if everybody:
            raise SettingsError(
                "expected addresses or networks of proxies, such as 10.0.0.7, fd00::/64, never everybody's"
            )
    return given
