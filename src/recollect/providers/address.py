"""Addresses of other servers, checked once, where they are first read."""

from __future__ import annotations

import ipaddress

import httpx

from recollect.errors import InvalidInput


def full_address(url: str, called: str, example: str = "") -> httpx.URL:
    """The address, or a refusal that names what it was `called` and says nothing of what it holds."""
    try:
        address = httpx.URL(url.strip())
    except httpx.InvalidURL:
        address = httpx.URL("")
    if address.scheme not in {"http", "https"} or not address.host:
        such = f", such as {example}" if example else ""
        raise InvalidInput(f"{called} must be a full http:// or https:// address{such}")
    return address


def shown(address: httpx.URL) -> str:
    """Host and port alone: the rest of an address may hold credentials and never appears in a message."""
    return f"{address.host}:{address.port}" if address.port else address.host


def on_this_machine(address: httpx.URL) -> bool:
    """Whether the server is on this machine, where a proxy from the environment would only be in the way."""
    if address.host == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return False
