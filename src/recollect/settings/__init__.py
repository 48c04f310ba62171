"""Every setting, read from the environment in this one place.

`RECOLLECT_<NAME>` is the name of record; the names the five contracts gave their settings are accepted as aliases. A value that
doesn't parse is refused with the variable's name, what was given and what was expected, and so is a name that can only be a slip
of the pen for one of ours: nothing is quietly defaulted. Each group of settings has a file of its own beside this one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from recollect.settings import reading
from recollect.settings.conversing import Conversing
from recollect.settings.datachat import DataChat
from recollect.settings.finding import Finding
from recollect.settings.parsing import SettingsError
from recollect.settings.reading import PREFIX, Problem
from recollect.settings.serving import Serving
from recollect.settings.storing import Storing
from recollect.settings.working import Working

__all__ = ["PREFIX", "Problem", "Reading", "Settings", "SettingsError", "announce", "names_of"]

OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_HOST = "api.openai.com"


class Reading(NamedTuple):
    """What the settings say and what is wrong with them. Where one is wrong, its default stands in."""

    settings: Settings
    problems: list[Problem]
    remarks: list[Problem]


@dataclass(frozen=True, kw_only=True)
class Settings(Working, Serving, DataChat, Conversing, Finding, Storing):
    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """From the environment, then `overrides` (by the names of the fields; None means not given)."""
        settings, problems, _ = cls.read(environment, **overrides)
        if problems:
            raise SettingsError("; also: ".join(map(str, problems)))
        return settings

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Reading:
        """The same, going on where something is wrong: for whoever wants to know everything that is."""
        env = os.environ if environment is None else environment
        known = {each.name: each for each in fields(cls)}
        said, problems = reading.from_environment(known, env)
        given, more = reading.from_arguments(known, overrides)
        # What is given by name stands above the environment, right or wrong.
        problems = [each for each in problems if each.setting not in given] + more
        settings = cls(**said | given)
        if not settings.embedder_key and settings.asks_openai_alone and env.get(OPENAI_KEY, "").strip():
            settings = replace(settings, embedder_key=env[OPENAI_KEY].strip())
        return Reading(settings, problems, list(reading.remarks(known, env)))

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
    return reading.names_of(found)
