"""From names and texts to values, noting everything that is wrong instead of stopping at the first.

A problem says what was given, what was expected, and what to do. What it shows of a value is what may be shown: nothing of a
secret, and of an address nothing that could be a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from recollect.settings.parsing import SettingsError

PREFIX = "RECOLLECT_"
ALIKE = 0.75
MOST_SHOWN = 80

# Names that people try, and where what they want is said instead.
ELSEWHERE = {
    "HOST": "`recollect serve --host ADDRESS` says where the server listens; RECOLLECT_HOSTS is the names it answers to",
    "PORT": "`recollect serve --port NUMBER` says at which port the server listens",
    "DATABASE_URL": "RECOLLECT_STORE says where memories live",
    "DB": "RECOLLECT_STORE says where memories live",
    "API_KEY": "RECOLLECT_EMBEDDER_KEY and RECOLLECT_CHAT_KEY are the keys of those servers",
}
# Kubernetes tells every pod where the services of its namespace are; one that is called recollect makes names like ours.
_SERVICE = re.compile(r"_SERVICE_(HOST|PORT\w*)$|_PORT_\d+_")
# Whatever stands before the last @: an address that is refused may lack its scheme, and a password hold anything.
_CREDENTIALS = re.compile(r"(?s)^([a-zA-Z][\w+.-]*://)?.*@")
_WORDS = re.compile(
    r"""(?i)\b(\w*(?:pass|password|passwd|pwd|secret|token|key|sig|signature))\s*=\s*(?:'[^']*'?|"[^"]*"?|[^&\s]*)"""
)


@dataclass(frozen=True, slots=True)
class Problem:
    setting: str | None
    """The setting it is about; None where the name is none of ours."""
    wrong: str
    fix: str

    def __str__(self) -> str:
        return f"{self.wrong}; {self.fix}"


Known = Mapping[str, Field[Any]]


def names_of(setting: Field[Any]) -> tuple[str, ...]:
    """The environment variables that set it, the name of record first."""
    return (PREFIX + setting.name.upper(), *setting.metadata["aliases"])


def from_environment(known: Known, env: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
    values: dict[str, Any] = {}
    problems = list(_misspelt(known, env))
    for setting in known.values():
        for name in names_of(setting):
            if env.get(name, "").strip():
                _take(setting, name, env[name].strip(), f"unset it{_default(setting)}", values, problems)
                break
    return values, problems


def from_arguments(known: Known, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """By the names of the settings; None means not given."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            problems.append(Problem(None, f"there is no setting {name!r}", hint))
        elif value is not None:
            _take(known[name], name, value, f"leave it out{_default(known[name])}", values, problems)
    return values, problems


def _take(
    setting: Field[Any], name: str, value: object, otherwise: str, values: dict[str, Any], problems: list[Problem]
) -> None:
    try:
        values[setting.name] = setting.metadata["parse"](value)
    except SettingsError as problem:
        given = "unusable" if setting.metadata["secret"] else shown(value)
        problems.append(Problem(setting.name, f"{name} is {given}: {problem}", f"correct it, or {otherwise}"))


def shown(value: object) -> str:
    if not isinstance(value, str):
        return f"{value!r:.{MOST_SHOWN}}"
    if "-----BEGIN" in value:
        return "PEM text"
    harmless = _WORDS.sub(r"\1=…", _CREDENTIALS.sub(r"\1…@", value))
    return f"{harmless!r:.{MOST_SHOWN}}"


def _default(setting: Field[Any]) -> str:
    default = setting.default
    if default is MISSING or default in (None, "") or isinstance(default, Path) or setting.metadata["secret"]:
        return ""
    return f" for the default, {int(default) if isinstance(default, bool) else default}"


def _misspelt(known: Known, env: Mapping[str, str]) -> Iterator[Problem]:
    """Names so near to one of ours that they can be meant for nothing else: what they say would be passed over in silence."""
    for name in _unknown(known, env):
        near = _nearest(name, known)
        if near:
            yield Problem(None, f"{name} is no setting", f"did you mean {' or '.join(near)}? Rename or unset it")


def remarks(known: Known, env: Mapping[str, str]) -> Iterator[Problem]:
    """What stops nothing and is worth knowing: names nobody reads, and values that stand behind others."""
    for name in _unknown(known, env):
        if not _nearest(name, known):
            hint = ELSEWHERE.get(name.removeprefix(PREFIX), "docs/reference/settings.md lists every setting")
            yield Problem(None, f"{name} is no setting, and nobody reads it", f"unset it; {hint}")
    for setting in known.values():
        said = [name for name in names_of(setting) if env.get(name, "").strip()]
        for name in said[1:]:
            if env[name].strip() != env[said[0]].strip():
                wrong = f"{name} is not used: {said[0]} says otherwise and stands above it"
                yield Problem(setting.name, wrong, f"unset one of the two, {name} or {said[0]}")


def _unknown(known: Known, env: Mapping[str, str]) -> Iterator[str]:
    ours = {name for setting in known.values() for name in names_of(setting)}
    for name, value in sorted(env.items()):
        of_a_service = _SERVICE.search(name) or value.startswith(("tcp://", "udp://"))
        if name.startswith(PREFIX) and name not in ours and value.strip() and not of_a_service:
            yield name


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    plain = name.removeprefix(PREFIX)
    if plain in ELSEWHERE:
        return []
    ours = [each.upper() for each in known]
    near = get_close_matches(plain, ours, n=2, cutoff=ALIKE) or [each for each in ours if sorted(each) == sorted(plain)]
    return [PREFIX + each for each in near]
