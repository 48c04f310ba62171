"""Every setting, read from the environment in this one place.

`RECOLLECT_<NAME>` is the name of record; the names the five contracts gave their settings are accepted as aliases. A value that
doesn't parse is refused with the variable's name, what was given and what was expected: nothing is quietly defaulted. Each group
of settings has a file of its own beside this one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from recollect.settings.conversing import Conversing
from recollect.settings.datachat import DataChat
from recollect.settings.finding import Finding
from recollect.settings.parsing import SettingsError
from recollect.settings.serving import Serving
from recollect.settings.storing import Storing
from recollect.settings.working import Working

__all__ = ["PREFIX", "Settings", "SettingsError", "announce", "names_of"]

PREFIX = "RECOLLECT_"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"


@dataclass(frozen=True, kw_only=True)
class Settings(Working, Serving, DataChat, Conversing, Finding, Storing):
    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """From the environment, then `overrides` (by the names of the fields; None means not given)."""
        env = os.environ if environment is None else environment
        known = {each.name: each.metadata for each in fields(cls)}
        values: dict[str, Any] = {}
        for setting, about in known.items():
            for name in names_of(setting):
                if env.get(name, "").strip():
                    values[setting] = _parsed(name, env[name].strip(), about)
                    break
        for setting, value in overrides.items():
            if setting not in known:
                raise SettingsError(f"there is no setting {setting!r}; {_nearest(setting, known)}")
            if value is not None:
                values[setting] = _parsed(setting, value, known[setting])
        settings = cls(**values)
        if not settings.embedder_key and settings.asks_openai_alone and env.get(OPENAI_KEY, "").strip():
            return replace(settings, embedder_key=env[OPENAI_KEY].strip())
        return settings

    @property
    def asks_openai_alone(self) -> bool:
        """Whether OpenAI's own service is the only embedding server these settings lead to.

        The key that most developers have in their environment is for that service. It is shown to no other, and so it isn't
        taken up at all where a second server could be asked with the same settings.
        """
        if self.llamacpp_url:
            return False
        if not self.embedder_url:
            return self.embedder == "openai"
        return self.embedder in {"openai", "auto"} and _is_openais(self.embedder_url)


def announce(name: str, value: str) -> None:
    """Tell a library that only listens to the environment, and the processes started from here."""
    os.environ[name] = value


def _is_openais(url: str) -> bool:
    try:
        address = urlsplit(url)
        return (address.scheme, address.hostname, address.port or 443) == ("https", OPENAI_HOST, 443)
    except ValueError:
        return False


def names_of(setting: str) -> tuple[str, ...]:
    """The environment variables that set it, the name of record first."""
    (found,) = (each for each in fields(Settings) if each.name == setting)
    return (PREFIX + setting.upper(), *found.metadata["aliases"])


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"


def _parsed(name: str, value: object, about: Mapping[Any, Any]) -> Any:
    try:
        return about["parse"](value)
    except SettingsError as problem:
        given = "unusable" if about["secret"] else f"{value!r:.80}"
        raise SettingsError(f"{name} is {given}: {problem}") from None
