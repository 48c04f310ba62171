"""From settings to those who work for the data chat: who answers, who knows permissions, where the past is put away, who watches.

Loaded only where one of them is configured.
"""

from __future__ import annotations

from pathlib import Path

from recollect.engine.datachat.rules import Desk
from recollect.errors import Unsupported
from recollect.ports import Answerer, Chat, Permissions
from recollect.providers.archives import open_archive
from recollect.providers.permissions import ClaimPermissions, DenodoPermissions, FilePermissions
from recollect.providers.tracing import LangfuseTracer
from recollect.settings import Settings, SettingsError

try:
    from recollect.providers.answerers import AnswererConfig, choose, sample_database
except ImportError as problem:  # an extra of its own: without it nobody reads SQL
    AnswererConfig = None  # type: ignore[assignment,misc]
    MISSING: str | None = problem.name
else:
    MISSING = None

SAMPLE = "sample"


def opened(settings: Settings, chat: Chat | None) -> Desk:
    return Desk(
        answerer=open_answerer(settings, chat),
        permissions=open_permissions(settings),
        archive=open_archive(settings.archive_url),
        tracer=_tracer(settings),
    )


def open_answerer(settings: Settings, chat: Chat | None) -> Answerer | None:
    """Who answers questions over data; None where no data is named."""
    if settings.answerer == "off" or not (settings.data_url or settings.denodo_url or settings.answerer != "auto"):
        return None
    if AnswererConfig is None:
        raise Unsupported(f"answers over data need the package {MISSING!r}: install recollect[data]")
    url = sample_database(settings.data_dir) if settings.data_url == SAMPLE else settings.data_url
    return choose(
        AnswererConfig(
            kind=settings.answerer,
            data_url=url,
            tables=_listed(settings.data_tables),
            rows=settings.data_rows,
            timeout_s=settings.data_timeout_s,
            denodo_url=settings.denodo_url,
            denodo_verify=settings.denodo_verify,
            denodo_timeout_s=settings.denodo_timeout_s,
            chat=chat,
        )
    )


def open_permissions(settings: Settings) -> Permissions | None:
    """Who says what somebody may use; None: everybody may use whatever the answerer reaches."""
    match settings.data_permissions:
        case "claims":
            return ClaimPermissions(settings.databases_claim, settings.tables_claim)
        case "file":
            if not settings.permissions_file:
                raise SettingsError(
                    "permissions from a file need RECOLLECT_PERMISSIONS_FILE, the path of a JSON or TOML file"
                )
            file = Path(settings.permissions_file).expanduser()
            return FilePermissions(file, settings.jwt_role_claim, settings.tenant)
        case "denodo":
            return DenodoPermissions(
                settings.denodo_catalog_url,
                _listed(settings.denodo_databases),
                server_id=settings.denodo_server_id,
                verify=settings.denodo_verify,
                timeout_s=settings.data_timeout_s,
            )
        case "off":
            return None


def _tracer(settings: Settings) -> LangfuseTracer | None:
    if not settings.langfuse_host:
        return None
    keys = settings.langfuse_public_key, settings.langfuse_secret_key
    return LangfuseTracer(settings.langfuse_host, *keys, content=settings.trace_content)


def _listed(names: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in names.split(","))))
