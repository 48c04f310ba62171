"""What is kept where, for how long, and what is kept out of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recollect.settings.addresses import person, postgres
from recollect.settings.parsing import folder, one_of, setting, store_address, switch, text, whole

WriteMode = Literal["read_only", "explicit", "automatic"]
Synchronous = Literal["full", "normal"]
Secrets = Literal["mask", "refuse", "keep"]
PersonalData = Literal["keep", "mask"]


@dataclass(frozen=True, kw_only=True)
class Storing:
    store: str = setting(
        "",
        store_address,
        "Where memories live: a SQLite path or sqlite:// URL, a postgresql:// URL, or `postgres` for a local server "
        "of our own. Empty: `recollect.db` in the data folder.",
        "MEMORY_DB_CONNECTION_STRING",
    )
    data_dir: Path = setting(Path("~/.recollect").expanduser(), folder, "The folder for databases and models.")
    migrate_url: str = setting(
        "", postgres, "Postgres only: the owner's URL, used for migrations and nothing else.", secret=True
    )
    tenant: str = setting("default", person, "The tenant of the library and the command line.")
    user: str = setting("local", person, "The user of the library and the command line.")
    space: str = setting("default", person, "The space of the library and the command line.")
    write_mode: WriteMode = setting(
        "automatic",
        one_of(WriteMode),
        "`read_only` refuses every memory write, `explicit` takes only what is asked to be saved, `automatic` all.",
    )
    max_content_bytes: int = setting(
        1024 * 1024, whole(1024, 16 * 1024 * 1024), "The largest text of one memory or message."
    )
    tombstone_hours: int = setting(
        24, whole(0, 24 * 365), "How long something forgotten is refused when it tries to come back."
    )
    secrets: Secrets = setting(
        "mask",
        one_of(Secrets),
        "What becomes of passwords, keys and card numbers in a text: `mask`, `refuse`, `keep`.",
    )
    pii: PersonalData = setting(
        "keep", one_of(PersonalData), "What becomes of addresses, phone numbers and the like: `keep` or `mask`."
    )
    audit_reads: bool = setting(
        True,
        switch,
        "Whether looking and searching are written to the audit trail, too.",
        "MEMORY_LOG_MEMORY_OPERATIONS",
    )
    pepper: str = setting("", text, "A secret mixed into digests of forgotten text.", secret=True)
    eviction_threshold: int = setting(
        0,
        whole(0, 1_000_000_000),
        "Beyond this many memories in a space the least sure are archived. 0: never.",
        "MEMORY_EVICTION_THRESHOLD",
    )
    archive_days: int = setting(
        180, whole(0, 36_500), "How long archived memories are kept before they are removed for good. 0: for ever."
    )
    retention_days: int = setting(
        7, whole(0, 36_500), "How long conversations of the data chat are kept. 0: for ever.", "MEMORY_RETENTION_DAYS"
    )
    cleanup_hours: int = setting(
        24, whole(0, 8760), "How often everybody's memory is tidied up. 0: never.", "MEMORY_CLEANUP_INTERVAL_HOURS"
    )
    scrub_at_once_mb: int = setting(
        16,
        whole(0, 1_000_000),
        "Postgres only: tables up to this size, together, are written anew while whoever forgot something waits, and with them "
        "everybody else. Larger ones are cleaned by a worker, beside the work.",
    )
    scrub_after_minutes: int = setting(
        10,
        whole(1, 100_000),
        "Postgres only: how long what is forgotten is gathered before a worker cleans large tables for all of it.",
    )
    read_url: str = setting(
        "",
        postgres,
        "Postgres only: a streaming replica's URL. Reads go there as far as it has seen what this process has.",
        secret=True,
    )
    pool_size: int = setting(10, whole(1, 500), "Postgres connections.", "MEMORY_DB_POOL_SIZE")
    max_overflow: int = setting(
        0, whole(0, 500), "Postgres connections beyond those, for as long as they are needed.", "MEMORY_DB_MAX_OVERFLOW"
    )
    prepare: bool = setting(
        True,
        switch,
        "Postgres only: whether statements are prepared. 0 behind a pooler that hands out connections per transaction.",
    )
    statement_timeout_ms: int = setting(10_000, whole(10, 3_600_000), "The longest a Postgres statement may run.")
    sqlite_synchronous: Synchronous = setting(
        "full",
        one_of(Synchronous),
        "`full`: an acknowledged write survives a power cut. `normal`: it survives a crash of the process.",
    )
