"""Those who answer questions over data: a Denodo server, a model that writes SQL, or rules that adapt the SQL before.

`choose` takes the one the configuration means. They need the package's `data` extra.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from recollect.errors import InvalidInput
from recollect.ports import Answerer, Chat
from recollect.providers.answerers.database import Database
from recollect.providers.answerers.denodo import DenodoAnswerer
from recollect.providers.answerers.modelled import SqlAnswerer
from recollect.providers.answerers.ruled import RuleAnswerer
from recollect.providers.answerers.sample import sample_database

__all__ = ["AnswererConfig", "DenodoAnswerer", "RuleAnswerer", "SqlAnswerer", "choose", "sample_database"]

AnswererKind = Literal["auto", "sql", "denodo", "rules", "off"]


@dataclass(frozen=True, kw_only=True)
class AnswererConfig:
    kind: AnswererKind = "auto"
    data_url: str = field(default="", repr=False)
    tables: tuple[str, ...] = ()
    """The tables that may be asked about; none: those of the schema that unqualified names mean."""
    rows: int = 100
    timeout_s: float = 10.0
    denodo_url: str = field(default="", repr=False)
    denodo_verify: bool = True
    denodo_timeout_s: float = 120.0
    chat: Chat | None = None


def choose(config: AnswererConfig) -> Answerer | None:
    """The answerer that is meant; None when no source of data is configured. Nothing is connected to yet."""
    kind = _kind(config)
    if kind == "off":
        return None
    if kind == "denodo":
        _required(config.denodo_url, "denodo", "RECOLLECT_DENODO_URL")
        return DenodoAnswerer(config.denodo_url, timeout_s=config.denodo_timeout_s, verify=config.denodo_verify)
    _required(config.data_url, kind, "RECOLLECT_DATA_URL")
    if kind == "sql" and config.chat is None:
        raise InvalidInput("RECOLLECT_ANSWERER=sql needs a chat model: set RECOLLECT_CHAT_URL, or choose `rules`")
    database = Database(config.data_url, config.tables, config.rows, config.timeout_s)
    return SqlAnswerer(database, config.chat) if kind == "sql" and config.chat is not None else RuleAnswerer(database)


def _kind(config: AnswererConfig) -> AnswererKind:
    if config.kind != "auto":
        return config.kind
    if config.denodo_url:
        return "denodo"
    if not config.data_url:
        return "off"
    return "sql" if config.chat is not None else "rules"


def _required(value: str, kind: str, name: str) -> None:
    if not value:
        raise InvalidInput(f"RECOLLECT_ANSWERER={kind} needs {name}")
